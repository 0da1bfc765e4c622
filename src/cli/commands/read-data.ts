import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { foldAddress } from '../../basics/domain-name.ts';
import { messageOf } from '../../basics/named-error.ts';
import { isObject, type JsonObject } from '../../basics/objects.ts';
import { toAddressKey, withoutTag } from '../../contract/addresses/email-address.ts';
import { defaultFixture } from '../../fixture/default-fixture.ts';
import { completeFixture } from '../../fixture/schema.ts';
import { type FileMail, listInboxes, messagesOf, splitMbox, toFixtureMessage } from '../../server/mail-files.ts';
import { CannotRunError, quote, type Terminal } from '../command.ts';
import { readNamedFile } from '../files.ts';
import { readFixture } from '../read-fixture.ts';
import type { StartSettings } from './start-settings.ts';

/** With this number of messages or more, the command prints what was loaded, because loading takes a while. */
const MANY_MESSAGES = 1000;

/** Reads the data of an emulator: a fixture file (or the default fixture if no file is given), and the mail files. */
export async function readData(
  { fixtures: file, mail }: Pick<StartSettings, 'fixtures' | 'mail'>,
  print: (line: string) => void,
  showStatus?: Terminal['showStatus'],
): Promise<{ readonly fixtures: unknown; readonly isLarge: boolean }> {
  const fixture = file === undefined ? defaultFixture : await readFixture(file, print);
  const fixtures = await addMail(fixture, mail, createProgress(showStatus));
  const count = listInboxes(fixtures).reduce((sum, { inbox }) => sum + messagesOf(inbox).length, 0);
  const isLarge = count >= MANY_MESSAGES;
  if (isLarge) showStatus?.(`Loading ${formatCount(count)} messages`);
  return { fixtures, isLarge };
}

/** The time before the first status is shown, and the time between two statuses. */
const DELAY_MS = 300;
const INTERVAL_MS = 100;

/** Returns a function that shows how much mail was read, at most once in `INTERVAL_MS`. */
function createProgress(showStatus: Terminal['showStatus']): (read: number, all: number) => void {
  let nextMs = performance.now() + DELAY_MS;
  return (read, all) => {
    if (performance.now() < nextMs) return;
    showStatus?.(`Reading mail: ${formatCount(read)} of ${formatCount(all)}`);
    nextMs = performance.now() + INTERVAL_MS;
  };
}

function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/**
 * Adds the mails in files to a fixture. A mail is added to each inbox that its header names as a recipient, and to the
 * inbox that its header names as the sender. After each mail, `onRead` is called with the number of mails that were
 * read, and with the number of all mails that are known so far.
 *
 * @throws {CannotRunError} if a glob matches no file, a file cannot be read, or a mail belongs to no inbox.
 */
async function addMail(fixture: unknown, globs: readonly string[], onRead: (read: number, all: number) => void) {
  if (globs.length === 0) return fixture;
  const copy = structuredClone(fixture);
  const addressSets = listInboxes(completeFixture(copy)).map(({ inbox }) => addressesOf(inbox));
  const inboxes = listInboxes(copy).map(({ inbox }, index) => ({ inbox, addresses: addressSets[index] ?? new Set() }));
  const files = [...new Set((await Promise.all(globs.map(findNamedFiles))).flat())];
  let [readCount, knownCount] = [0, files.length];
  for await (const { file, content } of readAhead(files)) {
    const mails = splitMbox(content);
    knownCount += mails.length - 1;
    for (const mail of mails) {
      addToInboxes(inboxes, await parseMail(mail, file), file);
      readCount += 1;
      onRead(readCount, knownCount);
    }
  }
  return copy;
}

/** How many files are read at the same time. To read one file after another would take much longer. */
const FILES_AT_ONCE = 16;

async function* readAhead(files: readonly string[]) {
  for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
    const batch = files.slice(start, start + FILES_AT_ONCE);
    yield* await Promise.all(batch.map(async (file) => ({ file, content: await readNamedFile(file, 'mail file') })));
  }
}

