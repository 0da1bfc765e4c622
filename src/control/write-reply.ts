import { filenameParameters } from '../contract/content-disposition.ts';
import { toJsonPieces } from '../contract/json-pieces.ts';
import { type AnyReply, bytesReply, streamReply, textReply } from '../pipeline/http.ts';
import type { ContentType, ControlRow } from './row.ts';

/** Creates the reply of a row in its media type. */
export function writeReply({ content = 'application/json' }: ControlRow, value: unknown): AnyReply {
  return WRITERS[content](value);
}

const WRITERS: Readonly<Record<ContentType, (value: unknown) => AnyReply>> = {
  'application/json': writeJson,
  'text/html': (html) => withHeaders(textReply(200, String(html), 'text/html; charset=utf-8'), HOSTILE_PAGE),
  'application/octet-stream': (file) => writeFile(file as { filename: string; content: Uint8Array }),
  'text/event-stream': (items) => streamReply(200, toEvents(items as AsyncIterable<object>), 'text/event-stream'),
};

/** Mail is hostile, but may be opened in a tab of its own. A person may click its links; they open in a new tab. */
const HOSTILE_PAGE = {
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-popups allow-popups-to-escape-sandbox',
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  // Otherwise a browser looks up the hosts of links.
  'x-dns-prefetch-control': 'off',
  'cache-control': 'no-store',
};

/** The elements that can make a browser connect to a server although the policy forbids every request. */
const CONNECTING_ELEMENT = /<(?=(?:link|meta|i?frame|object|embed|portal)[\s/>])/gi;

/** Returns the page that shows a mail: its HTML, or else its text. */
export function mailPageOf({ htmlBody, plainBody }: { readonly htmlBody: string | null; readonly plainBody: string }) {
  return (
    htmlBody?.replace(CONNECTING_ELEMENT, '<x-') ??
    `<!doctype html><pre>${plainBody.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</pre>`
  );
}

/** Writes JSON: a small value as one text, a large one as a stream. */
function writeJson(value: unknown): AnyReply {
  const pieces = toJsonPieces(value);
  const [{ value: first }, { value: second }] = [pieces.next(), pieces.next()];
  if (second) return streamReply(200, follow(`${first}${second}`, pieces), 'application/json');
  return textReply(200, first ?? '', 'application/json');
}

async function* follow(start: string, pieces: Iterable<string>): AsyncIterable<string> {
  yield start;
  yield* pieces;
}

/** Sends a file so that a browser saves it, and never shows it as a page of this origin. */
function writeFile({ filename, content }: { readonly filename: string; readonly content: Uint8Array }): AnyReply {
  return bytesReply(200, content, {
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; ${filenameParameters(filename)}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
}

function withHeaders(reply: AnyReply, headers: Readonly<Record<string, string>>): AnyReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/**
 * Writes each item as the data of an event (HTML standard, "Server-sent events"). The `id` of an item becomes that of the
 * event. This is not a generator, because the end of a generator waits for the item that it is waiting for.
 */
function toEvents(items: AsyncIterable<object>): AsyncIterable<string> {
  const iterator = items[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const { done, value } = await iterator.next();
        return done ? { done, value: undefined } : { value: toEvent(value) };
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}

function toEvent(item: object): string {
  const id = 'id' in item ? `id: ${item.id}\n` : '';
  return `${id}data: ${JSON.stringify(item)}\n\n`;
}
