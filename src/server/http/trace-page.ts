import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { JournalEntry } from '../../control/journal/journal-entry.ts';
import type { TraceLine } from '../../control/journal/trace.ts';
import { FEED_KINDS } from '../../world/journal/journal.ts';
import { DEFAULT_HOST, hostnameOf, isLoopbackHost } from '../loopback.ts';
import { readBuiltFile } from './serve-inspector.ts';

/**
 * Writes the inspector and a trace as one HTML file. It needs no server and no other file, and its policy forbids every
 * request. The file has the trace twice: without details for the first view, which a long trace would delay, and whole
 * for the others. Both are base64 of gzip. `trace` has the bytes of the trace, and `lines` what they contain.
 *
 * @throws {ApiError} NOT_FOUND if the inspector was not built.
 */
export async function writeTracePage(trace: Uint8Array, lines: Iterable<TraceLine>): Promise<string> {
  const { script, style, icon } = await readInspectorParts();
  const policy = createPagePolicy(script, [style]);
  const elements = await packTrace('trace', trace, lines);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Inspector</title>
<link rel="icon" href="${icon}" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<noscript>The Inspector needs JavaScript. Without it, read the trace with the command show.</noscript>
${elements}<script type="module">${script}</script>
</body>
</html>
`;
}

/** The inspector as the parts of one HTML file. */
export interface InspectorParts {
  /** Its program, for a `script` element of the type `module`. */
  readonly script: string;
  /** Its style, for a `style` element. */
  readonly style: string;
  /** The URL of its icon, which has the icon itself. */
  readonly icon: string;
}

/** Reads the inspector for a page that needs no other file. @throws {ApiError} NOT_FOUND if it was not built. */
export async function readInspectorParts(): Promise<InspectorParts> {
  const names = ['inspector.js', 'inspector.css', 'icon.svg'] as const;
  const files = await Promise.all(names.map(async (name) => Buffer.from(await readBuiltFile(name)).toString('utf8')));
  const [code = '', style = '', icon = ''] = files;
  // In the strings of a program, `\/` and `\x3c` mean the same characters, but do not end its element.
  const script = code.replaceAll('</script', '<\\/script').replaceAll('<!--', '\\x3c!--');
  return { script, style, icon: `data:image/svg+xml;base64,${Buffer.from(icon).toString('base64')}` };
}

/** Returns the policy of a page that runs only this program, has only these styles, and requests nothing. */
export function createPagePolicy(script: string, styles: readonly string[]): string {
  return (
    `default-src 'none'; script-src ${hashOf(script)}; style-src ${styles.map(hashOf).join(' ')}; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
  );
}

/**
 * Writes the elements that carry a trace in a page: `id` has the whole, and `id` with `-run` what the first view shows.
 * Both are base64 of gzip. `lines` has what the trace contains.
 */
export async function packTrace(id: string, trace: Uint8Array | string, lines: Iterable<TraceLine>): Promise<string> {
  // While the lines are parsed, the whole trace is packed in another thread.
  const packing = pack(trace);
  const shown: string[] = [];
  for (const line of lines) shown.push(...withoutDetails(line).map((each) => JSON.stringify(each)));
  const [run, whole] = [await pack(shown.join('\n')), await packing];
  const element = (name: string, packed: string) => `<script type="application/gzip" id="${name}">${packed}</script>\n`;
  return element(`${id}-run`, run) + element(id, whole);
}

/** Returns base64 of gzip. */
async function pack(content: Uint8Array | string): Promise<string> {
  // Lines of a trace are so alike that a higher level takes longer and saves little.
  return (await promisify(gzip)(content, { level: 1 })).toString('base64');
}

/** How much of the text of a mail the first view gets. It shows less. */
const TEXT_LENGTH = 1_000;

/** Returns what the first view of the page shows of a line; an empty list if it does not show the line. */
function withoutDetails(line: TraceLine): object[] {
  if (line.type === 'story') return [];
  if (line.type === 'trace') return [line];
  const { type, kind, realTime, at } = line;
  const entry = line as unknown as JournalEntry;
  if (!FEED_KINDS.includes(kind) || (entry.kind === 'delivery-created' && entry.data.state !== 'held')) return [];
  return [{ type, kind, realTime, at, data: shorten(entry) }];
}

/** Returns the details of an entry without headers, bodies and files. */
function shorten(entry: JournalEntry): object {
  switch (entry.kind) {
    case 'mail-received':
    case 'mail-sent': {
      const { mail, inbox, source } = entry.data;
      const { id, tenantId, inboxId, threadId, from, to, subject, plainBody } = mail;
      const text = plainBody.trim().slice(0, TEXT_LENGTH);
      return { inbox, source, mail: { id, tenantId, inboxId, threadId, from, to, subject, plainBody: text } };
    }
    case 'request':
    case 'mail-command': {
      const { request, reply, ...data } = entry.data;
      return data;
    }
    case 'attempt': {
      const { responseHeaders, responseBody, thrown, ...data } = entry.data;
      return data;
    }
    default:
      return entry.data;
  }
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** Serves a page on loopback, on a free port. Only requests that name a loopback host get it. */
export async function servePage(page: string): Promise<{ readonly url: string; close(): void }> {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  };
  const server = createServer((request, response) => {
    const isAllowed = isLoopbackHost(hostnameOf(request.headers.host ?? '') ?? '');
    const status = isAllowed ? (request.url === '/' ? 200 : 404) : 403;
    response.writeHead(status, status === 200 ? headers : {}).end(status === 200 ? page : undefined);
  });
  await once(server.listen(0, DEFAULT_HOST), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${DEFAULT_HOST}:${port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
