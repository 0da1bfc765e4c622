import type { MailboxMatchers } from '../../control/assertions/expectations.ts';
import { matchers } from '../../control/assertions/matchers.ts';

export type * from '../../control/assertions/expectations.ts';
export type { MatcherContext, MatcherResult } from '../../control/assertions/matcher-context.ts';
export { matchers };

/** The property in which vitest keeps its `expect`, even if `expect` is not a global variable. */
const VITEST_EXPECT = Symbol.for('expect-global');

interface Globals {
  readonly expect?: { extend?(added: typeof matchers): void };
  readonly [VITEST_EXPECT]?: Globals['expect'];
  /** Returns the `expect` of Bun, which is global only in test files. The argument can be any absolute path. */
  readonly Bun?: { jest?(file: string): Pick<Globals, 'expect'> };
}

const { expect, [VITEST_EXPECT]: expectOfVitest, Bun }: Globals = globalThis as Globals;
for (const each of new Set([expect, expectOfVitest, Bun?.jest?.('/matchers').expect])) each?.extend?.(matchers);

// Each of these modules exists only in projects that use its test runner. The type parameters are those that all
// versions share.
// biome-ignore lint/suspicious/noTsIgnore: this is an error only in a project without vitest.
// @ts-ignore
declare module 'vitest' {
  interface Matchers extends MailboxMatchers {}
}

// biome-ignore lint/suspicious/noTsIgnore: this is an error only in a project without Jest.
// @ts-ignore
declare module 'expect' {
  interface Matchers<R> extends MailboxMatchers<R> {}
}

declare global {
  namespace jest {
    interface Matchers<R, T> extends MailboxMatchers<R> {}
  }
}
