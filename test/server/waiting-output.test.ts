import { expect, test } from 'vitest';
import { untilTaken } from '../../src/server/waiting-output.ts';
import { type Conn, createOutput, fill, openConnections, PIECE, takeSome } from '../support/slow-clients.ts';

const KIB = 1024;

test('a client that takes everything at once is not counted, and starts no timer', async () => {
  await using opened = await openConnections(1);
  const [{ socket }] = opened.connections as [Conn];
  const { output, timers } = createOutput({});
  socket.write('hello');
  output.written(socket, 'test');
  expect([output.bytes, timers]).toEqual([0, []]);
});

test('a client that takes nothing for 30 s is closed, with a line in the log', async () => {
  await using opened = await openConnections(1);
  const [{ socket }] = opened.connections as [Conn];
  const { output, lines, check, timers } = createOutput({});
  await fill(socket, 8 * PIECE.length);
  output.written(socket, 'test');
  const waiting = socket.writableLength;
  for (let second = 0; second < 30; second += 1) check();
  expect([socket.destroyed, output.bytes]).toEqual([false, waiting]);
  const client = `${socket.remoteAddress}:${socket.remotePort}`;
  check();
  expect([socket.destroyed, output.bytes, timers]).toEqual([true, 0, []]);
  expect(lines).toEqual([`test: closed ${client}: the client has taken nothing for 30 s (${waiting} bytes)`]);
});

test('a client that takes some bytes in each 30 s is never closed, also of one large piece', async () => {
  await using opened = await openConnections(1);
  const [connection] = opened.connections as [Conn];
  const { socket, client } = connection;
  const { output, check } = createOutput({});
  socket.write(Buffer.alloc(64 * KIB * KIB));
  await new Promise((resolve) => setImmediate(resolve));
  output.written(socket, 'test');
  const wholePiece = socket.writableLength;
  for (let round = 0; round < 4; round += 1) {
    for (let second = 0; second < 29; second += 1) check();
    const before = client.bytesRead;
    client.resume();
    while (client.bytesRead < before + 8 * KIB * KIB) await new Promise((resolve) => setImmediate(resolve));
    client.pause();
  }
  expect([socket.destroyed, socket.writableLength]).toEqual([false, wholePiece]);
});

test('when too much waits for all, the client that has kept the most waiting for the longest time is closed', async () => {
  await using opened = await openConnections(4);
  const [many, few, reader, last] = opened.connections as [Conn, Conn, Conn, Conn];
  const { output, lines, check } = createOutput({ maxBytes: 128 * PIECE.length });
  for (const [{ socket }, pieces] of [
    [many, 40],
    [few, 20],
    [reader, 60],
  ] as const) {
    await fill(socket, pieces * PIECE.length);
    output.written(socket, 'test');
  }
  check();
  check();
  await takeSome(reader);
  expect(lines).toEqual([]);
  // The system decides how much the reader takes, so the last client gets just what makes too much of all.
  const waiting = [many, few, reader].reduce((sum, { socket }) => sum + socket.writableLength, 0);
  await fill(last.socket, 128 * PIECE.length - waiting + PIECE.length);
  output.written(last.socket, 'test');
  expect(opened.connections.map(({ socket }) => socket.destroyed)).toEqual([true, false, false, false]);
  expect(output.bytes).toBeLessThan(128 * PIECE.length);
  expect(lines.join()).toMatch(
    /^test: closed .*: more than 8 MiB wait for all clients, and this one has kept the most/,
  );
});

test('what waits for all is bounded, whatever the number of the clients', async () => {
  await using opened = await openConnections(12);
  const maxBytes = 16 * PIECE.length;
  const { output } = createOutput({ maxBytes });
  for (const { socket } of opened.connections) {
    await fill(socket, 4 * PIECE.length);
    output.written(socket, 'test');
    expect(output.bytes).toBeLessThanOrEqual(maxBytes);
  }
  const waiting = opened.connections.map(({ socket }) => (socket.destroyed ? 0 : socket.writableLength));
  expect(waiting.reduce((sum, bytes) => sum + bytes, 0)).toBe(output.bytes);
});

test('what is in memory for a client and not yet written counts too', async () => {
  await using opened = await openConnections(2);
  const [holder, other] = opened.connections as [Conn, Conn];
  const { output } = createOutput({ maxBytes: KIB * KIB });
  output.written(holder.socket, 'test', KIB * KIB);
  expect(output.bytes).toBe(KIB * KIB);
  output.written(other.socket, 'test', KIB);
  expect([holder.socket.destroyed, other.socket.destroyed, output.bytes]).toEqual([true, false, KIB]);
  output.written(other.socket, 'test', 0);
  expect(output.bytes).toBe(0);
});

test('the next piece may be produced when the client has taken the earlier ones, and not after the end', async () => {
  await using opened = await openConnections(1);
  const [{ socket, client }] = opened.connections as [Conn];
  expect(await untilTaken(socket)).toBe(true);
  await fill(socket, 8 * PIECE.length);
  let isTaken = false;
  const taken = untilTaken(socket).then((result) => {
    isTaken = true;
    return result;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isTaken).toBe(false);
  client.resume();
  expect(await taken).toBe(true);
  client.pause();
  await fill(socket, 8 * PIECE.length);
  const closed = untilTaken(socket);
  socket.destroy();
  expect(await closed).toBe(false);
});

test('a connection to which a library writes is watched until it closes', async () => {
  await using opened = await openConnections(2);
  const [slow, quick] = opened.connections as [Conn, Conn];
  const { output, lines, timers, check } = createOutput({});
  for (const { socket } of [slow, quick]) output.watch(socket, 'test');
  for (let second = 0; second < 40; second += 1) check();
  await fill(slow.socket, 8 * PIECE.length);
  for (let second = 0; second < 32; second += 1) check();
  expect([slow.socket.destroyed, quick.socket.destroyed, lines.length]).toEqual([true, false, 1]);
  quick.socket.destroy();
  check();
  expect(timers).toEqual([]);
});
