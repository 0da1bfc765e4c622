import type { MessageRow } from '../../world/store/rows.ts';
import { snippetOf } from './snippet.ts';

/**
 * The views of a mail: what each shows of its row, in this order. A view has further fields of its own, such as the
 * files. The details of a mail are shown together with its summary.
 */
export const VIEWS = {
  mail: [
    'id',
    'tenantId',
    'inboxId',
    'threadId',
    'direction',
    'from',
    'to',
    'cc',
    'bcc',
    'replyTo',
    'subject',
    'plainBody',
    'htmlBody',
    'messageIdHeader',
    'inReplyTo',
    'receivedAt',
  ],
  summary: [
    'id',
    'tenantId',
    'inboxId',
    'threadId',
    'direction',
    'from',
    'to',
    'subject',
    'snippet',
    'receivedAt',
    'isRead',
    'isStarred',
    'bouncedAt',
  ],
  details: [
    'cc',
    'bcc',
    'replyTo',
    'plainBody',
    'htmlBody',
    'messageIdHeader',
    'inReplyTo',
    'references',
    'isArchived',
    'deletedAt',
  ],
} as const;

/** A view in `VIEWS`. */
export type View = keyof typeof VIEWS;

/** The names of what a view shows. */
export type NamesIn<Of extends View> = (typeof VIEWS)[Of][number];

/** What a view takes from the row of a mail, or from a mail of which the same is known. */
export type ViewedMail<Of extends View> = Pick<MessageRow, Exclude<NamesIn<Of>, 'tenantId' | 'snippet'>> &
  Pick<MessageRow, 'plainBody' | 'htmlBody'>;

/** Returns what a view shows of a mail. */
export function showView<Of extends View>(view: Of, tenantId: string, mail: ViewedMail<Of>) {
  const names: readonly NamesIn<View>[] = VIEWS[view];
  const columns = mail as ViewedMail<View>;
  const shown = names.map((name) => {
    if (name === 'tenantId') return [name, tenantId];
    return [name, name === 'snippet' ? snippetOf(mail) : columns[name]];
  });
  return Object.fromEntries(shown) as Pick<MessageRow & { tenantId: string; snippet: string }, NamesIn<Of>>;
}
