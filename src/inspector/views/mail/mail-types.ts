import type { ReplyTo } from '../../../control/table/client.ts';

/** A mail in one line of the list. */
export type MailLine = ReplyTo<'searchMail'>['messages'][number];

/** A mail with everything that is known about it. */
export type MailDetails = ReplyTo<'getMail'>;
