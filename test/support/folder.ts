import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'vitest';

/** Creates a folder that is removed at the end of the test. */
export async function makeFolder({ onTestFinished }: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-mailbox-mock-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Writes a fixture file that is removed at the end of the test. */
export async function writeFixture(test: TestContext, content: string): Promise<string> {
  const file = join(await makeFolder(test), 'fixture.json');
  await writeFile(file, content);
  return file;
}
