import { once } from 'node:events';
import { connect } from 'node:net';
import { z } from 'zod';
import { decodedLength, toBase64 } from '../../src/basics/base64.ts';
import { LineSplitter } from '../../src/basics/line-splitter.ts';
import { isUrlWithScheme } from '../../src/basics/text.ts';
import { finish } from '../../src/basics/work.ts';
import { parseJsonc } from '../../src/cli/read-fixture.ts';
import { parseAddress, splitAddresses, toAddressText } from '../../src/contract/addresses/email-address.ts';
import { flattenAddresses, readAddressList } from '../../src/contract/addresses/email-address-list.ts';
import { createSilentReader, parseBehaviours } from '../../src/contract/behaviours.ts';
import type { OperationDefinition } from '../../src/contract/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { clientFrame } from '../../src/contract/stream-protocol.ts';
import { durationField } from '../../src/control/call-fields.ts';
import { createHar } from '../../src/control/journal/har.ts';
import { codeOf, linkOf } from '../../src/control/mail/mail-codes.ts';
import { linksOf, misleadingLinksOf } from '../../src/control/mail/mail-links.ts';
import type { Mailbox } from '../../src/control/mailbox-interface.ts';
import { listControlRows } from '../../src/control/table/table.ts';
import { addressFormsOf, personOf } from '../../src/control/verdicts/addresses.ts';
import { foldText, isEmptyAnswer, textsOfMail } from '../../src/control/verdicts/mail-text.ts';
import { lackOfMasked, mayBeWhole } from '../../src/control/verdicts/not-kept.ts';
import { toSandbox } from '../../src/evaluate/sandbox-addresses.ts';
import { TextPattern } from '../../src/evaluate/text-pattern.ts';
import { deriveDomain, deriveKey, deriveName } from '../../src/fixture/defaults.ts';
import { parseFixture } from '../../src/fixture/parse-fixture.ts';
import { bareAddress, nameOf } from '../../src/inspector/views/mail/mail-types.ts';
import { parseHeaders } from '../../src/inspector/views/webhooks/signature/explain-signature.ts';
import { startServer } from '../../src/server/index.ts';
import { parseCommand } from '../../src/server/mail/imap/parse-command.ts';
import { splitMbox } from '../../src/server/mail-files.ts';
import { parseSequence } from '../../src/service/imap/argument.ts';
import { parseFetch } from '../../src/service/imap/fetch-items.ts';
import { matchFolders } from '../../src/service/imap/folder.ts';
import { MailReader } from '../../src/service/imap/mail-reader.ts';
import { search } from '../../src/service/imap/search.ts';
import { writeEnvelope, writeStructure } from '../../src/service/imap/structure.ts';
import { QUOTING_STYLES, quoteBelow } from '../../src/service/mail/correspondents/quoting.ts';
import { readHtml } from '../../src/service/mail/html-text.ts';
import { readFreeText } from '../../src/service/mail/incoming/report-bounce.ts';
import { splitMail, textOfString } from '../../src/service/mail/mime/split-parts.ts';
import { readFrame } from '../../src/service/stream/frames.ts';
import { KnownSecrets } from '../../src/world/secrets/known-secrets.ts';
import { createMask, maskText } from '../../src/world/secrets/mask.ts';
import { HOSTILE_MAILS } from './hostile-mails.ts';
import { HOSTILE_TEXTS } from './hostile-texts.ts';

/** Work whose growth is measured. */
export interface GrowthRow {
  /** The largest size of the input: in characters or bytes, or a number of things. */
  readonly most: number;
  readonly input: (size: number) => unknown;
  readonly run: (input: never, mailbox: Mailbox) => unknown;
}

const BEHAVIOURS = parseBehaviours();

const KEY = { 'X-API-Key': 'tk_acme_tenant_key', 'Content-Type': 'application/json' };

/** Sends a request whose reply is read to its end; an address that is none is no request. */
async function send(mailbox: Mailbox, method: string, path: string, body?: unknown, headers: HeadersInit = KEY) {
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await mailbox.fetch(new Request(mailbox.baseUrl + path, init as RequestInit));
  return (await response.json()) as never;
}

