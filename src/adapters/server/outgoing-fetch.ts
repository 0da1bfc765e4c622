import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import type { Environment } from '../../environment.ts';
import { RefusedError } from '../../outgoing.ts';
import type { ReceiverRules } from './receiver-rules.ts';

/** What calls receivers, behind the guard. */
export interface OutgoingFetch {
  readonly fetch: Environment['fetch'];
  /** Breaks off what is on its way; from then on every call is refused. */
  close(): Promise<void>;
}

/** How long a receiver may take to accept a connection. */
const CONNECT_MS = 10_000;

/**
 * Creates a `fetch` that looks at each address it is about to connect to. What is checked is what is connected to, so
 * a name that leads elsewhere the next time it is resolved gains nothing. It follows no redirect, and calls receivers
 * at ports too that browsers call bad.
 */
export function createOutgoingFetch(rules: ReceiverRules): OutgoingFetch {
  const agent = new Agent({
    connect(options, done) {
      const host = options.hostname.replace(/^\[|\]$|\.$/g, '');
      resolve(host, rules).then(
        (addresses) => connectTo(addresses)(options, done),
        (error: Error) => done(error, null),
      );
    },
  });
  let isClosed = false;

  return {
    async fetch(url, init) {
      if (isClosed) throw new RefusedError('The emulator is being closed.');
      return toResponse(await request(url, { ...init, dispatcher: agent } as never));
    },
    close() {
      isClosed = true;
      return agent.destroy();
    },
  };
}

/** The highest that a response can have. */
const MAX_STATUS = 599;

/** Statuses that a response with a body must not have. */
const WITHOUT_BODY = [204, 205, 304];

function toResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Response {
  const fields = Object.entries(headers).flatMap(([name, value = '']) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  if (statusCode > MAX_STATUS) {
    body.on('error', () => {}).destroy();
    throw new Error(`The receiver answered ${statusCode}, which is no HTTP status.`);
  }
  const isEmpty = WITHOUT_BODY.includes(statusCode);
  if (isEmpty) body.resume();
  return new Response(isEmpty ? null : (body.body as unknown as ReadableStream), {
    status: statusCode,
    headers: fields,
  });
}

/** The addresses of a host that may be called. @throws {RefusedError} when there is none. */
async function resolve(host: string, rules: ReceiverRules): Promise<LookupAddress[]> {
  const family = isIP(host);
  const addresses = family === 0 ? await lookUp(host, rules) : [{ address: host, family }];
  const hindrances = addresses.map(({ address }) => rules(host, address));
  const allowed = addresses.filter((_, index) => hindrances[index] === undefined);
  if (allowed.length > 0) return allowed;
  throw new RefusedError(hindrances[0] ?? `${host} leads to no address.`);
}

/** A name that leads nowhere is refused if it could not be called anyway. */
async function lookUp(host: string, rules: ReceiverRules): Promise<LookupAddress[]> {
  try {
    return await lookup(host, { all: true });
  } catch (error) {
    const hindrance = rules(host);
    throw hindrance === undefined ? error : new RefusedError(hindrance);
  }
}

/** A connector that knows no other address than these: it takes its `lookup` when it is built, and at no other time. */
function connectTo(addresses: LookupAddress[]): buildConnector.connector {
  const options = { timeout: CONNECT_MS, lookup: answerWith(addresses) };
  return buildConnector(options as buildConnector.BuildOptions);
}

function answerWith(addresses: LookupAddress[]): LookupFunction {
  return (_hostname, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, addresses);
    else done(null, first?.address ?? '', first?.family);
  };
}
