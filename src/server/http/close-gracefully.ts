import type { Duplex } from 'node:stream';

/** The time that a client has to end its side of a closing connection. */
const LINGER_MS = 2_000;

/**
 * Ends a connection after all written bytes are sent, and keeps reading until the client ends it too. Closing a socket
 * with unread bytes would reset the connection, and the client could lose a reply that it has not read yet.
 */
export function closeGracefully(socket: Duplex, finalData?: string): void {
  if (!socket.writable) return;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.end(finalData);
  socket.resume();
}
