import type { RequestEntry } from '../../../control/journal/request-entry.ts';
import { parseJson } from '../../text.tsx';

/** The key of a request, as the page knows it. */
export interface KnownKey {
  readonly text: string;
  /** Whether `exec` sets a variable to it: the first key of its tier. */
  readonly isFirst: boolean;
}

/** Writes code that sends a request again, to a URL. Without a known key, it reads one from a variable. */
type Writer = (entry: RequestEntry, baseUrl: string, known?: KnownKey) => string;

/** Writes a command for a POSIX shell. */
export const writeCurl: Writer = (entry, baseUrl, known) => {
  const { target, headers, key, body, notes } = partsOf(entry, known);
  const hasType = headers.some(([name]) => name === 'content-type');
  const options = [
    ...(METHOD_OPTIONS[entry.method] ?? [`-X ${entry.method}`]),
    quoteForShell(baseUrl + target),
    ...(key ? [`-H "${key.header}: ${key.before}${writeKeyForShell(key)}"`] : []),
    ...headers.map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    // Without this, curl adds a type of its own.
    ...(body !== null && !hasType ? ["-H 'content-type:'"] : []),
    ...(body === null ? [] : [`--data-raw ${quoteForShell(body)}`]),
  ];
  return [...notes.map((note) => `# ${note}`), `curl ${options.join(' \\\n  ')}`].join('\n');
};

const METHOD_OPTIONS: Readonly<Record<string, readonly string[]>> = { GET: [], HEAD: ['--head'] };

/** Quotes a text for a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function writeKeyForShell({ text, variable }: KeyPart): string {
  if (variable === undefined) return String(text);
  return text === undefined ? `$${variable}` : `\${${variable}:-${text}}`;
}

/** Writes statements of JavaScript. */
export const writeFetch: Writer = (entry, baseUrl, known) => {
  const { notes, target } = partsOf(entry, known);
  const call = linesOfFetch(entry, quoteForCode(baseUrl + target), known);
  const lines = [...notes.map((note) => `// ${note}`), ...call, 'console.log(reply.status, await reply.text());', ''];
  return lines.join('\n');
};

function linesOfFetch(entry: RequestEntry, url: string, known?: KnownKey): string[] {
  const { headers, key, body } = partsOf(entry, known);
  const fields = [
    ...(key ? [`    ${quoteForCode(key.header)}: ${writeKeyForCode(key)},`] : []),
    ...headers.map(([name, value]) => `    ${quoteForCode(name)}: ${quoteForCode(value)},`),
  ];
  return [
    ...[`const reply = await fetch(${url}, {`, `  method: ${quoteForCode(entry.method)},`],
    ...(fields.length > 0 ? ['  headers: {', ...fields, '  },'] : []),
    ...(body === null ? [] : [`  body: ${quoteForCode(body)},`]),
    '});',
  ];
}

function writeKeyForCode({ before, text, variable }: KeyPart): string {
  if (variable === undefined) return quoteForCode(`${before}${text}`);
  const value = text === undefined ? '' : ` ?? ${quoteForCode(text)}`;
  return `\`${before}\${process.env.${variable}${value}}\``;
}

/** Writes a program for Python that needs no package. */
export const writePython: Writer = (entry, baseUrl, known) => {
  const { target, headers, key, body, notes } = partsOf(entry, known);
  const fields = [
    ...(key ? [`${JSON.stringify(key.header)}: ${writeKeyForPython(key)}`] : []),
    ...headers.map((field) => field.map((text) => JSON.stringify(text)).join(': ')),
  ];
  return `import os, urllib.error, urllib.request

${notes.map((note) => `# ${note}\n`).join('')}request = urllib.request.Request(
    ${JSON.stringify(baseUrl + target)},
    method=${JSON.stringify(entry.method)},
    headers={${fields.join(', ')}},
${body === null ? '' : `    data=${JSON.stringify(body)}.encode(),\n`})
try:
    reply = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    reply = error
