import { tryParseJson } from '../../../basics/foreign-json.ts';
import type { HttpEntry } from '../../../control/journal/request-entry.ts';

/** The key of a request, as the page knows it. */
export interface KnownKey {
  readonly text: string;
  /** Whether it is the first key of its tier. For such a key, the command `exec` sets an environment variable. */
  readonly isFirst: boolean;
}

/**
 * Writes code that sends a request again, to the server at `baseUrl`. If the key is unknown, the code reads a key from
 * an environment variable.
 */
type Writer = (entry: HttpEntry, baseUrl: string, knownKey?: KnownKey) => string;

/** Writes a command with curl for a POSIX shell. */
export const writeCurl: Writer = (entry, baseUrl, knownKey) => {
  const { target, headers, key, body, notes } = readParts(entry, knownKey);
  const hasType = headers.some(([name]) => name === 'content-type');
  const options = [
    ...(METHOD_OPTIONS[entry.method] ?? [`-X ${entry.method}`]),
    quoteForShell(baseUrl + target),
    ...(key ? [`-H "${key.header}: ${key.prefix}${writeKeyForShell(key)}"`] : []),
    ...headers.map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    // Without this option, curl would add a content type.
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

/** Writes JavaScript that calls `fetch`. */
export const writeFetch: Writer = (entry, baseUrl, knownKey) => {
  const { notes, target } = readParts(entry, knownKey);
  const code = writeFetchLines(entry, quoteForJs(baseUrl + target), knownKey);
  const lines = [...notes.map((note) => `// ${note}`), ...code, 'console.log(reply.status, await reply.text());', ''];
  return lines.join('\n');
};

function writeFetchLines(entry: HttpEntry, urlCode: string, knownKey?: KnownKey): string[] {
  const { headers, key, body } = readParts(entry, knownKey);
  const headerLines = [
    ...(key ? [`    ${quoteForJs(key.header)}: ${writeKeyForJs(key)},`] : []),
    ...headers.map(([name, value]) => `    ${quoteForJs(name)}: ${quoteForJs(value)},`),
  ];
  return [
    ...[`const reply = await fetch(${urlCode}, {`, `  method: ${quoteForJs(entry.method)},`],
    ...(headerLines.length > 0 ? ['  headers: {', ...headerLines, '  },'] : []),
    ...(body === null ? [] : [`  body: ${quoteForJs(body)},`]),
    '});',
  ];
}

function writeKeyForJs({ prefix, text, variable }: KeyPart): string {
  if (variable === undefined) return quoteForJs(`${prefix}${text}`);
  const value = text === undefined ? '' : ` ?? ${quoteForJs(text)}`;
  return `\`${prefix}\${process.env.${variable}${value}}\``;
}

/** Writes a program for Python that needs no package. */
export const writePython: Writer = (entry, baseUrl, knownKey) => {
  const { target, headers, key, body, notes } = readParts(entry, knownKey);
  const headerFields = [
    ...(key ? [`${JSON.stringify(key.header)}: ${writeKeyForPython(key)}`] : []),
    ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  return `import os, urllib.error, urllib.request

${notes.map((note) => `# ${note}\n`).join('')}request = urllib.request.Request(
    ${JSON.stringify(baseUrl + target)},
    method=${JSON.stringify(entry.method)},
    headers={${headerFields.join(', ')}},
${body === null ? '' : `    data=${JSON.stringify(body)}.encode(),\n`})
try:
    reply = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    reply = error
print(reply.status, reply.read().decode())
`;
};

function writeKeyForPython({ prefix, text, variable }: KeyPart): string {
  if (variable === undefined) return JSON.stringify(`${prefix}${text}`);
  const value = text === undefined ? `["${variable}"]` : `.get("${variable}", ${JSON.stringify(text)})`;
  return `${JSON.stringify(prefix)} + os.environ${value}`;
}

/** Writes a test for vitest that expects the same result. */
export const writeTest: Writer = (entry, _baseUrl, knownKey) => {
  const { target, notes } = readParts(entry, knownKey);
  // The body of a success differs each time, so only an error is compared.
  const error = entry.status < 400 ? undefined : errorOf(entry.reply);
  const urlCode = `process.env.MAILBOX_BASE_URL + ${quoteForJs(target)}`;
  const errorCheck = `  expect(await reply.json()).toMatchObject({ error: ${quoteForJs(error ?? '')} });`;
  return [
    ...["import { expect, test } from 'vitest';", '', '// npx agent-mailbox-mock exec -- npx vitest run'],
    ...notes.map((note) => `// ${note}`),
    `test(${quoteForJs(testTitleOf(entry))}, async () => {`,
    ...writeFetchLines(entry, urlCode, knownKey).map((line) => `  ${line}`),
    `  expect(reply.status).toBe(${entry.status});`,
    ...(error === undefined ? [] : [errorCheck]),
    ...['});', ''],
  ].join('\n');
};

function testTitleOf({ operation, method, path, status, code }: HttpEntry): string {
  return `${operation ?? `${method} ${path}`} is answered with ${code === null ? status : `${status} ${code}`}`;
}

/** Returns what a reply says about an error. */
export function errorOf({ body }: HttpEntry['reply']): string | undefined {
  const { error } = (tryParseJson(body ?? '') ?? {}) as { readonly error?: unknown };
  return typeof error === 'string' ? error : undefined;
}

/** Writes a text as a string in JavaScript. */
function quoteForJs(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner}'`;
}

type KeyPart = NonNullable<ReturnType<typeof readParts>['key']>;

/** The headers that are not copied, because a client sets them itself or because the journal masks the key in them. */
const LEFT_OUT = [
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'expect', 'user-agent'],
  ...['accept-encoding', 'accept-language', 'x-api-key', 'authorization'],
];

const isLeftOut = (name: string) => LEFT_OUT.includes(name) || name.startsWith('sec-');

/** Returns the parts of a request that are needed to send it again. */
export function readParts({ path, key, principal, request }: HttpEntry, knownKey?: KnownKey) {
  const { query, headers, body, bodyBytes } = request;
  const queryText = new URLSearchParams(query.map((pair) => [...pair])).toString();
  const isBearer = headers['x-api-key'] === undefined;
  const keyHeader = isBearer ? { header: 'Authorization', prefix: 'Bearer ' } : { header: 'X-API-Key', prefix: '' };
  // `exec` sets a variable only to the first key of a tier, so the code contains any other key itself.
  const variable = knownKey?.isFirst === false ? undefined : `MAILBOX_${principal?.tier.toUpperCase() ?? 'API'}_KEY`;
  return {
    target: path + (queryText && `?${queryText}`),
    headers: Object.entries(headers).filter(([name, value]) => !isLeftOut(name) && value !== '*/*'),
    // The text is missing if the page does not know the key.
    key: key === null ? undefined : { ...keyHeader, text: knownKey?.text, variable },
    body,
    notes: findNotes(body, bodyBytes),
  };
}

/** Returns notes about what the code lacks, because the journal does not keep it. */
function findNotes(body: string | null, bodyBytes: number | null): string[] {
  if (bodyBytes === null || (body === null && bodyBytes > 0)) return ['The body is not in the journal.'];
  if (body === null) return [];
  return [
    ...(new TextEncoder().encode(body).length < bodyBytes ? ['Only the start of the body is in the journal.'] : []),
    ...(/[_"'=]…/.test(body) ? ['Keys and passwords in the body are masked; replace what ends with ….'] : []),
  ];
}
