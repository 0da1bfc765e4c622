import type { Duplex } from 'node:stream';

/** How long a connection that is being closed may still send. */
const LINGER_MS = 2_000;

/**
 * Ends a connection once everything written has left, and reads on until the client has ended it too: closing while
 * bytes wait unread resets the connection, and a reply that the client has not read yet is lost with it.
 */
export function closeGracefully(socket: Duplex, lastWords?: string): void {
  if (!socket.writable) return;
  const cut = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(cut));
  socket.end(lastWords);
  socket.resume();
}