const INBOX = '/v1/inboxes/ac3e0000-0003-4000-8000-000000000001';
const BOTH = { to: 'dana@customer.test', subject: 'Hi', verified: true };
const NOON = '2026-03-01T12:00:00.000Z';
const PERSON = 'Dana <dana@customer.test>';

const REPORT = { subject: 'Undelivered', from: PERSON, fromAddress: 'mailer-daemon@b.test', to: [], htmlBody: null };

/** Mail as a correspondent quotes it. */
const quoted = (text: string) => ({
  from: PERSON,
  to: [PERSON],
  cc: [],
  subject: text,
  plainBody: text,
  htmlBody: null,
  messageIdHeader: text,
  receivedAt: '2026-01-05T09:00:00.000Z',
});

/** A fixture whose fields all have this text. */
const fixtureOf = (text: string) => ({
  operator: { key: text },
  tenants: {
    acme: {
      id: text,
      name: text,
      key: text,
      createdAt: text,
      domains: { [text]: { status: text }, 'a.test': { workspace: text } },
      webhooks: { hook: { url: text, secret: text, workspace: text, events: [text] } },
      workspaces: {
        main: {
          slug: text,
          inboxes: {
            desk: {
              username: text,
              domain: text,
              displayName: text,
              addresses: [text],
              lists: { allow: { entries: [text] } },
              messages: [{ from: text, to: text, subject: text, plainBody: text, messageId: text, raw: text }],
            },
          },
        },
      },
    },
  },
});

const isQuiet = (run: () => unknown) => {
  try {
    return run();
  } catch {
    // A text that is refused is as good as one that is accepted.
    return undefined;
  }
};

const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, '?');

type Read = (text: string, mailbox: Mailbox) => unknown;

