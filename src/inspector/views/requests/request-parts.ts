import type { RequestEntry } from '../../../control/journal/request-entry.ts';

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