print(reply.status, reply.read().decode())
`;
};

function writeKeyForPython({ before, text, variable }: KeyPart): string {
  if (variable === undefined) return JSON.stringify(`${before}${text}`);
  const value = text === undefined ? `["${variable}"]` : `.get("${variable}", ${JSON.stringify(text)})`;
  return `${JSON.stringify(before)} + os.environ${value}`;
}

/** Writes a test for vitest that expects the same result. */
export const writeTest: Writer = (entry, _baseUrl, known) => {
  const { target, notes } = partsOf(entry, known);
  // The body of a success differs each time, so only an error is compared.
  const error = entry.status < 400 ? undefined : errorOf(entry.reply);
  const url = `process.env.MAILBOX_BASE_URL + ${quoteForCode(target)}`;
  const check = `  expect(await reply.json()).toMatchObject({ error: ${quoteForCode(error ?? '')} });`;
  return [
    ...["import { expect, test } from 'vitest';", '', '// npx agent-mailbox-mock exec -- npx vitest run'],
    ...notes.map((note) => `// ${note}`),
    `test(${quoteForCode(titleOf(entry))}, async () => {`,
    ...linesOfFetch(entry, url, known).map((line) => `  ${line}`),
    `  expect(reply.status).toBe(${entry.status});`,
    ...(error === undefined ? [] : [check]),
    ...['});', ''],
  ].join('\n');
};

function titleOf({ operation, method, path, status, code }: RequestEntry): string {
  return `${operation ?? `${method} ${path}`} is answered with ${code === null ? status : `${status} ${code}`}`;
}

/** Returns what a reply says about an error. */
export function errorOf({ body }: RequestEntry['reply']): string | undefined {
  const { error } = (parseJson(body) ?? {}) as { readonly error?: unknown };
  return typeof error === 'string' ? error : undefined;
}

/** Writes a text as a string in JavaScript. */
function quoteForCode(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner}'`;
}

type KeyPart = NonNullable<ReturnType<typeof partsOf>['key']>;

/** Headers that a client sets on its own, and those with the key, which the journal masks. */
const LEFT_OUT = [
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'expect', 'user-agent'],
  ...['accept-encoding', 'accept-language', 'x-api-key', 'authorization'],
];

const isLeftOut = (name: string) => LEFT_OUT.includes(name) || name.startsWith('sec-');

/** Splits a request into the parts that are needed to send it again. */
export function partsOf({ path, key, principal, request }: RequestEntry, known?: KnownKey) {
  const { query, headers, body, bodyBytes } = request;
  const search = new URLSearchParams(query.map((pair) => [...pair])).toString();
  const isBearer = headers['x-api-key'] === undefined;
  const place = isBearer ? { header: 'Authorization', before: 'Bearer ' } : { header: 'X-API-Key', before: '' };
  // A key that is not the first of its tier is in no variable.
  const variable = known?.isFirst === false ? undefined : `MAILBOX_${principal?.tier.toUpperCase() ?? 'API'}_KEY`;
  return {
    target: path + (search && `?${search}`),
    headers: Object.entries(headers).filter(([name, value]) => !isLeftOut(name) && value !== '*/*'),
    // The page may not know the text of the key.
    key: key === null ? undefined : { ...place, text: known?.text, variable },
    body,
    notes: findNotes(body, bodyBytes),
  };
}

/** Says what is missing, because the journal does not keep it. */
function findNotes(body: string | null, bodyBytes: number | null): string[] {
  if (bodyBytes === null || (body === null && bodyBytes > 0)) return ['The body is not in the journal.'];
  if (body === null) return [];
  return [
    ...(new TextEncoder().encode(body).length < bodyBytes ? ['Only the start of the body is in the journal.'] : []),
    ...(/_…|"…"/.test(body) ? ['Keys and passwords in the body are masked; replace what ends with ….'] : []),
  ];
}
