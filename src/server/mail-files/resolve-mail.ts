import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { showJsonPath } from '../../contract/json-path.ts';
import { FixtureError } from '../../fixture/fixture-error.ts';
import { fileProblem } from '../file-problem.ts';
import { hasMailFiles, isMailFile, listInboxes, messagesOf } from './fixture-inboxes.ts';
import { splitMbox } from './split-mbox.ts';
import { toFixtureMessage } from './to-fixture-message.ts';

/**
 * Replaces each message `{ "eml": "path" }` of a fixture by the mails in that file, with the other fields that the author
 * wrote. Paths are relative to a folder. A fixture without such messages is returned unchanged.
 *
 * @throws {FixtureError} if a file cannot be read, or has a mail that cannot be parsed.
 */
export async function resolveMail<Fixture>(fixture: Fixture, folder: string): Promise<Fixture> {
  if (!hasMailFiles(fixture)) return fixture;
  const copy = structuredClone(fixture);
  for (const { path, inbox } of listInboxes(copy)) {
    const read = messagesOf(inbox).map((message, index) =>
      isMailFile(message) ? readMessages(message, folder, [...path, 'messages', index]) : [message],
    );
    if (read.length > 0) inbox.messages = (await Promise.all(read)).flat();
  }
  return copy;
}

async function readMessages({ eml, ...fields }: { readonly eml: string }, folder: string, path: PropertyKey[]) {
  const file = resolve(folder, eml);
  try {
    const mails = splitMbox(await readFile(file));
    const parsed = await Promise.all(mails.map(toFixtureMessage));
    return parsed.map(({ message }) => ({ ...message, ...fields }));
  } catch (error) {
    const message = `must be the path of a mail or of an mbox: ${fileProblem(error, `there is no file ${file}`)}`;
    throw new FixtureError([{ path: showJsonPath([...path, 'eml']), message }]);
  }
}
