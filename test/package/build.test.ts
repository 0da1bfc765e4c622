import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { test } from 'vitest';
import { ROOT } from '../support/root.ts';

const execute = promisify(execFile);

/** Copies what a build reads into a folder that the test may change. */
function copySources(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agent-mailbox-mock-build-'));
  for (const name of ['src', 'fixtures', '.config', 'package.json', 'package-lock.json', 'tsconfig.json']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

function replaceIn(file: string, text: string, by: string): void {
  const before = readFileSync(file, 'utf8');
  if (!before.includes(text)) throw new Error(`${file} does not contain ${text}.`);
  writeFileSync(file, before.replace(text, by));
}

test('npm start serves the page with the last change of what it imports from other folders', async (context) => {
  const folder = copySources();
  context.onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const build = () => execute(process.execPath, ['--import', 'tsx', '.config/build.ts', 'inspector'], { cwd: folder });
  const readScript = () => readFileSync(join(folder, 'dist/inspector/inspector.js'), 'utf8');
  const readSchema = () =>
    brotliDecompressSync(readFileSync(join(folder, 'dist/inspector/scenario.schema.json.br'))).toString();

  await build();
  context.expect(readScript()).toContain('and no error message.');
  replaceIn(join(folder, 'src/control/table/client.ts'), 'and no error message.', 'and no reason.');
  await build();
  context.expect(readScript()).toContain('and no reason.');

  replaceIn(
    join(folder, 'src/evaluate/scenario.ts'),
    "describe('What the scenario shows, for people.')",
    "describe('New text.')",
  );
  await build();
  context.expect(readSchema()).toContain('New text.');
});
