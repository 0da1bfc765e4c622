import fc from 'fast-check';
import { request } from './raw-http.ts';

/** One part of what a client sends at once, with the expected reply if everything before it was in order. */
interface Part {
  readonly text: string;
  readonly status: number;
  /** Another status, where what stands before it may make it unreadable. */
  readonly or?: number;
  readonly method?: 'HEAD';
  /** Whether nothing after it is answered. */
  readonly ends?: true;
}

const KEY = 'X-API-Key: tk_acme_tenant_key';
const FOREIGN = 'Host: x';
const PREFLIGHT = ['Origin: http://localhost', 'Access-Control-Request-Method: GET'];
const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
const HANDSHAKE = [...WEBSOCKET, `Sec-WebSocket-Key: ${'A'.repeat(22)}==`];
const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'];

/** Requests of every kind. */
const PARTS: readonly Part[] = [
  { text: request('GET /health'), status: 200 },
  { text: request('GET /v1/webhooks', [KEY]), status: 200 },
  { text: request('GET /v1/webhooks'), status: 401 },
  { text: request('GET /__mock/openapi.json'), status: 200 },
  { text: request('HEAD /health'), status: 200, method: 'HEAD' },
  { text: request('HEAD /v1/webhooks'), status: 401, method: 'HEAD' },
  { text: request('HEAD /', [FOREIGN]), status: 403, method: 'HEAD' },
  { text: request('GET /', [FOREIGN]), status: 403 },
  { text: request('GET http://x/'), status: 400 },
  { text: request('TRACE /health'), status: 405 },
  { text: request('OPTIONS /v1/webhooks', PREFLIGHT), status: 204 },
  { text: request('OPTIONS /health'), status: 204 },
  { text: request('POST /unknown', ['Content-Length: 2'], '{}'), status: 404 },
  { text: request('POST /v1/webhooks', [KEY, 'Content-Length: 2'], '{}'), status: 400 },
  { text: request('POST /v1/webhooks', [KEY, 'Expect: 100-continue', 'Content-Length: 2'], '{}'), status: 400 },
  { text: request('GET /health', ['Expect: miracles']), status: 200 },
  { text: request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'), status: 400 },
  { text: request('GET /health', H2C), status: 200, ends: true },
  { text: request('GET /health', ['Connection: close']), status: 200, ends: true },
  { text: request('GET /health HTTP/1.0', ['Connection: close']), status: 200, ends: true },
  { text: request('GET /health', WEBSOCKET), status: 200, ends: true },
  { text: request('GET /v1/ws', HANDSHAKE), status: 401, ends: true },
  { text: request('GET /v1/ws', [...HANDSHAKE, FOREIGN]), status: 403, ends: true },
  { text: request('GET /v1/ws', [...HANDSHAKE, KEY]), status: 101, ends: true },
  { text: request('CONNECT a:1'), status: 405, ends: true },
  { text: request('CONNECT a:1', [FOREIGN]), status: 403, ends: true },
  { text: request('FOO /health'), status: 405, or: 400, ends: true },
  { text: request('HEAD /health', [': x']), status: 400, method: 'HEAD', ends: true },
  { text: request('HEAD /health', [`X-Large: ${'a'.repeat(20_000)}`]), status: 431, method: 'HEAD', ends: true },
  { text: 'Hello\r\n\r\n', status: 400, ends: true },
  { text: request('POST /v1/webhooks', [KEY, 'Transfer-Encoding: chunked'], 'zz\r\n'), status: 400, ends: true },
];

/** What a client sends on one connection, and how it ends: it reads to the end, or disconnects at once. */
export interface Pipeline {
  readonly parts: readonly Part[];
  /** How many of the last bytes are not sent. */
  readonly cut: number;
  /** Where the bytes are split into two packets, in hundredths of the whole. */
  readonly split: number;
  readonly leaves: boolean;
}

/** Random pipelines. */
export const PIPELINE: fc.Arbitrary<Pipeline> = fc.record({
  parts: fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 8 }),
  cut: fc.oneof(fc.constant(0), fc.nat(300)),
  split: fc.nat(100),
  leaves: fc.boolean(),
});

/** The bytes of a pipeline, as text. */
export function textOf({ parts, cut }: Pipeline): string {
  const text = parts.map((part) => part.text).join('');
  return text.slice(0, Math.max(1, text.length - cut));
}

/** Describes a pipeline for a failure message, with its parts shortened. */
export function describePipeline({ parts, ...rest }: Pipeline): string {
  return JSON.stringify({ ...rest, parts: parts.map(({ text }) => text.replace(/a{20,}/, '…')) });
}

/** The statuses that a reply to a part that was cut, or cannot be read, may have besides its own. */
const REFUSALS = [400, 405, 431];

/**
 * Returns what is wrong with the bytes that a client received for its whole pipeline, or `undefined` if nothing
 * is: each whole request has its reply, in turn, and what was cut one at most.
 */
export function findFault(pipeline: Pipeline, received: Buffer): string | undefined {
  const { whole, rest } = dividePipeline(pipeline);
  let bytes = received;
  for (const { status, or, method } of whole) {
    const reply = readReply(bytes, method);
    if (typeof reply === 'string') return reply;
    if (reply.status !== status && reply.status !== or) return `It answered ${reply.status} where ${status} was due.`;
    if (status === 101) return undefined;
    bytes = bytes.subarray(reply.length);
  }
  if (bytes.length === 0) return undefined;
  if (!rest) return `It answered once more: ${JSON.stringify(bytes.toString('latin1', 0, 300))}`;
  return findFaultOfCut(rest, bytes);
}

function findFaultOfCut(part: Part, bytes: Buffer): string | undefined {
  const reply = readReply(bytes);
  if (typeof reply === 'string') return reply;
  if (reply.length !== bytes.length) return 'It answered what was cut more than once.';
  return [part.status, ...REFUSALS].includes(reply.status) ? undefined : `It answered ${reply.status} to what was cut.`;
}

/** The parts that arrive whole and are answered, and the one that is cut. */
function dividePipeline(pipeline: Pipeline): { readonly whole: Part[]; readonly rest?: Part } {
  let left = textOf(pipeline).length;
  const whole: Part[] = [];
  for (const part of pipeline.parts) {
    if (left < part.text.length) return left > 0 ? { whole, rest: part } : { whole };
    left -= part.text.length;
    whole.push(part);
    if (part.ends) break;
  }
  return { whole };
}

/** The next reply, with the interim replies before it; a text if there is no well-formed reply. */
function readReply(bytes: Buffer, method?: 'HEAD'): { readonly status: number; readonly length: number } | string {
  const head =
    /^(?:HTTP\/1\.1 (?:100 Continue|102 Processing)\r\n\r\n)*(HTTP\/1\.1 (\d{3}) [^\r\n]+\r\n(?:[\w-]+: [^\r\n]*\r\n)*\r\n)/.exec(
      bytes.toString('latin1'),
    );
  if (!head?.[1]) return `No reply is ${JSON.stringify(bytes.toString('latin1', 0, 300))}`;
  const status = Number(head[2]);
  const isWithoutBody = method === 'HEAD' || status === 204 || status === 101;
  const length = head[0].length + (isWithoutBody ? 0 : Number(/content-length: (\d+)/i.exec(head[1])?.[1]));
  return bytes.length >= length ? { status, length } : `A reply is cut: ${JSON.stringify(head[0])}`;
}
