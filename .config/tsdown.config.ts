import { fileURLToPath } from 'node:url';
import { defineConfig } from 'tsdown';

/** A comment behind the member before its own. */
const MISPLACED_COMMENT = /(?<=[;{]) ?(\/\*\*.*?\*\/)\s*/gs;

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
  // The bundler of declarations writes some comments behind the member before, where no editor finds them.
  plugins: {
    name: 'comments-before-members',
    renderChunk: (code, { fileName }) =>
      fileName.endsWith('.d.ts') ? code.replace(MISPLACED_COMMENT, '\n$1\n') : undefined,
  },
  deps: { skipNodeModulesBundle: true, neverBundle: [/^node:/] },
  // So that the types hold for a user whose `lib` does not know AsyncDisposable.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
});
