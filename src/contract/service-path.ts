import { sendOperations } from './operations/sending.ts';

/** Returns whether a path belongs to the service, and not to the control plane. There may be no operation for it. */
export function isServicePath(path: string): boolean {
  return /^\/(?:v1|health)(?:[/?#]|$)/.test(path);
}

/** Paths to which clients of other services send a mail. */
const SEND_PATHS = /^\/v1\/(?:messages|emails|send|messages\/send|inboxes\/[^/]+\/messages)$/;

/** Returns the request that sends a mail, if a client seems to want that; otherwise `undefined`. */
export function suggestSending({ method, path }: { readonly method: string; readonly path: string }) {
  return method === 'POST' && SEND_PATHS.test(path) ? `POST ${sendOperations.sendMessage.path}` : undefined;
}

/** The start of every path of the service, except `/health`. */
export const VERSION_PATH = '/v1';
