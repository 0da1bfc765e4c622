import { tryParseJson } from '../../basics/foreign-json.ts';
import { splitAddresses } from '../../contract/addresses/email-address.ts';
import type { OperationId } from '../../contract/operations.ts';
import { findIdsIn } from '../../service/pipeline/shown-mail.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import { personOf, recipientsOf } from './addresses.ts';
import { type JudgedMail, readSeenText, writersOf } from './cause.ts';
import { type Evidence, isAfter } from './evidence.ts';

/** A request or a command that was to change something and changed nothing. */
export type RefusedEntry = JournalEntry<'refused-request'>;

/** What a refused request or command was to do, as its operation and its body show it. */
export type Attempt =
  | {
      readonly what: 'send';
      readonly mail: JudgedMail;
      /** The mail in the fields of a request, for its texts. */
      readonly fields: MailFields;
    }
  | { readonly what: 'create' | 'change'; readonly object: 'webhook' | 'key'; readonly url: string | undefined }
  | {
      readonly what: 'remove';
      readonly object: 'message' | 'inbox' | 'workspace' | 'tenant';
      readonly id: string;
    };

/** The fields of a mail in the body of a request. */
export interface MailFields {
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly plainBody: string;
  readonly htmlBody: string;
}

const OBJECTS: { readonly [Id in OperationId]?: Omit<Extract<Attempt, { object: 'webhook' | 'key' }>, 'url'> } = {
  createWebhook: { what: 'create', object: 'webhook' },
  updateWebhook: { what: 'change', object: 'webhook' },
  createWorkspaceKey: { what: 'create', object: 'key' },
  rotateInboxKey: { what: 'create', object: 'key' },
};

const REMOVALS: { readonly [Id in OperationId]?: Extract<Attempt, { what: 'remove' }>['object'] } = {
  deleteMessage: 'message',
  deleteInbox: 'inbox',
  deleteWorkspace: 'workspace',
  deleteTenant: 'tenant',
};

/**
 * Returns a function that says what a refused request or command was to do; `undefined` if it was to do nothing that the
 * oracles of samples judge. It needs the evidence, because a reply names only the mail that it answers, and the sending
 * of a draft only the draft.
 */
export function createAttemptReader(evidence: Evidence): (entry: RefusedEntry) => Attempt | undefined {
  const mails = evidence.journal({ kinds: ['mail-received', 'mail-sent'] });
  const atStart = evidence.journal({ kinds: ['mail-at-start'] });
  const changes = evidence.journal({ kinds: ['change'] });
  const mailById = new Map([...atStart, ...mails].map((mail) => [mail.data.mail.id, mail]));

  /** Returns the persons to whom the answer to a mail goes: those who got it, if the inbox itself has sent it. */
  const findAnswered = (id: string, isToAll: boolean): readonly string[] => {
    const original = mailById.get(id)?.data;
    if (!original) return [];
    if (original.mail.direction === 'outbound') return recipientsOf(original);
    const [writer] = writersOf(original);
    const others = isToAll ? recipientsOf(original).filter((person) => person !== personOf(original.inbox)) : [];
    return [...(writer === undefined ? [] : [writer]), ...others];
  };

  return (entry) => {
    const { operation, path, principal, request } = entry.data;
    const ids = findIdsIn(path);
    const [inboxId = principal?.inboxId ?? undefined, id = ''] = ids;
    const body = readFields(request.body);
    const fields = mailFieldsOf(body);
    const send = (changed: MailFields = fields, more: readonly string[] = [], originalIds: readonly string[] = []) => {
      const named = recipientsOf({ mail: { to: [...changed.to], cc: [...changed.cc], bcc: [...changed.bcc] } });
      const mail: JudgedMail = {
        entry,
        inboxId,
        recipients: [...new Set([...more, ...named])],
        subject: changed.subject,
        text: readSeenText(changed),
        references: [],
        originalIds,
        forwardOf: undefined,
        files: [],
      };
      return { what: 'send', mail, fields: changed } as const;
    };

    // A refused recipient is a mail to this recipient alone: what else the mail has, the program has not sent yet.
    const { protocol, command } = entry.data;
    if (protocol === 'smtp' && command === 'RCPT TO') return send({ ...fields, to: [path] });
    if (protocol === 'smtp' && command === 'DATA') return send({ ...fields, ...readSubmitted(request.body, path) });
    switch (operation) {
      case 'sendMessage':
        return send();
      case 'replyToMessage':
        return send(fields, findAnswered(id, false), [id]);
      case 'replyAllToMessage':
        return send(fields, findAnswered(id, true), [id]);
      case 'forwardMessage': {
        const { mail } = send(fields, [], [id]);
        return { what: 'send', mail: { ...mail, forwardOf: mailById.get(id)?.data.mail.messageIdHeader }, fields };
      }
      case 'sendDraft': {
        const row = changes.findLast((change) => change.data.id === id && isAfter(entry, change))?.data.row;
        const draft = (row ?? {}) as Partial<Record<string, unknown>>;
        const original = asText(draft.replyToMessageId);
        const written = mailFieldsOf(draft);
        const isToNobody = written.to.length + written.cc.length + written.bcc.length === 0;
        return send(written, isToNobody ? findAnswered(original, false) : [], original === '' ? [] : [original]);
      }
      default: {
        const object = operation && OBJECTS[operation];
        if (object) return { ...object, url: typeof body.url === 'string' ? body.url : undefined };
        const removed = operation && REMOVALS[operation];
        const removedId = ids.at(-1);
        return removed && removedId !== undefined ? { what: 'remove', object: removed, id: removedId } : undefined;
      }
    }
  };
}

/** Returns the fields of a mail in a body or a draft; a field that is no text, or no list of texts, is empty. */
function mailFieldsOf({ to, cc, bcc, subject, plainBody, htmlBody }: Partial<Record<string, unknown>>): MailFields {
  return {
    to: listOf(to),
    cc: listOf(cc),
    bcc: listOf(bcc),
    subject: asText(subject),
    plainBody: asText(plainBody),
    htmlBody: asText(htmlBody),
  };
}

/** Reads the submitted mail of a refused DATA, as far as the journal has kept it. The recipients are those of the envelope. */
export function readSubmitted(body: string | null, path: string): Partial<MailFields> {
  const [head = '', ...rest] = (body ?? '').replace(/^DATA\r?\n/, '').split(/\r?\n\r?\n/);
  const [, subject = ''] = /^Subject:[ \t]*(.*(?:\r?\n[ \t].*)*)/im.exec(head) ?? [];
  return { to: path.split(', '), subject, plainBody: rest.join('\n\n') };
}

/** Reads the fields of a JSON body. Of a body that was cut, it reads the texts and the lists of texts that are whole. */
export function readFields(body: string | null): Readonly<Record<string, unknown>> {
  const parsed = tryParseJson(body ?? '{}');
  if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>;
  const fields: Record<string, unknown> = {};
  for (const [, name = '', value = ''] of (body ?? '').matchAll(FIELD)) fields[name] ??= tryParseJson(value);
  return fields;
}

/** Matches a field of JSON whose value is a text or a list of texts. */
const FIELD = /"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|\[\s*(?:"(?:[^"\\]|\\.)*"\s*(?:,\s*)?)*\])/g;

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the addresses of a field: a text, in which several have commas between them, or a list of texts. */
function listOf(value: unknown): string[] {
  return [value].flat().flatMap((each) => (typeof each === 'string' ? splitAddresses(each) : []));
}
