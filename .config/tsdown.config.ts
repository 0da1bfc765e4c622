import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsdown';

export default defineConfig({
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  entry: {
    index: 'src/index.ts',
    server: 'src/server/index.ts',
    receiver: 'src/receiver/index.ts',
    main: 'src/cli/main.ts',
  },
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  dts: { entry: ['src/index.ts', 'src/server/index.ts', 'src/receiver/index.ts'] },
  fixedExtension: false,
  deps: { skipNodeModulesBundle: true, neverBundle: [/^node:/] },
  // So that the types hold for a user whose `lib` does not know AsyncDisposable.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
});
