import { sendOperations } from './operations/sending.ts';

/** Returns whether a path belongs to the service, and not to the control plane. There may be no operation for it. */
export function isServicePath(path: string): boolean {
  return /^\/(?:v1|health)(?:[/?#]|$)/.test(path);
}

/** Paths to which clients of other services send a mail. */
const SEND_PATHS = /^\/v1\/(?:messages|emails|send|messages\/send|inboxes\/[^/]+\/messages)$/;

/** Paths at which clients of other services answer or forward a mail. */
const ANSWER_PATHS = /^\/v1\/(?:inboxes\/[^/]+\/)?(?:messages|emails)\/[^/]+\/(reply|reply-all|forward)$/;

const ANSWERS: Readonly<Record<string, string>> = {
  reply: `a mail is answered by POST ${sendOperations.replyToMessage.path}`,
  'reply-all': `a mail is answered to all by POST ${sendOperations.replyAllToMessage.path}`,
  forward: `a mail is forwarded by POST ${sendOperations.forwardMessage.path}`,
};

/** Returns by which request a mail is sent, answered or forwarded, if a client seems to want that and the path is wrong. */
export function suggestSending({ method, path }: { readonly method: string; readonly path: string }) {
  if (method !== 'POST') return undefined;
  if (SEND_PATHS.test(path)) return `a mail is sent by POST ${sendOperations.sendMessage.path}`;
  return ANSWERS[ANSWER_PATHS.exec(path)?.[1] ?? ''];
}

/** The start of every path of the service, except `/health`. */
export const VERSION_PATH = '/v1';
