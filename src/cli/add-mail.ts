import { toBareAddress, withoutTag } from '../contract/email-address.ts';
import { messageOf } from '../delivery/delivery.ts';
import { completeFixture } from '../fixture/complete-fixture.ts';
import { isPart, type Part } from '../fixture/part.ts';
import { listInboxes, messagesOf } from '../server/mail-files/fixture-inboxes.ts';
import { splitMbox } from '../server/mail-files/split-mbox.ts';
import { type FileMail, toFixtureMessage } from '../server/mail-files/to-fixture-message.ts';
import { CannotRunError, quote } from './command.ts';
import { findFiles } from './find-files.ts';
import { readNamedFile } from './read-file.ts';

/**
 * Adds the mail of files to a fixture: to each inbox that its header names as a recipient, and to the one that sent it.
 *
 * @throws {CannotRunError} if a glob names no file, a file cannot be read, or a mail belongs to no inbox.
 */
export async function addMail(fixture: unknown, globs: readonly string[]): Promise<unknown> {
  if (globs.length === 0) return fixture;
  const copy = structuredClone(fixture);
  const owners = listInboxes(completeFixture(copy)).map(({ inbox }) => addressesOf(inbox));
  const inboxes = listInboxes(copy).map(({ inbox }, index) => ({ inbox, addresses: owners[index] ?? new Set() }));
  const files = [...new Set((await Promise.all(globs.map(findNamedFiles))).flat())];
  for (const file of files) {
    for (const mail of await readMails(file)) addTo(inboxes, mail, file);
  }
  return copy;
}

interface OwnedInbox {
  readonly inbox: Record<string, unknown>;
  /** The bare addresses of the inbox, in lower case. */
  readonly addresses: ReadonlySet<unknown>;
}

/** Returns the addresses of an inbox that has its defaults. */
function addressesOf({ username, domain, addresses }: Part): Set<unknown> {
  const further = Array.isArray(addresses) ? addresses.map((part) => isPart(part) && part.address) : [];
  return new Set([`${username}@${domain}`, ...further].map((address) => String(address).toLowerCase()));
}

async function findNamedFiles(glob: string): Promise<string[]> {
  const files = await findFiles(glob);
  if (files.length === 0) throw new CannotRunError(`The glob ${quote(glob)} of --mail names no file.`);
  return files;
}

async function readMails(file: string): Promise<FileMail[]> {
  const content = await readNamedFile(file, 'mail file');
  try {
    return await Promise.all(splitMbox(content).map(toFixtureMessage));
  } catch (error) {
    throw new CannotRunError(`The mail file ${file} cannot be read: ${messageOf(error)}.`);
  }
}

function addTo(inboxes: readonly OwnedInbox[], { message, from, recipients }: FileMail, file: string): void {
  const bare = recipients.map(toBareAddress);
  const named = new Set([...bare, ...bare.map(withoutTag)]);
  const places = inboxes.flatMap(({ inbox, addresses }) => [
    ...(addresses.has(toBareAddress(from)) ? [{ inbox, direction: 'outbound' }] : []),
    ...([...addresses].some((address) => named.has(String(address))) ? [{ inbox, direction: 'inbound' }] : []),
  ]);
  if (places.length === 0) {
    const who = recipients.slice(0, 5).join(', ') || 'nobody';
    throw new CannotRunError(
      `The mail file ${file} has a mail to ${who}, and no inbox of the fixture has this address.`,
    );
  }
  for (const { inbox, direction } of places) {
    inbox.messages = [...messagesOf(inbox), { ...message, direction }];
  }
}
