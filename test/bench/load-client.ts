// A child process: a client that only counts bytes, on raw sockets, so that it is never slower than a server. For each
// load that its parent sends, it answers how many microseconds one request took.
import { connect } from 'node:net';

/** Requests that keep a server busy: each of the connections has one request under way at a time. */
export interface Load {
  readonly port: number;
  /** The bytes of the request. */
  readonly request: string;
  readonly requests: number;
  readonly connections: number;
}

process.once('disconnect', () => process.exit());

process.on('message', async (load: Load) => {
  const startedAt = performance.now();
  let left = load.requests;
  const isAnotherDue = () => left-- > 0;
  await Promise.all(Array.from({ length: load.connections }, () => keepBusy(load, isAnotherDue)));
  process.send?.(((performance.now() - startedAt) * 1000) / load.requests);
});
process.send?.('ready');

function keepBusy({ port, request }: Load, isAnotherDue: () => boolean): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let received: Buffer = Buffer.alloc(0);
  return new Promise((resolve, reject) => {
    const next = () => {
      if (isAnotherDue()) socket.write(request);
      else socket.end(resolve);
    };
    socket.on('connect', next).on('error', reject);
    socket.on('data', (chunk) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (!isComplete(received)) return;
      received = Buffer.alloc(0);
      next();
    });
  });
}

/** Returns whether a reply has arrived to its end. @throws if it is not a success. */
function isComplete(received: Buffer): boolean {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const head = received.toString('latin1', 0, headEnd);
  if (!head.startsWith('HTTP/1.1 20')) throw new Error(`A server answered ${received.toString('latin1', 0, 300)}`);
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined
    ? received.subarray(-7).toString('latin1') === '\r\n0\r\n\r\n'
    : received.length === headEnd + 4 + Number(length);
}
