import { resolve } from 'node:path';
import { isPart } from '../../fixture/part.ts';
import { fileProblem } from '../file-problem.ts';
import { readRegularFile } from '../regular-file.ts';
import { hasMailFiles, isMailFile, listInboxes, messagesOf } from './fixture-inboxes.ts';
import { splitMbox } from './split-mbox.ts';
import { toFixtureMessage } from './to-fixture-message.ts';

/**
 * Replaces each message `{ "eml": "path" }` of a fixture by the mails in that file, with the other fields that the author
 * wrote. Paths are relative to a folder. A fixture without such messages is returned unchanged. The path of a file that
 * cannot be read, or has a mail that cannot be parsed, is replaced by an error, which the check of the fixture reports.
 */
export async function resolveMail<Fixture>(fixture: Fixture, folder: string): Promise<Fixture> {
  if (!hasMailFiles(fixture)) return fixture;
  const copy = structuredClone(fixture);
  for (const { inbox } of listInboxes(copy)) {
    const messages = messagesOf(inbox);
    if (!messages.some(isMailFile)) continue;
    const read = await Promise.all(
      messages.map((message) => (isMailFile(message) ? readMessages(message, folder) : [message])),
    );
    // After a failure, one message for each entry keeps the positions in the messages of other problems right.
    inbox.messages = read.some(([first]) => isUnread(first)) ? read.map(([first]) => first) : read.flat();
  }
  return copy;
}

function isUnread(message: unknown): boolean {
  return isPart(message) && message.eml instanceof Error;
}

async function readMessages({ eml, ...fields }: { readonly eml: string }, folder: string) {
  try {
    const mails = splitMbox(await readRegularFile(resolve(folder, eml)));
    const parsed = await Promise.all(mails.map(toFixtureMessage));
    return parsed.map(({ message }) => ({ ...message, ...fields }));
  } catch (error) {
    const problem = `${JSON.stringify(eml)} cannot be read: ${fileProblem(error, 'there is no such file')}`;
    return [{ from: '', eml: new Error(`must be the path of a mail or of an mbox: ${problem}`), ...fields }];
  }
}
