import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { clearTimeout, setTimeout } from '../basics/real-timers.ts';

/** A server for HTTP, SMTP or IMAP. */
export interface Listener {
  /** Starts to listen and returns the port. */
  listen(port: number, host: string): Promise<number>;
  close(): Promise<void>;
}

/** When a server closes, its requests and connections have this time to end on their own. */
export const CLOSE_MS = 300;

/** Creates a listener for a server. `beforeDestroy` is called before the connections that are still open are closed. */
export function createListener(server: Server, graceMs = CLOSE_MS, beforeDestroy?: () => void): Listener {
  // The sockets are collected here, because Node does not list those that were upgraded.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    // Without this listener, an error on a connection would end the process, and not only close the connection.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
  });
  const end = async () => {
    const closed = once(server, 'close');
    server.close();
    const timer = setTimeout(() => {
      beforeDestroy?.();
      for (const socket of sockets) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(timer);
  };
  let closing: Promise<void> | undefined;
  return {
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    },
    close() {
      closing ??= end();
      return closing;
    },
  };
}
