import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ImapTestServer } from './imap-server.ts';

/** Cuts bytes at positions, each of which may be of any size. */
export function cutAt(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const ends = [...new Set(positions.map((at) => at % (bytes.length + 1)))].sort((one, other) => one - other);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** Writes chunks so that the other side gets them one by one, and ends the connection. */
async function writeChunks(socket: Duplex, chunks: readonly Buffer[]): Promise<void> {
  for (const chunk of chunks) {
    if (socket.destroyed || !socket.writable) return;
    socket.write(chunk);
    // The server in this process reads what has arrived before the next chunk is sent.
    await new Promise(setImmediate);
  }
  if (socket.writable) socket.end();
}

/** Sends chunks over an open connection, and returns everything that was received until its end. */
export async function replay(socket: Duplex, chunks: readonly Buffer[]): Promise<string> {
  let received = '';
  socket.on('data', (data: Buffer) => {
    received += data.toString('latin1');
  });
  socket.on('error', () => socket.destroy());
  const closed = once(socket, 'close');
  await writeChunks(socket, chunks);
  await closed;
  return received;
}

/** Returns the tagged results of a session, such as `a OK`. */
export function resultsOf(received: string): string[] {
  return received.match(/^[a-z]\d* (?:OK|NO|BAD)/gm) ?? [];
}

/**
 * Plays a session in chunks on a mailbox that was reset. Returns what the client received, without what is new after
 * each reset, and the mail that is there afterwards.
 */
export async function play(
  { server, imapPort }: ImapTestServer,
  chunks: readonly Buffer[],
  open: (port: number) => Promise<Duplex> = openPlain,
) {
  server.mailbox.reset();
  const received = await replay(await open(imapPort), chunks);
  const { tenants } = server.mailbox.snapshot();
  const mails = tenants.flatMap(({ messages }) => messages.map(({ subject, isRead }) => `${subject} ${isRead}`));
  const drafts = tenants.flatMap((tenant) => tenant.drafts.map(({ subject }) => subject));
  const text = received.replace(/(UIDVALIDITY|APPENDUID|MAILBOXID) \S+/g, '$1 x');
  return JSON.stringify([text, mails, drafts]);
}

/** Opens a connection. It is not ended when the server ends it, so that the server gets all chunks in any case. */
async function openPlain(port: number): Promise<Duplex> {
  return connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
}

/** Starts a proxy that passes on what a client sends in chunks of the given sizes, in turn. Returns its port. */
export async function startCuttingProxy(target: number, sizes: readonly number[]) {
  const sockets = new Set<Socket>();
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    server.pipe(client);
    let turn = 0;
    let done = Promise.resolve();
    client.on('data', (data: Buffer) => {
      done = done.then(async () => {
        for (let at = 0; at < data.length; turn += 1) {
          const end = at + (sizes[turn % sizes.length] ?? 1);
          server.write(data.subarray(at, end));
          at = end;
          await new Promise(setImmediate);
        }
      });
    });
    client.on('end', () => done.then(() => server.end()));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}
