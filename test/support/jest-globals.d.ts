// What the example for Jest imports: Jest is installed only by `npm run test:all -- compat`, its `expect` here too.
declare module '@jest/globals' {
  export { expect } from 'expect';

  type Run = () => unknown;
  export function test(name: string, run: Run): void;
  export function beforeEach(run: Run): void;
  export function afterEach(run: Run): void;
}
