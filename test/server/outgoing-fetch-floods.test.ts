import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createOutgoingFetch, createReceiverRules } from '../../src/server/outgoing-fetch.ts';

const OK = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const LONG = 'x'.repeat(8_000);

/** Responses that never end: how each begins, and what follows again and again. */
const FLOODS: Readonly<Record<string, readonly [start: string, next: string]>> = {
  'interim responses': ['', 'HTTP/1.1 100 Continue\r\n\r\n'],
  'interim responses with headers': ['', `HTTP/1.1 103 Early Hints\r\nLink: <${LONG}>\r\n\r\n`],
  'a status line': ['HTTP/1.1 200 ', LONG],
  'a header': ['HTTP/1.1 200 OK\r\nX-Long: ', LONG],
  headers: ['HTTP/1.1 200 OK\r\n', 'X: y\r\n'],
  'chunk extensions': [OK, `1;x=${LONG}\r\nx\r\n`],
  'small chunks': [OK, '1\r\nx\r\n'],
  'the size of a chunk': [OK, '0'.repeat(8_000)],
  trailers: [`${OK}0\r\n`, 'X: y\r\n'],
  'a body': [OK, `${LONG.length.toString(16)}\r\n${LONG}\r\n`],
};

/** Starts a receiver that sends a text again and again, as long as it can. */
async function startFlood([start, next]: readonly [string, string]) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    const text = next.repeat(Math.ceil(16_384 / next.length));
    const flood = () => {
      while (!socket.destroyed && socket.write(text));
    };
    socket.on('error', () => {}).on('drain', flood);
    socket.once('data', () => {
      socket.write(start);
      flood();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    /** Resolves when the caller has closed the connection. */
    closed: async () => {
      for (const socket of sockets) if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    },
    [Symbol.asyncDispose]: end,
  };
}

/** Reads everything of a response; the result is how many bytes its body had, or why it could not be read. */
async function readAll(response: Promise<Response>): Promise<number | string> {
  try {
    let bytes = 0;
    for await (const chunk of ((await response).body ?? []) as AsyncIterable<Uint8Array>) bytes += chunk.length;
    return bytes;
  } catch (error) {
    return (error as Error).message;
  }
}

test.for(Object.entries(FLOODS))('a receiver that sends %s without an end is left', async ([, flood]) => {
  await using receiver = await startFlood(flood);
  const { fetch } = createOutgoingFetch(createReceiverRules([]));
  expect(await readAll(fetch(receiver.url, { method: 'POST', body: 'x' }))).toEqual(expect.any(String));
  await receiver.closed();
});

test('the limit for one response begins anew for each response of a connection', async () => {
  const body = 'x'.repeat(200_000);
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(20);
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('data', () => socket.write(`${interim}HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { fetch, close } = createOutgoingFetch(createReceiverRules([]));
  for (let count = 0; count < 4; count += 1) expect(await readAll(fetch(url, { method: 'POST' }))).toBe(body.length);
  expect(connections).toBe(1);
  await close();
  server.close();
});
