import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DEFAULT_HOST, hostnameOf, isLoopbackHost } from '../loopback.ts';
import { readBuiltFile } from './serve-inspector.ts';

/**
 * Writes the inspector and a trace as one HTML file. It needs no server and no other file, and its policy forbids every
 * request.
 *
 * @throws {ApiError} NOT_FOUND if the inspector was not built.
 */
export async function writeTracePage(trace: string): Promise<string> {
  const { script, style, icon } = await readInspectorParts();
  const policy = createPagePolicy(script, [style]);
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
<script type="application/jsonl" id="trace">${escapeJsonInPage(trace)}</script>
<script type="module">${script}</script>
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

/** Returns JSON in a form that cannot end the element of a page in which it is. */
export function escapeJsonInPage(json: string): string {
  return json.replaceAll('<', '\\u003c');
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
