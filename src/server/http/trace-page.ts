import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type PageParts, readPageParts, writePageFile, writeTraceElement } from '../../basics/page-file.ts';
import { DEFAULT_HOST, hostnameOf, isLoopbackHost } from '../loopback.ts';
import { readBuiltFile } from './serve-inspector.ts';

/**
 * Writes the inspector and a trace as one HTML file. It needs no server and no other file, and its policy forbids every
 * request. `trace` has the bytes of the trace; the file has them as base64 of gzip.
 *
 * @throws {ApiError} NOT_FOUND if the inspector was not built.
 */
export async function writeTracePage(trace: Uint8Array): Promise<string> {
  return writePageFile(await readInspectorParts(), await packTrace('trace', trace));
}

/** Reads the inspector for a page that needs no other file. @throws {ApiError} NOT_FOUND if it was not built. */
export function readInspectorParts(): Promise<PageParts> {
  return readPageParts(async (name, encoding) => Buffer.from(await readBuiltFile(name)).toString(encoding));
}

/** Writes the element that carries a trace in a page, as base64 of gzip. The element has the id `id`. */
export async function packTrace(id: string, trace: Uint8Array | string): Promise<string> {
  // Lines of a trace are so alike that a higher level takes longer and saves little.
  const packed = await promisify(gzip)(trace, { level: 1 });
  return writeTraceElement(id, packed.toString('base64'));
}

/**
 * Serves the page of a trace on loopback, on a free port. The page reads the trace itself while it arrives; `openTrace`
 * opens it for each page. Only requests that name a loopback host get something.
 *
 * @throws {ApiError} NOT_FOUND if the inspector was not built.
 */
export async function serveTrace(openTrace: () => Readable): Promise<{ readonly url: string; close(): void }> {
  const page = await writePageFile(await readInspectorParts(), '<meta id="trace" content="trace">\n', "'self'");
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
