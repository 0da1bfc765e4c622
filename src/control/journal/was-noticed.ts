import type { MailboxState } from '../../world/store/state.ts';
import type { RequestEntry } from './request-entry.ts';

/** The part of the payload of a delivery that names its mail. */
interface Notice {
  readonly messageId: string;
}

/** The part of a mailbox or a sandbox that shows whether an agent has noticed a mail. */
export interface NoticeSource {
  /** Returns the requests of the journal. */
  requests(): RequestEntry[];
  /** Returns the webhook deliveries. */
  deliveries(): { readonly payload: Notice; readonly attempts: readonly { readonly status: number | null }[] }[];
  /** Returns the mail since the start. */
  messages(): { readonly id: string; readonly streams?: number }[];
  /** Returns all data. */
  snapshot(): MailboxState;
}

type Arrived = { readonly id: string; readonly threadId: string };

/**
 * Returns whether an agent got an event of one of these mails, or read one of them. The Message-IDs of the mails begin
 * with `idStart`.
 */
export function wasNoticed(observed: NoticeSource, arrived: readonly Arrived[], idStart: string): boolean {
  const ids = arrived.map(({ id }) => id);
  const mails = observed.snapshot().tenants.flatMap(({ messages }) => messages);
  // A list of threads has no ids of messages. There, the id of a thread shows that the mail was listed, but only if the
  // thread has no other mail. Otherwise, the thread may have been listed before the mail arrived.
  const hasNoOtherMail = (thread: string) => mails.every(({ id, threadId }) => threadId !== thread || ids.includes(id));
  const threadIds = arrived.map(({ threadId }) => threadId).filter(hasNoOtherMail);
  const texts = [...ids, ...threadIds, idStart];
  const hasId = (text: string | null) => text !== null && texts.some((wanted) => text.includes(wanted));
  return (
    observed.requests().some(({ status, path, reply }) => isSuccess(status) && (hasId(path) || hasId(reply.body))) ||
    observed.messages().some(({ id, streams = 0 }) => streams > 0 && ids.includes(id)) ||
    observed
      .deliveries()
      .some(({ payload, attempts }) => hasId(payload.messageId) && attempts.some(({ status }) => isSuccess(status)))
  );
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}