/** What reads a text, by the beginning of the name of its rows. A new parser is a new line. */
const READERS: Readonly<Record<string, Read>> = {
  'the protocol of a URL': (text) => isUrlWithScheme(text, /^https?$/),
  'the webhook with the URL': (text, mailbox) => send(mailbox, 'POST', '/v1/webhooks', { url: text, events: [text] }),
  'the mail to': (text, mailbox) => send(mailbox, 'POST', `${INBOX}/send`, { ...BOTH, to: text, cc: [text] }),
  'the mail with the subject': (text, mailbox) => send(mailbox, 'POST', `${INBOX}/send`, { ...BOTH, subject: text }),
  'the mail with the bodies': async (text, mailbox) => {
    await send(mailbox, 'POST', `${INBOX}/send`, { ...BOTH, plainBody: text, htmlBody: text });
    await send(mailbox, 'POST', `${INBOX}/send`, { ...BOTH, plainBody: '', htmlBody: text });
    return send(mailbox, 'GET', `${INBOX}/messages`);
  },
  'the lines, in chunks of a few bytes,': (text) => {
    const bytes = new TextEncoder().encode(text);
    const splitter = new LineSplitter();
    for (let at = 0; at < bytes.length; at += 7) splitter.read(bytes.subarray(at, at + 7));
    return splitter.readRest();
  },
  'the IMAP command': (text) => {
    const bytes = text.replace(/[^\x20-\xff]/g, '');
    for (const command of [bytes, `SEARCH (${bytes}`, `FETCH 1 BODY[${bytes}`, `LOGIN "${bytes}`]) {
      parseCommand(`a ${command}`, []);
    }
    isQuiet(() => parseSequence(bytes, 9));
    return matchFolders(bytes);
  },
  'the parts of a mail over IMAP': (text) => {
    const mail = text.replace(/[^\0-\xff]/g, '?');
    for (const each of [
      mail,
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${mail}`,
      `Content-Type: ${mail}\r\n\r\nx`,
    ]) {
      const text = textOfString(each);
      finish(writeStructure(finish(splitMail(text)), text, true));
      writeEnvelope({ from: each, to: mail, subject: mail });
    }
  },
  'the addresses of a header': (text) => flattenAddresses(readAddressList(text)).map(toAddressText),
  'the search for mail': (text, mailbox) =>
    [text, `from:"${text}`, `to:${text} has:attachment`].map((search) => mailbox.searchMail({ search }).total),
  'the workspace': (text, mailbox) => send(mailbox, 'POST', '/v1/workspaces', { name: text.slice(0, 200), slug: text }),
  'the path': (text, mailbox) => send(mailbox, 'GET', `/v1/inboxes/${encodeURI(wellFormed(text))}`),
  'the query': (text, mailbox) => {
    const value = encodeURIComponent(wellFormed(text));
    return send(mailbox, 'GET', `/v1/messages?q=${value}&limit=${value}&from=${value}&${value}`);
  },
  'the headers': (text, mailbox) => {
    const value = text.replace(/[^\t\x20-\xff]/g, '');
    const names = ['X-API-Key', 'Authorization', 'Content-Type', 'Accept', 'Cookie', 'Idempotency-Key'];
    const bearer = { Authorization: `Bearer ${value}` };
    const all = Object.fromEntries(names.map((name) => [name, value]));
    return Promise.all([all, bearer].map((headers) => send(mailbox, 'GET', '/v1/me', undefined, headers)));
  },
  'the body': (text, mailbox) => {
    const request = new Request(`${mailbox.baseUrl}/v1/webhooks`, { method: 'POST', headers: KEY, body: text });
    return mailbox.fetch(request);
  },
  'the mail from outside': async (text, mailbox) => {
    const mail = { to: 'helpdesk@acme.test', from: PERSON, plainBody: text, htmlBody: text };
    const [message] = await mailbox.receiveMessage(mail).catch(() => []);
    return message && mailbox.mail(message.id);
  },
  'the fields of operations': (text) => {
    const reader = createSilentReader(BEHAVIOURS);
    for (const row of Object.values<OperationDefinition>(OPERATIONS)) {
      for (const schema of [row.params?.(), row.query?.(reader.readBehaviour), row.body?.(reader.readBehaviour)])
        schema?.safeParse(Object.fromEntries(Object.keys(schema.shape).map((name) => [name, text])));
    }
  },
  'the fields of control calls': (text) => {
    for (const { params, query, body } of listControlRows()) {
      for (const schema of [params, query, ...partsOf(body)])
        schema?.safeParse(Object.fromEntries(Object.keys(schema.shape).map((name) => [name, text])));
    }
  },
  'the frame of a stream': (text) => {
    readFrame(text);
    clientFrame().safeParse({ type: 'subscribe', inbox_ids: [text], event_types: [text] });
  },
  'the fixture with the fields': (text) => isQuiet(() => parseFixture(fixtureOf(text))),
  'the fixture file': (text) => isQuiet(() => parseJsonc(text)),
  'the mbox': (text) => splitMbox(Buffer.from(`From a\n${text}`)),
  'the quote of': (text) => {
    for (const style of QUOTING_STYLES) quoteBelow(style, { plainBody: 'Hi', htmlBody: null }, quoted(text));
  },
  'the bytes of base64': (text) => decodedLength(text),
  'the addresses': (text) => splitAddresses(text),
  'the name and the address': (text) => parseAddress(text.slice(0, 1000)),
  'the duration': (text) => durationField().safeParse(text),
  'the addresses that a report names in': (text) => readFreeText({ ...REPORT, plainBody: text } as never, {}, true),
  'the links in': (text) => {
    linksOf({ plainBody: text, htmlBody: text });
    linksOf({ plainBody: '', htmlBody: `<a href="${text}">` });
    misleadingLinksOf({ htmlBody: text });
    misleadingLinksOf({ htmlBody: `<a href="https://a.test">${text}` });
  },
  'the code and the link in': (text) => {
    const mail = { subject: text, plainBody: `${text} ${text}`, htmlBody: text };
    codeOf(mail);
    linkOf(mail);
  },
  'the texts of a mail with': (text) => {
    const content = toBase64(new TextEncoder().encode(text));
    const attachments = ['text/html', 'text/plain'].map((contentType) => ({ filename: text, contentType, content }));
    const bodies = { subject: text, plainBody: text, htmlBody: text };
    return textsOfMail({ ...bodies, to: [text], headers: { 'x-note': text }, attachments }).map((each) =>
      foldText(each.text),
    );
  },
  'the HTML of': (text) => {
    for (const html of [`<div hidden>${text}`, `<a title="${text}`, `<!--${text}`, `<script>${text}`]) readHtml(html);
  },
  'the answer': (text) => {
    for (const each of [text, `> ${text}`, `${text}:\n> a`, `At 9:00 ${text}:`, `From: ${text}\nTo: ${text}`]) {
      isEmptyAnswer({ plainBody: each, htmlBody: each });
    }
  },
  'the person of': (text) => [
    personOf(text),
    addressFormsOf(`a@${text}`),
    addressFormsOf(`<${text}@b.test>`),
    addressFormsOf(`a@xn--${text}`),
  ],
  'the text of a pattern': (text) => [
    new TextPattern('*a*b*').asymmetricMatch(text),
    new TextPattern('a*/*', { ignoresCase: true, isAnywhere: true }).asymmetricMatch(text),
    toSandbox(text, { written: 'a.test', actual: 'b.sandbox.test' }),
  ],
  'what may be masked in': (text) => [lackOfMasked(text), mayBeWhole(text, `a…${text}`, 'secrets')],
  'the HAR of the request with': (text) => {
    const part = { headers: { host: text, 'content-type': text }, body: text, bodyBytes: text.length };
    const request = { ...part, query: [[text, text]] };
    const entry = { method: 'POST', path: text, realTime: NOON, durationMs: 1, reason: text, request, reply: part };
    return JSON.stringify(createHar([entry as never], 'https://mailbox.test'));
  },
  'the commands of an SMTP client:': sendOverSmtp,
  'the secrets in': (text) => maskText(text),
  'the known secrets in': (text) => MASK.text(text),
  'the handles': (text) => [deriveDomain(text), deriveName(text), deriveKey('tenant', [text])],
  'the names that the inspector shows': (text) => [nameOf(text), bareAddress(text)],
  'the headers that somebody pastes': (text) => parseHeaders(text),
};

/** A mask with many secrets that begin with the same characters. */
const MASK = createMaskOfMany();

function createMaskOfMany() {
  const known = new KnownSecrets();
  for (let index = 0; index < 5_000; index += 1) known.add(`aaaaaaaaaa${index}`);
  return createMask(known);
}

let smtpPort: Promise<number> | undefined;

/** Sends a text as parts of commands; the server answers each line. */
async function sendOverSmtp(text: string) {
  smtpPort ??= startServer({ port: 0, smtpPort: 0 }).then(({ smtp }) => smtp?.port ?? 0);
  const socket = connect(await smtpPort, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.end(`EHLO ${text}\r\nMAIL FROM:<${text}> SIZE=${text}\r\nRCPT TO:<${text}>\r\nAUTH ${text}\r\nQUIT\r\n`);
  await once(socket, 'close');
}

/** Lists the objects in a schema that may be a union of them. */
function partsOf(schema: z.ZodType | undefined): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema];
  return schema instanceof z.ZodUnion ? schema.options.flatMap((option) => partsOf(option as z.ZodType)) : [];
}

const TEXT_SIZE = 64 * 1024;
const MAIL_SIZE = 512 * 1024;

/** Receives a raw mail, and shows it as the inspector does. */
async function receive(mail: string | Uint8Array, mailbox: Mailbox) {
  const eml = typeof mail === 'string' ? new TextEncoder().encode(mail) : mail;
  const [message] = await mailbox.receiveMessage({ eml, to: 'helpdesk@acme.test' });
  return message && mailbox.mail(message.id);
}

const toBytes = (mail: string | Uint8Array) => new Uint8Array(typeof mail === 'string' ? Buffer.from(mail) : mail);

/** A folder with one mail, as a session reads it. */
function openFolder(raw: Uint8Array) {
  const item = { uid: 1, id: 'm', flags: new Set(), isGone: false, computed: new Map() };
  const message = { id: 'm', threadId: 't', raw, headers: null, receivedAt: NOON };
  const rows = { get: () => undefined, by: () => [] };
  const inbox = {
    messageOf: () => message,
    draftOf: () => undefined,
    flagsOf: () => new Set(),
    world: { attachments: rows, messages: rows },
  };
  const view = { items: [item], inbox, recent: new Set() };
  return { item, inbox, view, reader: new MailReader(inbox as never, () => 'shown' as never) };
}

/** Runs a SEARCH or a FETCH on a mail. */
function runOverImap(raw: Uint8Array, command: string): void {
  const { item, inbox, view, reader } = openFolder(raw);
  const { name, args } = parseCommand(`a ${command}`, []);
  if (name === 'SEARCH') {
    finish(search({ view, reader } as never, args));
    return;
  }
  const { items, fieldNames } = parseFetch(args[1], false);
  const mail = { source: reader.find(item as never), inbox, reader, flags: '()', fieldNames, fields: new Map() };
  for (const each of items) for (const _ of each.write(mail as never));
}

function readOverImap(raw: Uint8Array): void {
  runOverImap(raw, 'SEARCH NOT TEXT "is not there" NOT BODY aaaaaab NOT FROM zz SENTON 1-Feb-2026 LARGER 5');
  runOverImap(raw, 'FETCH 1 (ENVELOPE BODYSTRUCTURE BODY RFC822.SIZE BODY.PEEK[1.1.TEXT] BODY.PEEK[1.MIME])');
  runOverImap(raw, 'FETCH 1 (BODY.PEEK[HEADER.FIELDS (From X)] BODY.PEEK[1.HEADER.FIELDS.NOT (a)])');
}

const numbers = (count: number) => Array.from({ length: Math.ceil(count) }, (_, at) => at);

/** Commands with about so many keys or items. */
const IMAP_KEYS: Readonly<Record<string, (count: number) => string>> = {
  'texts of a SEARCH': (count) =>
    `SEARCH ${numbers(count / 10)
      .map((at) => `NOT BODY "hello ${at}"`)
      .join(' ')}`,
  'the same text of a SEARCH': (count) => `SEARCH ${'NOT BODY zz '.repeat(count).trim()}`,
  'fields of a SEARCH': (count) =>
    `SEARCH ${numbers(count)
      .map((at) => `NOT HEADER X-${at % 50} ${at}`)
      .join(' ')}`,
  'flags of a SEARCH': (count) => `SEARCH ${'UNSEEN '.repeat(count).trim()}`,
  'fields of a FETCH': (count) =>
    `FETCH 1 (${numbers(count)
      .map((at) => `BODY.PEEK[HEADER.FIELDS (X-${at})]`)
      .join(' ')})`,
  'other fields of a FETCH': (count) =>
    `FETCH 1 (${numbers(count / 10)
      .map((at) => `BODY.PEEK[HEADER.FIELDS.NOT (X-${at})]`)
      .join(' ')})`,
  'ranges of a FETCH': (count) =>
    `FETCH 1 (${numbers(count)
      .map((at) => `BODY.PEEK[1]<${at}.5>`)
      .join(' ')})`,
  'the same item of a FETCH': (count) => `FETCH 1 (${'BODYSTRUCTURE '.repeat(count).trim()})`,
};

const MAIL_WITH_FIELDS = Buffer.from(
  `${numbers(500)
    .map((at) => `X-${at % 50}: a value\r\n`)
    .join('')}\r\n${'Hello there\r\n'.repeat(1_000)}`,
);

function runKeys(command: string): void {
  runOverImap(MAIL_WITH_FIELDS, command);
}

/** Everything that is measured, by what it is. */
export const GROWTH: Readonly<Record<string, GrowthRow>> = Object.fromEntries([
  ...Object.entries(READERS).flatMap(([reader, read]) =>
    Object.entries(HOSTILE_TEXTS).map(([text, input]) => [`${reader} ${text}`, { most: TEXT_SIZE, input, run: read }]),
  ),
  ...Object.entries(HOSTILE_MAILS).map(([mail, input]) => [`mail: ${mail}`, { most: MAIL_SIZE, input, run: receive }]),
  ...Object.entries(HOSTILE_MAILS).map(([mail, input]) => [
    `IMAP: ${mail}`,
    { most: MAIL_SIZE, input: (size: number) => toBytes(input(size)), run: readOverImap },
  ]),
  ...Object.entries(IMAP_KEYS).map(([keys, input]) => [`IMAP keys: ${keys}`, { most: 4_000, input, run: runKeys }]),
]);
