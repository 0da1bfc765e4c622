import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { messageOf } from '../../basics/named-error.ts';
import { toBareAddress, withoutTag } from '../../contract/email-address.ts';
import { isObject, type JsonObject } from '../../fixture/fixture-part.ts';
import { completeFixture } from '../../fixture/schema.ts';
import { type FileMail, listInboxes, messagesOf, splitMbox, toFixtureMessage } from '../../server/mail-files.ts';
import { CannotRunError, quote } from '../command.ts';
import { readNamedFile } from '../files.ts';

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
function addressesOf({ username, domain, addresses }: JsonObject): Set<unknown> {
  const further = Array.isArray(addresses) ? addresses.map((part) => isObject(part) && part.address) : [];
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

/**
 * Finds the files that a glob names, in order of their names: `*` and `?` stay within a folder, `**` does not, and
 * `{a,b}` is one of several. A folder stands for the .eml and mbox files in it and below, and a Maildir for its mails.
 */
export async function findFiles(glob: string): Promise<string[]> {
  const kind = await stat(glob).catch(() => undefined);
  if (kind?.isDirectory()) {
    const files = await findFiles(join(glob, '**', '*'));
    return files.filter((file) => MAIL_FILE.test(resolve(file).split(sep).join('/')));
  }
  if (kind) return [glob];
  const pattern = glob.split(sep).join('/');
  const folder = dirname(`${pattern.split(/[*?{]/, 1)[0]}x`);
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const expression = toExpression(folder === '.' ? pattern.replace(/^\.\//, '') : pattern);
  return files.filter((file) => expression.test(file.split(sep).join('/'))).sort();
}

/** A mail file, by its ending or in a Maildir, where its name begins with the time of its delivery. */
const MAIL_FILE = /\.(?:eml|mbox)$|\/(?:cur|new)\/\d[^/]*$/;

const SIGNS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

function toExpression(pattern: string): RegExp {
  const source = pattern.replace(/\{[^{}]*\}|\*\*\/|\*\*|[*?]|[\\^$.|+()[\]{}]/g, (sign) => {
    if (sign.length > 1 && sign.startsWith('{')) return `(?:${sign.slice(1, -1).split(',').map(escapeText).join('|')})`;
    return SIGNS[sign] ?? escapeText(sign);
  });
  return new RegExp(`^${source}$`);
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.|+()[\]{}*?]/g, '\\$&');
}
