import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createListInParts, toJsonPieces } from '../../basics/json-pieces.ts';
import { NAME } from '../../basics/version.ts';
import { createHar, type Har } from '../../control/journal/har.ts';
import type { RequestEntry } from '../../mailbox/without-msw.ts';
import { readRegularFile } from '../../server/regular-file.ts';
import { replaceFile } from '../../server/replace-file.ts';
import { CannotRunError } from '../command.ts';
import { explainWriteError } from '../files.ts';
import type { OutputOptions } from '../output-file.ts';
import type { AnyServer } from './connection-variables.ts';

/** The file in which the name of this program shows that the folder contains a report. */
const SIGNED_FILE = 'requests.har';

/** The files of a report, and the function that returns the content of each. */
const FILES: Readonly<Record<string, (mailbox: AnyServer['mailbox']) => unknown>> = {
  // This file is written first, so that an unfinished report can also be replaced.
  [SIGNED_FILE]: (mailbox) => createHar(requestsOf(mailbox), mailbox.baseUrl),
  'deliveries.json': (mailbox) => ({ deliveries: mailbox.deliveries(), losses: mailbox.losses() }),
  'requests.json': (mailbox) => ({ requests: requestsOf(mailbox) }),
  'state.json': (mailbox) => mailbox.export(),
};

/**
 * Writes what happened in a mailbox into a folder, which is created if necessary. The files of an earlier report are
 * replaced. Only this user can read the files.
 *
 * @throws {CannotRunError} if a file cannot be written, or as `checkReportFolder`.
 */
export async function writeReport(
  folder: string,
  mailbox: AnyServer['mailbox'],
  options: OutputOptions,
): Promise<void> {
  await checkReportFolder(folder, options);
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, contentOf] of Object.entries(FILES)) {
      await replaceFile(join(folder, name), toJsonPieces(contentOf(mailbox)));
    }
  } catch (error) {
    throw explainWriteError(error, folder);
  }
}

function requestsOf(mailbox: AnyServer['mailbox']): RequestEntry[] {
  return createListInParts(undefined, (limit, _, last) => mailbox.requests({ limit, after: last?.id }));
}

/**
 * Checks that a report would replace only files of an earlier report. @throws {CannotRunError} otherwise.
 */
export async function checkReportFolder(folder: string, { force }: OutputOptions): Promise<void> {
  if (force) return;
  const names = await readdir(folder).catch(() => []);
  const found = names.find((name) => Object.hasOwn(FILES, name));
  if (found === undefined || (await readWriter(join(folder, SIGNED_FILE))) === NAME) return;
  throw new CannotRunError(
    `The folder ${folder} has a file ${found} that ${NAME} did not write as a report; choose another folder for ` +
      '--report, or replace it with --force.',
  );
}

/** Returns the name of the program that wrote a HAR file, if it can be read. */
async function readWriter(file: string): Promise<string | undefined> {
  try {
    return (JSON.parse(String(await readRegularFile(file))) as Partial<Har>).log?.creator.name;
  } catch {
    return undefined;
  }
}
