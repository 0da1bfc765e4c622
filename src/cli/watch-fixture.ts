import { unwatchFile, watchFile } from 'node:fs';
import { NAME } from '../version.ts';
import type { AnyServer } from './any-server.ts';
import { explainFixtureError } from './explain-fixture-error.ts';
import { readFixture } from './read-fixture.ts';

/** How often the file is looked at. Events of the system get lost for files in containers, and for replaced files. */
const INTERVAL_MS = 200;

/** Loads a fixture file again after each change. Returns a function that ends this. */
export function watchFixture(mailbox: AnyServer['mailbox'], file: string, say: (line: string) => void): () => void {
  const reload = async () => {
    try {
      mailbox.load((await readFixture(file, say)) as Parameters<typeof mailbox.load>[0]);
      say(`${NAME}: Loaded ${file} again.`);
    } catch (error) {
      const { message } = explainFixtureError(error, file) as Error;
      say(`${NAME}: The changed fixture was not loaded, and the state stays as it is. ${message}`);
    }
  };
  const onChange = () => void reload();
  watchFile(file, { interval: INTERVAL_MS }, onChange);
  return () => unwatchFile(file, onChange);
}
