import { unwatchFile, watchFile } from 'node:fs';
import { NAME } from '../../basics/version.ts';
import { explainFixtureError } from '../files.ts';
import type { AnyServer } from './connection-variables.ts';

/**
 * The time between two checks of the file. Events of the file system are not used, because they can be lost in
 * containers, and if the file is replaced.
 */
const INTERVAL_MS = 200;

/** A fixture file, and the function that reads it. */
type WatchedFixture = { readonly file: string; read(): Promise<{ readonly fixtures: unknown }> };

/** Loads a fixture file again after each change, until the returned server is closed. */
export function watchFixture(server: AnyServer, { file, read }: WatchedFixture, print: (line: string) => void) {
  const { mailbox } = server;
  const reload = async () => {
    try {
      const { fixtures } = await read();
      mailbox.load(fixtures as Parameters<typeof mailbox.load>[0]);
      print(`${NAME}: Loaded ${file} again.`);
    } catch (error) {
      const { message } = explainFixtureError(error, file) as Error;
      print(`${NAME}: The changed fixture was not loaded, and the state stays as it is. ${message}`);
    }
  };
  const onChange = () => void reload();
  watchFile(file, { interval: INTERVAL_MS }, onChange);
  const close = () => {
    unwatchFile(file, onChange);
    return server.close();
  };
  return { ...server, close, [Symbol.asyncDispose]: close };
}
