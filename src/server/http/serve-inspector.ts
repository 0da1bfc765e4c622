import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { ApiError } from '../../contract/errors.ts';
import { CONTROL_PATH } from '../../control/table/control-path.ts';
import type { ApiRequest } from '../../service/pipeline/exchange.ts';
import { type AnyReply, stripBodyForHead } from '../../service/pipeline/reply.ts';
import { routeNotFound } from '../../service/pipeline/router.ts';
import { FAVICON_PATH } from './guards.ts';

const PAGE_PATH = `${CONTROL_PATH}/`;

/** The names of the files whose paths do not contain the name. */
const FILE_NAMES: Readonly<Record<string, string>> = { [PAGE_PATH]: 'index.html', [FAVICON_PATH]: 'icon.svg' };

/** The files of the inspector, with their media types. No other file is read. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'inspector.js': 'text/javascript; charset=utf-8',
  'live-views.js': 'text/javascript; charset=utf-8',
  'inspector.css': 'text/css; charset=utf-8',
  'font.css': 'text/css; charset=utf-8',
  'inter.woff2': 'font/woff2',
  'icon.svg': 'image/svg+xml',
  'README.md': 'text/plain; charset=utf-8',
};

/** The folders of the files: beside the built server, or in `dist/` if the server runs from its source. */
const FOLDERS = ['./inspector/', '../../../dist/inspector/'];

/** The folders in which the README of the package may be, for a built server and for one that runs from its source. */
const README_FOLDERS = ['../', '../../../'];

const SECURITY_HEADERS = {
  // A mail may contain an attack. With this policy, no part of a mail can run or load anything, even if the page has a
  // mistake.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; " +
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
    "trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  // A browser asks each time whether a file has changed, and loads only a file that has changed.
  'cache-control': 'no-cache',
  vary: 'Accept',
};

/** A browser need not ask again and again for files that do not change. */
const UNCHANGED_FILES = ['icon.svg', 'inter.woff2'];
const UNCHANGED_HEADERS = { 'cache-control': 'max-age=86400' };

/**
 * Replies to a request for the inspector with one of its files, or with a redirect to the page. The files are read from
 * the disk for each request, because they are small and seldom needed.
 *
 * @throws {ApiError} NOT_FOUND for any other file, and if the inspector was not built.
 */
export async function serveInspector({ method, path, headers: requestHeaders }: ApiRequest): Promise<AnyReply> {
  if (path === '/' || path === CONTROL_PATH) {
    return { status: 302, headers: { location: PAGE_PATH, 'content-length': '0', vary: 'Accept' }, body: null };
  }
  const name = FILE_NAMES[path] ?? path.slice(`${PAGE_PATH}inspector/`.length);
  const type = Object.hasOwn(MEDIA_TYPES, name) ? MEDIA_TYPES[name] : undefined;
  if (type === undefined) throw routeNotFound(path);
  const body = await readBuiltFile(name);
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const headers = { ...SECURITY_HEADERS, ...(UNCHANGED_FILES.includes(name) && UNCHANGED_HEADERS), etag };
  if (requestHeaders.get('if-none-match')?.includes(etag)) return { status: 304, headers, body: null };
  const size = { 'content-type': type, 'content-length': String(body.byteLength) };
  return stripBodyForHead(method, { status: 200, headers: { ...headers, ...size }, body });
}

/** Reads a file of the folder of the inspector, or the README. @throws {ApiError} NOT_FOUND if it is not there. */
export async function readBuiltFile(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const folders = name === 'README.md' ? README_FOLDERS : FOLDERS;
  const reads = await Promise.allSettled(folders.map((folder) => readFile(new URL(folder + name, import.meta.url))));
  const found = reads.find((read) => read.status === 'fulfilled');
  if (found) return new Uint8Array(found.value);
  if (name === 'README.md') throw new ApiError('NOT_FOUND', 'The README is not beside this copy of the emulator.');
  throw new ApiError('NOT_FOUND', 'The inspector has not been built; run npm run build:inspector.');
}
