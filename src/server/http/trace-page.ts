import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { PAGE_MARK } from '../../basics/written-by.ts';
import { DEFAULT_HOST, hostnameOf, isLoopbackHost } from '../loopback.ts';
import { readBuiltFile } from './serve-inspector.ts';

/**
 * Writes the inspector and a trace as one HTML file. It needs no server and no other file, and its policy forbids every
 * request. `trace` has the bytes of the trace; the file has them as base64 of gzip.
 *
 * @throws {ApiError} NOT_FOUND if the inspector was not built.
 */
export async function writeTracePage(trace: Uint8Array): Promise<string> {
  return writePage(await packTrace('trace', trace), "'none'");
}

/** Writes the inspector as an HTML file. `elements` say where it finds a trace, and `sources` what it may request. */
async function writePage(elements: string, sources: string): Promise<string> {
  const { script, styles, icon } = await readInspectorParts();
  const policy = createPagePolicy(script, styles, sources);
  return `${pageHead({ title: 'Inspector', policy, icon, styles })}
<body>
<noscript>The Inspector needs JavaScript. Without it, read the trace with the command show.</noscript>
${elements}<script type="module">${script}</script>
</body>
</html>
`;
}

/** Writes an HTML file that needs no other up to the end of its `head`. */
export function pageHead({
  title,
  policy,
  icon,
  styles,
}: {
  readonly title: string;
  readonly policy: string;
  readonly icon: string;
  readonly styles: readonly string[];
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${PAGE_MARK}
<title>${title}</title>
<link rel="icon" href="${icon}" type="image/svg+xml">
${styles.map((style) => `<style>${style}</style>`).join('\n')}
</head>`;
}

/** The inspector as the parts of one HTML file. */
export interface InspectorParts {
  /** Its program, for a `script` element of the type `module`. */
  readonly script: string;
  /** Its styles, each for a `style` element. The first has the font itself. */
  readonly styles: readonly string[];
  /** The URL of its icon, which has the icon itself. */
  readonly icon: string;
}

/** Reads the inspector for a page that needs no other file. @throws {ApiError} NOT_FOUND if it was not built. */
export async function readInspectorParts(): Promise<InspectorParts> {
  const read = async (name: string, encoding: 'utf8' | 'base64' = 'utf8') =>
    Buffer.from(await readBuiltFile(name)).toString(encoding);
  const [code, style, fontStyle, font, icon] = await Promise.all([
    read('inspector.js'),
    read('inspector.css'),
    read('font.css'),
    read('inter.woff2', 'base64'),
    read('icon.svg', 'base64'),
  ]);
  // In the strings of a program, `\/` and `\x3c` mean the same characters, but do not end its element.
  const script = code.replaceAll('</script', '<\\/script').replaceAll('<!--', '\\x3c!--');
  const fontFace = fontStyle.replace('/__mock/inspector/inter.woff2', `data:font/woff2;base64,${font}`);
  return { script, styles: [fontFace, style], icon: `data:image/svg+xml;base64,${icon}` };
}

/** Returns the policy of a page that runs only this program, has only these styles, and requests only from `sources`. */
export function createPagePolicy(script: string, styles: readonly string[], sources = "'none'"): string {
  return (
    `default-src 'none'; script-src ${hashOf(script)}; style-src ${styles.map(hashOf).join(' ')}; ` +
    `img-src data:; font-src data:; connect-src ${sources}; ` +
    "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
  );
}

/** Writes the element that carries a trace in a page, as base64 of gzip. The element has the id `id`. */
export async function packTrace(id: string, trace: Uint8Array | string): Promise<string> {
  // Lines of a trace are so alike that a higher level takes longer and saves little.
  const packed = await promisify(gzip)(trace, { level: 1 });
  return `<script type="application/gzip" id="${id}">${packed.toString('base64')}</script>\n`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * Serves the page of a trace on loopback, on a free port. The page reads the trace itself while it arrives; `openTrace`
 * opens it for each page. Only requests that name a loopback host get something.
 *
 * @throws {ApiError} NOT_FOUND if the inspector was not built.
 */
export async function serveTrace(openTrace: () => Readable): Promise<{ readonly url: string; close(): void }> {
  const page = await writePage('<meta id="trace" content="trace">\n', "'self'");
  const replies: Readonly<Record<string, readonly [type: string, open: () => Readable]>> = {
    '/': ['text/html; charset=utf-8', () => Readable.from([page])],
    '/trace': ['application/jsonl', openTrace],
  };
  const server = createServer((request, response) => {
    const isAllowed = isLoopbackHost(hostnameOf(request.headers.host ?? '') ?? '');
    const [type, open] = replies[request.url ?? ''] ?? [];
    if (!isAllowed || !type || !open) {
      response.writeHead(isAllowed ? 404 : 403).end();
      return;
    }
    response.writeHead(200, { ...PAGE_HEADERS, 'content-type': type });
    // Without this, a page that was closed would leave the file open.
    pipeline(open(), response, () => response.destroy());
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

const PAGE_HEADERS = {
  'content-security-policy': "frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};
