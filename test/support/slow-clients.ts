import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Line } from '../../src/control/journal/entry-line.ts';
import { type OutputLimits, WaitingOutput } from '../../src/server/waiting-output.ts';
import { createEnvironment } from '../../src/world/environment.ts';

/** What `fill` writes at once. */
export const PIECE = Buffer.alloc(64 * 1024);

/** The two ends of a connection. */
export interface Conn {
  readonly socket: Socket;
  readonly client: Socket;
}

/** Creates limits whose checks a test runs itself. */
export function createOutput(limits: Partial<OutputLimits>) {
  const timers: (() => void)[] = [];
  const lines: string[] = [];
  const startTimer = (_: number, callback: () => void) => {
    timers.push(callback);
    return () => {};
  };
  const log = (line: Line | (() => Line)) => {
    const { name, text } = typeof line === 'function' ? line() : line;
    lines.push(`${name}: ${text}`);
  };
  const output = new WaitingOutput(createEnvironment(), log, limits, startTimer);
  return {
    output,
    lines,
    /** How many timers wait. */
    timers,
    check: () => {
      for (const callback of timers.splice(0)) callback();
    },
  };
}

/** Opens connections. The clients read nothing until they are resumed. */
export async function openConnections(count: number) {
  const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const connections: Conn[] = [];
  for (let left = count; left > 0; left -= 1) {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    client.on('error', () => {});
    const [socket] = await accepted;
    socket.on('error', () => {});
    connections.push({ socket, client });
  }
  return {
    connections,
    async [Symbol.asyncDispose]() {
      for (const { socket, client } of connections) {
        socket.destroy();
        client.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}

/** Writes until the system takes no more and `waiting` bytes wait in this process. */
export async function fill(socket: Socket, waiting: number): Promise<void> {
  do {
    while (socket.writableLength < waiting) socket.write(PIECE);
    // The system may take more when it has had its turn.
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  } while (socket.writableLength < waiting);
}

/** Reads at the client until the socket has changed by a piece. */
export async function takeSome({ socket, client }: Conn): Promise<void> {
  const before = socket.writableLength;
  client.resume();
  while (socket.writableLength === before) await new Promise((resolve) => setImmediate(resolve));
  client.pause();
}
