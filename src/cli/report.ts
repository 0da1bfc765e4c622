import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createHar } from '../journal/har.ts';
import type { AnyServer } from './any-server.ts';
import { explainWriteError } from './write-error.ts';

/** The files of a report, and the function that returns the content of each. */
const FILES: Readonly<Record<string, (mailbox: AnyServer['mailbox']) => unknown>> = {
  'deliveries.json': (mailbox) => ({ deliveries: mailbox.deliveries(), losses: mailbox.losses() }),
  'requests.json': (mailbox) => ({ requests: mailbox.requests() }),
  'requests.har': (mailbox) => createHar(mailbox.requests(), mailbox.baseUrl),
  'state.json': (mailbox) => mailbox.export(),
};

/**
 * Writes what happened in a mailbox into a folder, which is created if necessary. Files of an earlier report are
 * replaced.
 *
 * @throws {CannotRunError} if a file cannot be written.
 */
export async function writeReport(folder: string, mailbox: AnyServer['mailbox']): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, contentOf] of Object.entries(FILES)) {
      await writeFile(join(folder, name), `${JSON.stringify(contentOf(mailbox), null, 2)}\n`);
    }
  } catch (error) {
    throw explainWriteError(error, folder);
  }
}
