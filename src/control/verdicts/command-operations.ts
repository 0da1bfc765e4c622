import { splitAddresses } from '../../contract/addresses/email-address.ts';
import type { OperationId } from '../../contract/operations.ts';
import { isRefused } from '../journal/from-entries/call-of.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import type { RequestEntry } from '../journal/request-entry.ts';
import { readSubmitted } from './attempts.ts';
import type { Evidence } from './evidence.ts';
import { NOT_KEPT } from './not-kept.ts';

/** A command of SMTP or IMAP that does, or was to do, what an operation of the API does. */
export interface CommandRequest {
  readonly entry: RequestEntry;
  readonly operation: OperationId;
  /** What the body of a request for this operation would say. What is not known is `NOT_KEPT`. */
  readonly body: unknown;
}

/** What is known of the body of a mail before its text was sent: only a recipient, or nothing. */
const UNKNOWN_MAIL = {
  to: NOT_KEPT,
  cc: NOT_KEPT,
  bcc: NOT_KEPT,
  subject: NOT_KEPT,
  plainBody: NOT_KEPT,
  htmlBody: NOT_KEPT,
};

/** The commands of IMAP that change messages, and the operations that do the same. */
const IMAP_OPERATIONS: Readonly<Record<string, OperationId>> = {
  STORE: 'updateMessage',
  EXPUNGE: 'deleteMessage',
  CLOSE: 'deleteMessage',
};

/** Returns the commands of logged-in programs that do what an operation does, also those that were refused. */
export function readCommandRequests(evidence: Evidence): CommandRequest[] {
  const sent = new Map(evidence.journal({ kinds: ['mail-sent'] }).map(({ data }) => [data.mail.id, data.mail]));
  const changes = evidence.journal({ kinds: ['change'] });
  return evidence.journal({ kinds: ['mail-command'] }).flatMap((command): CommandRequest[] => {
    const { data: entry } = command;
    const { path, principal, messages, request } = entry;
    if (principal === null || entry.protocol === 'http') return [];
    const { command: name } = entry;
    if (entry.protocol === 'smtp') {
      // A recipient that was accepted is part of the mail that follows.
      const isSubmission = name === 'DATA' || (isRefused(entry) && (name === 'RCPT TO' || name === 'MAIL FROM'));
      if (!isSubmission) return [];
      const mail = sent.get(messages[0] ?? '');
      let body: object = UNKNOWN_MAIL;
      if (mail) body = mail;
      else if (name === 'RCPT TO') body = { ...UNKNOWN_MAIL, to: [path] };
      else if (name === 'DATA') body = { ...UNKNOWN_MAIL, ...readSubmitted(request.body, path) };
      return [{ entry, operation: 'sendMessage', body }];
    }
    const changing = name.replace(/^UID /, '');
    const operation = changing === 'APPEND' ? findStoredOperation(request.body) : IMAP_OPERATIONS[changing];
    // CLOSE removes messages only if the journal names some.
    if (!operation || (changing === 'CLOSE' && entry.read.length === 0)) return [];
    const isOwn = ({ cause }: JournalEntry<'change'>) =>
      cause?.tenantId === command.tenantId && cause.number === command.number;
    const draft =
      operation === 'createDraft' ? changes.find((each) => each.data.object === 'draft' && isOwn(each)) : undefined;
    return [{ entry, operation, body: draft?.data.row ?? NOT_KEPT }];
  });
}

/** Returns the operation that does what an APPEND does: a mail in the folder of the drafts is a draft. */
function findStoredOperation(command: string | null): OperationId | undefined {
  return /^\S+ APPEND "?Drafts"?(?:\s|$)/i.test(command ?? '') ? 'createDraft' : undefined;
}

/** The fields of a body that name recipients: one address, several with commas between them, or a list. */
const RECIPIENT_FIELDS = ['to', 'cc', 'bcc'] as const;

/**
 * Returns the other forms in which a body can say the same: each with all its recipients as a list, as one text, or, if it
 * has only one, without a list. Returns nothing for a body without recipients.
 */
export function formsOfBody(body: unknown): object[] {
  if (typeof body !== 'object' || body === null) return [];
  const lists = RECIPIENT_FIELDS.flatMap((name) => {
    const value = (body as Readonly<Record<string, unknown>>)[name];
    const all = [value].flat();
    const isKnown = value !== undefined && all.every((each) => typeof each === 'string');
    return isKnown ? [[name, all.flatMap((each) => splitAddresses(String(each)))] as const] : [];
  });
  if (lists.length === 0) return [];
  return [
    { ...body, ...Object.fromEntries(lists) },
    { ...body, ...Object.fromEntries(lists.map(([name, list]) => [name, list.join(', ')])) },
  ];
}
