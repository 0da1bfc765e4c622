import type { RequestEntry } from '../../../control/journal/request-entry.ts';

/** Writes the command that sends a request again. Its key is read from a variable such as `$MAILBOX_TENANT_KEY`. */
export function writeCurl(entry: RequestEntry, baseUrl: string): string {
  const { target, headers, key, body, notes } = partsOf(entry);
  const hasType = headers.some(([name]) => name === 'content-type');
  const options = [
    ...(METHOD_OPTIONS[entry.method] ?? [`-X ${entry.method}`]),
    quoteForShell(baseUrl + target),
    ...(key ? [`-H "${key.header}: ${key.before}$${key.variable}"`] : []),
    ...headers.map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    // Without this, curl adds a type of its own.
    ...(body !== null && !hasType ? ["-H 'content-type:'"] : []),
    ...(body === null ? [] : [`--data-raw ${quoteForShell(body)}`]),
  ];
  return [...notes.map((note) => `# ${note}`), `curl ${options.join(' \\\n  ')}`].join('\n');
}

const METHOD_OPTIONS: Readonly<Record<string, readonly string[]>> = { GET: [], HEAD: ['--head'] };

/** Quotes a text for a POSIX shell. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Writes a test for vitest that sends a request again and expects the same result. */
export function writeTest(entry: RequestEntry): string {
  const { target, headers, key, body, notes } = partsOf(entry);
  const error = errorOf(entry);
  const fields = [
    ...(key ? [`${quoteForCode(key.header)}: \`${key.before}\${process.env.${key.variable}}\`,`] : []),
    ...headers.map(([name, value]) => `${quoteForCode(name)}: ${quoteForCode(value)},`),
  ];
  return [
    "import { expect, test } from 'vitest';",
    '',
    '// npx agent-mailbox-mock exec -- npx vitest run',
    ...notes.map((note) => `// ${note}`),
    `test(${quoteForCode(titleOf(entry))}, async () => {`,
    `  const reply = await fetch(process.env.MAILBOX_BASE_URL + ${quoteForCode(target)}, {`,
    `    method: ${quoteForCode(entry.method)},`,
    ...(fields.length > 0 ? ['    headers: {', ...fields.map((field) => `      ${field}`), '    },'] : []),
    ...(body === null ? [] : [`    body: ${quoteForCode(body)},`]),
    '  });',
    `  expect(reply.status).toBe(${entry.status});`,
    ...(error === undefined ? [] : [`  expect(await reply.json()).toMatchObject({ error: ${quoteForCode(error)} });`]),
    '});',
    '',
  ].join('\n');
}

function titleOf({ operation, method, path, status, code }: RequestEntry): string {
  return `${operation ?? `${method} ${path}`} is answered with ${code === null ? status : `${status} ${code}`}`;
}

/** Returns the error of a reply, which is the same each time, as a success is not. */
function errorOf({ status, reply }: RequestEntry): string | undefined {
  if (status < 400) return undefined;
  try {
    const { error } = JSON.parse(reply.body ?? '');
    return typeof error === 'string' ? error : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a text as a string in JavaScript. */
function quoteForCode(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${inner}'`;
}

/** A request of the journal in a form that can be sent again. */
export interface RequestParts {
  /** The path and query. */
  readonly target: string;
  /** The headers that matter, without the key. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The header with the key, of which the text before the key; `undefined` if no key was sent. */
  readonly key: { readonly header: string; readonly before: string; readonly variable: string } | undefined;
  readonly body: string | null;
  /** What is missing, because the journal does not keep it. */
  readonly notes: readonly string[];
}

/** Headers that a client sets on its own, and those with the key, which the journal masks. */
const LEFT_OUT = [
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'expect', 'user-agent'],
  ...['accept-encoding', 'accept-language', 'x-api-key', 'authorization'],
];

const isLeftOut = (name: string) => LEFT_OUT.includes(name) || name.startsWith('sec-');

/** Splits a request into the parts that are needed to send it again. The key becomes an environment variable. */
export function partsOf({ path, key, principal, request }: RequestEntry): RequestParts {
  const { query, headers, body, bodyBytes } = request;
  const search = new URLSearchParams(query.map((pair) => [...pair])).toString();
  const isBearer = headers['x-api-key'] === undefined;
  return {
    target: path + (search && `?${search}`),
    headers: Object.entries(headers).filter(([name, value]) => !isLeftOut(name) && value !== '*/*'),
    key:
      key === null
        ? undefined
        : {
            header: isBearer ? 'Authorization' : 'X-API-Key',
            before: isBearer ? 'Bearer ' : '',
            variable: `MAILBOX_${principal?.tier.toUpperCase() ?? 'API'}_KEY`,
          },
    body,
    notes: findNotes(body, bodyBytes),
  };
}

function findNotes(body: string | null, bodyBytes: number | null): string[] {
  if (bodyBytes === null || (body === null && bodyBytes > 0)) return ['The body is not in the journal.'];
  if (body === null) return [];
  return [
    ...(new TextEncoder().encode(body).length < bodyBytes ? ['Only the start of the body is in the journal.'] : []),
    ...(/_…|"…"/.test(body) ? ['Keys and passwords in the body are masked; replace what ends with ….'] : []),
  ];
}
