import { resolve } from 'node:path';
import { toBase64 } from '../basics/base64.ts';
import { isObject, type JsonObject } from '../basics/objects.ts';
import { showSize } from '../basics/size.ts';
import { findAddressProblem, parseAddress, quoteText } from '../contract/addresses/email-address.ts';
import { ApiError } from '../contract/errors.ts';
import { MAX_MAIL_BYTES } from '../contract/mail-limits.ts';
import { parseEml } from '../service/mail/incoming/parse-eml.ts';
import { mediaTypeOf } from '../service/mail/mime/compose-mail.ts';
import { fileProblem, readRegularFile } from './regular-file.ts';

/**
 * Replaces each message `{ "eml": "path" }` of a fixture by the mails in the file with this path. Other fields of the
 * message replace the fields of each mail. Paths are relative to `folder`. If a file cannot be read, or one of its
 * mails cannot be parsed, the field `eml` becomes an error, which the check of the fixture reports.
 */
export async function replaceMailFiles<Fixture>(fixture: Fixture, folder: string): Promise<Fixture> {
  if (!listInboxes(fixture).some(({ inbox }) => messagesOf(inbox).some(isMailFile))) return fixture;
  const copy = structuredClone(fixture);
  for (const { inbox } of listInboxes(copy)) {
    const messages = messagesOf(inbox);
    if (!messages.some(isMailFile)) continue;
    const lists = await Promise.all(
      messages.map((message) => (isMailFile(message) ? readMessages(message, folder) : [message])),
    );
    // If a file has failed, only the first mail of each file is kept, so that every message keeps its position in the
    // list. The check of the fixture then reports other problems at the right position.
    const hasFailed = lists.some(([first]) => isObject(first) && first.eml instanceof Error);
    inbox.messages = hasFailed ? lists.map(([first]) => first) : lists.flat();
  }
  return copy;
}

async function readMessages({ eml, ...fields }: { readonly eml: string }, folder: string) {
  let problem: string;
  try {
    const mails = splitMbox(await readRegularFile(resolve(folder, eml)));
    const parsed = await Promise.all(mails.map(toFixtureMessage));
    if (parsed.length > 0) return parsed.map(({ message }) => ({ ...message, ...fields }));
    problem = 'it is an mbox without a mail';
  } catch (error) {
    problem = fileProblem(error, 'there is no such file');
  }
  const reason = `${JSON.stringify(eml)} cannot be read: ${problem}`;
  return [{ from: '', eml: new Error(`must be the path of a mail or of an mbox: ${reason}`), ...fields }];
}

/** An inbox of a fixture that was not checked yet, and the path to the inbox in the fixture. */
export type UncheckedInbox = { readonly path: readonly string[]; readonly inbox: Record<string, unknown> };

/** Lists the inboxes of a fixture that was not checked yet. Invalid parts are left out. */
export function listInboxes(fixture: unknown): UncheckedInbox[] {
  const inboxes: UncheckedInbox[] = [];
  for (const [tenantPath, tenant] of childrenOf([], fixture, 'tenants')) {
    for (const [workspacePath, workspace] of childrenOf(tenantPath, tenant, 'workspaces')) {
      for (const [path, inbox] of childrenOf(workspacePath, workspace, 'inboxes')) inboxes.push({ path, inbox });
    }
  }
  return inboxes;
}

/** Returns the objects in a field of a part of a fixture, each with its path in the fixture. */
function childrenOf(path: readonly string[], part: unknown, field: string): [string[], JsonObject][] {
  const children = isObject(part) ? part[field] : undefined;
  if (!isObject(children)) return [];
  return Object.entries(children).flatMap(([name, child]): [string[], JsonObject][] =>
    isObject(child) ? [[[...path, field, name], child]] : [],
  );
}

/** Returns whether a message of a fixture names a mail file. */
export function isMailFile(message: unknown): message is JsonObject & { readonly eml: string } {
  return isObject(message) && typeof message.eml === 'string';
}

/** Returns the messages of an inbox that was not checked yet. */
export function messagesOf({ messages }: JsonObject): readonly unknown[] {
  return Array.isArray(messages) ? messages : [];
}

/**
 * Splits the content of a file into mails. A file that begins with `From ` is an mbox; any other file is one mail. In an
 * mbox, a line of a mail that begins with any number of `>` and then `From ` has one `>` more (mboxrd), which is removed.
 *
 */
export function splitMbox(content: Buffer): Buffer[] {
  // In Latin-1, each byte is one character, so no byte changes.
  const text = content.toString('latin1');
  if (!text.startsWith('From ')) return [content];
  const starts = [...text.matchAll(/(?:^|(?<=\n\r?\n))From [^\n]*\n/g)];
  return starts.map(({ index, 0: line }, position) => {
    const mail = text.slice(index + line.length, starts[position + 1]?.index);
    return Buffer.from(mail.replace(/(?<=\n)\r?\n$/, '').replace(/^>(?=>*From )/gm, ''), 'latin1');
  });
}

/** A mail that was read from a file. */
export interface FileMail {
  /** The mail as a message of a fixture. A field that the mail does not have is missing, and later gets its default. */
  readonly message: Readonly<Record<string, unknown>>;
  /** The sender in display form, such as `Dana <dana@customer.test>`; empty if the mail names no sender. */
  readonly from: string;
  /** The addresses of all recipients in the header. */
  readonly recipients: readonly string[];
}

/** Returns an address as a fixture writes it. An address to which no mail can be sent becomes `<root>` or `"no address"`. */
function toFixtureAddress(text: string): string {
  if (text === '' || findAddressProblem(text) === undefined) return text;
  const parsed = parseAddress(text, () => true);
  if (!parsed) return quoteText(text);
  if (parsed.address === '') return quoteText(parsed.name);
  return parsed.name === '' ? `<${parsed.address}>` : text;
}

/**
 * Converts the bytes of a mail to a message of a fixture. The time of arrival is the time in the Date field.
 *
 * @throws {ApiError} VALIDATION_ERROR if the mail is too large or cannot be parsed.
 */
export async function toFixtureMessage(bytes: Uint8Array): Promise<FileMail> {
  if (bytes.length > MAX_MAIL_BYTES) {
    const problem = `it has a mail of ${showSize(bytes.length)}, and the limit is ${showSize(MAX_MAIL_BYTES)}`;
    throw new ApiError('VALIDATION_ERROR', problem);
  }
  const { mail, recipients, deliveredTo, date } = parseEml(bytes, '');
  const { messageIdHeader, attachments, ...fields } = mail;
  const replyTo = toFixtureAddress(mail.replyTo ?? '');
  const to = mail.to.map(toFixtureAddress);
  const message: Record<string, unknown> = {
    ...fields,
    from: toFixtureAddress(mail.from),
    replyTo: replyTo || null,
    cc: mail.cc.map(toFixtureAddress),
    attachments: attachments.map(({ filename, contentType, content }) => ({
      filename: filename.replace(/\p{Cc}/gu, ' '),
      contentType: mediaTypeOf(contentType),
      content: toBase64(content),
    })),
    raw: toBase64(bytes),
  };
  if (to.length > 0) message.to = to;
  else delete message.to;
  if (messageIdHeader !== '') message.messageIdHeader = messageIdHeader;
  // The schema of fixtures does not accept years of five digits.
  if (/^\d{4}-.*Z$/.test(date ?? '')) message.receivedAt = date;
  return { from: mail.from, recipients: [...recipients, ...deliveredTo], message };
}