/** An inbox of the fixture, to which mails are added. */
interface TargetInbox {
  readonly inbox: Record<string, unknown>;
  /** The bare addresses of the inbox, in the form in which addresses are compared. */
  readonly addresses: ReadonlySet<unknown>;
}

/** Returns the addresses of an inbox of a completed fixture, in the form in which addresses are compared. */
function addressesOf({ username, domain, addresses }: JsonObject): Set<unknown> {
  const otherAddresses = Array.isArray(addresses) ? addresses.map((part) => isObject(part) && part.address) : [];
  return new Set([`${username}@${domain}`, ...otherAddresses].map((address) => foldAddress(String(address))));
}

async function findNamedFiles(glob: string): Promise<string[]> {
  const files = await findFiles(glob);
  if (files.length === 0) throw new CannotRunError(`The glob ${quote(glob)} of --mail names no file.`);
  return files;
}

async function parseMail(content: Buffer, file: string): Promise<FileMail> {
  try {
    return await toFixtureMessage(content);
  } catch (error) {
    throw new CannotRunError(`The mail file ${file} cannot be read: ${messageOf(error)}.`);
  }
}

function addToInboxes(inboxes: readonly TargetInbox[], { message, from, recipients }: FileMail, file: string): void {
  const bareAddresses = recipients.map(toAddressKey);
  const recipientSet = new Set([...bareAddresses, ...bareAddresses.map(withoutTag)]);
  const targets = inboxes.flatMap(({ inbox, addresses }) => [
    ...(addresses.has(toAddressKey(from)) ? [{ inbox, direction: 'outbound' }] : []),
    ...([...addresses].some((address) => recipientSet.has(String(address))) ? [{ inbox, direction: 'inbound' }] : []),
  ]);
  if (targets.length === 0) {
    const who = recipients.slice(0, 5).join(', ') || 'nobody';
    throw new CannotRunError(
      `The mail file ${file} has a mail to ${who}, and no inbox of the fixture has this address.`,
    );
  }
  for (const { inbox, direction } of targets) {
    // The list is changed in place, because a new list for each mail would take quadratic time.
    if (!Array.isArray(inbox.messages)) inbox.messages = [];
    (inbox.messages as unknown[]).push({ ...message, direction });
  }
}

/**
 * Finds the files that match a glob, sorted by name. `*` and `?` match within a folder, `**` matches also subfolders,
 * and `{a,b}` matches `a` or `b`. For a folder, finds all .eml and mbox files in it and its subfolders. For a Maildir,
 * finds its mails.
 */
export async function findFiles(glob: string): Promise<string[]> {
  const stats = await stat(glob).catch(() => undefined);
  if (stats?.isDirectory()) {
    const files = await findFiles(join(glob, '**', '*'));
    return files.filter((file) => MAIL_FILE.test(resolve(file).split(sep).join('/')));
  }
  if (stats) return [glob];
  const pattern = glob.split(sep).join('/');
  // The `x` makes `dirname` keep a folder at the end of the text, as in `mail/`.
  const folder = dirname(`${pattern.split(/[*?{]/, 1)[0]}x`);
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const expression = toExpression(folder === '.' ? pattern.replace(/^\.\//, '') : pattern);
  return files.filter((file) => expression.test(file.split(sep).join('/'))).sort();
}

/** Matches the path of a mail file. In a Maildir, the name of a mail begins with the time of its delivery. */
const MAIL_FILE = /\.(?:eml|mbox)$|\/(?:cur|new)\/\d[^/]*$/;

const WILDCARDS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

function toExpression(pattern: string): RegExp {
  const source = pattern.replace(/\{[^{}]*\}|\*\*\/|\*\*|[*?]|[\\^$.|+()[\]{}]/g, (part) => {
    if (part.length > 1 && part.startsWith('{')) return `(?:${part.slice(1, -1).split(',').map(escapeText).join('|')})`;
    return WILDCARDS[part] ?? escapeText(part);
  });
  return new RegExp(`^${source}$`);
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.|+()[\]{}*?]/g, '\\$&');
}
