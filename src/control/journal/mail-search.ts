import { z } from 'zod';
import { type InputOf, lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import { compareTexts } from '../../basics/text.ts';
import { FOLDERS, queryFlag, wholeNumber } from '../../contract/query.ts';
import { showView, viewFields } from '../../service/mail/show-mail.ts';
import type { GroupedListName } from '../../world/store/indexes/message-index.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { DraftRow, MessageRow } from '../../world/store/rows.ts';
import { canonicalAddress, type World } from '../../world/store/world.ts';
import { tenantField } from '../../world/target-fields.ts';
import { findWorlds } from '../control-scope.ts';

const MAX_LIMIT = 200;

const ALL_FOLDERS = ['all', ...FOLDERS] as const;

const searchFields = () => ({
  /** Only mail of the tenant with this id. */
  tenant: tenantField().optional(),
  /** Only mail of the inboxes of the workspace with this id. */
  workspace: z.guid('must be the id of a workspace').toLowerCase().optional(),
  /** Only mail of the inbox with this id. */
  inbox: z.guid('must be the id of an inbox').toLowerCase().optional(),
  /** Only mail in this folder. Default: `all`, which is all mail except the trash. */
  folder: z.enum(ALL_FOLDERS, `must be one of ${ALL_FOLDERS.join(', ')}`).optional(),
  /**
   * Only mail that contains this text in an address, its subject or a body, in any letter case. The text may contain
   * `from:dana`, `to:` (also cc and bcc), `subject:"order 1042"`, `has:attachment` and `is:unread`; all parts of the
   * text must match.
   */
  search: z.string().optional(),
  /** Whether only the latest mail of each thread is listed. */
  threads: z.union([z.boolean(), queryFlag()], 'must be true or false').optional(),
  /** How many messages to skip. Default: 0. */
  offset: wholeNumber(0, 1_000_000_000).optional(),
  /** How many messages to return at most, up to 200. Default: 50. */
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  /** The id of a message; the field `index` of the reply is the position of this message in the list. */
  indexOf: z.guid('must be the id of a message').toLowerCase().optional(),
});

/** The schema of a search for mail. */
export const mailSearch = lazy(() => z.strictObject(searchFields(), 'must be an object'));

/** The schema of a search for mail in a query. */
export const mailSearchQuery = () => mailSearch().extend({ threads: queryFlag().optional() });

/** The schema of a selection of mail to remove, also in a query. */
export const mailSelection = lazy(() =>
  mailSearch().pick({ tenant: true, workspace: true, inbox: true, folder: true, search: true }),
);

/** Selects mail to remove, with fields of a search. */
export type MailSelection = Pick<MailSearch, 'tenant' | 'workspace' | 'inbox' | 'folder' | 'search'>;

/** The schema of a filter of drafts, also in a query. */
export const draftFilter = lazy(() =>
  mailSearch().pick({ tenant: true, workspace: true, inbox: true, offset: true, limit: true }),
);

/** Selects drafts. A draft must match every field that is given; without fields, all match. */
export type DraftFilter = Pick<MailSearch, 'tenant' | 'workspace' | 'inbox' | 'offset' | 'limit'>;

/** A draft with everything that is known about it. */
export interface DraftDetails extends Omit<DraftRow, 'raw'> {
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The address of its inbox. */
  readonly inbox: string;
  /** The id of the thread of the message that it answers; null if it answers none. */
  readonly threadId: string | null;
}

/** A page of the list of drafts, newest first. */
export interface DraftPage {
  /** How many drafts match the filter. */
  readonly total: number;
  /** The drafts of this page; the draft that was changed last comes first. */
  readonly drafts: readonly DraftDetails[];
}

const addresses = () => z.array(z.string());

/** The schema of a page of the list of drafts. */
export const draftsReply = lazy(() =>
  z.strictObject({
    total: z.int(),
    drafts: z.array(
      z.strictObject({
        id: z.string(),
        tenantId: z.string(),
        inboxId: z.string(),
        inbox: z.string(),
        to: addresses(),
        cc: addresses(),
        bcc: addresses(),
        subject: z.string().nullable(),
        plainBody: z.string().nullable(),
        htmlBody: z.string().nullable(),
        replyToMessageId: z.string().nullable(),
        threadId: z.string().nullable().describe('The thread of the message that it answers.'),
        createdAt: z.string(),
        updatedAt: z.string(),
      }),
    ),
  }),
);

/** Selects mail. A mail must match every field that is given; without fields, all match. */
export type MailSearch = Omit<InputOf<ReturnType<typeof searchFields>>, 'threads'> & {
  /** Whether only the latest mail of each thread is listed. */
  readonly threads?: boolean | undefined;
};

const summaryFields = () => ({
  /** How many files it has. */
  attachments: z.int().min(0),
  /** How many messages are in its thread, including deleted messages. */
  messagesInThread: z.int().min(0),
});

/** The schema of the summary of a mail, as a list shows it. */
export const mailSummary = lazy(() => z.strictObject({ ...viewFields('summary'), ...summaryFields() }));

/** The summary of a mail, as a list shows it. */
export interface MailSummary
  extends OutputOf<ReturnType<typeof viewFields<'summary'>> & ReturnType<typeof summaryFields>> {}

const pageFields = () => ({
  /** How many messages the search found. */
  total: z.int().min(0),
  /** The position of the message that `indexOf` names; the first position is 0. Null if the search did not find it. */
  index: z
    .int()
    .min(0)
    .nullable()
    .describe('The position of the message that `indexOf` names; null if the search did not find it.'),
  /** The messages of this page. */
  messages: (z.array(mailSummary()) as z.ZodType<readonly MailSummary[]>).describe('Newest first.'),
  /** The texts that `search` looked for, in lower case, so that hits can be marked. */
  words: z.array(z.string()).describe('The texts that `search` looked for, in lower case, to mark hits.'),
});

/** The schema of a page of the mail that a search found. */
export const pageReply = lazy(() => z.strictObject(pageFields()));

/** A page of the mail that a search found, newest first. */
export interface MailPage extends OutputOf<ReturnType<typeof pageFields>> {}

type Found = { readonly world: World; readonly message: MessageRow };

type ParsedSearch = z.output<ReturnType<typeof mailSearch>>;

/** Searches the mail of all tenants, newest first. @throws {ApiError} NOT_FOUND for an unknown tenant. */
export function searchMail(worlds: ReachableWorlds, search: ParsedSearch): MailPage {
  const { offset = 0, limit = 50, indexOf } = search;
  const found = findMail(worlds, search);
  const index = indexOf === undefined ? -1 : found.findIndex(({ message }) => message.id === indexOf);
  return {
    total: found.length,
    index: index < 0 ? null : index,
    messages: found.slice(offset, offset + limit).map(({ world, message }) => showMailSummary(world, message)),
    words: parseTerms(search.search).flatMap(({ text }) => text || []),
  };
}

/** Lists the drafts of all tenants, newest first. @throws {ApiError} NOT_FOUND for an unknown tenant. */
export function listDrafts(worlds: ReachableWorlds, filter: z.output<ReturnType<typeof draftFilter>>): DraftPage {
  const { tenant, offset = 0, limit = 50 } = filter;
  const found = findWorlds(worlds, { tenant }).flatMap((world) =>
    selectInboxes(world, filter).flatMap((inbox) =>
      world.drafts.by('inboxId', inbox.id).map((draft) => ({ world, inbox, draft })),
    ),
  );
  found.reverse().sort((a, b) => compareTexts(b.draft.updatedAt, a.draft.updatedAt));
  const page = found.slice(offset, offset + limit);
  return {
    total: found.length,
    drafts: page.map(({ world, inbox, draft }) => showDraft(world, canonicalAddress(inbox), draft)),
  };
}

function showDraft(world: World, inbox: string, { raw: _, ...draft }: DraftRow): DraftDetails {
  const threadId = world.messages.get(draft.replyToMessageId ?? '')?.threadId ?? null;
  return { ...draft, tenantId: world.id, inbox, threadId };
}

function selectInboxes(world: World, { workspace, inbox }: Pick<MailSearch, 'workspace' | 'inbox'>) {
  return world.inboxes
    .all()
    .filter(({ id, workspaceId }) => (inbox ?? id) === id && (workspace ?? workspaceId) === workspaceId);
}

/** Finds the mail of all tenants that matches, newest first. @throws {ApiError} NOT_FOUND for an unknown tenant. */
export function findMail(worlds: ReachableWorlds, search: ParsedSearch): Found[] {
  const found = findWorlds(worlds, { tenant: search.tenant }).flatMap((world) => findMailIn(world, search));
  // All times are UTC texts in the same format, so the order of the texts is the order of the times.
  return found.reverse().sort((a, b) => compareTexts(b.message.receivedAt, a.message.receivedAt));
}

function findMailIn(world: World, { folder = 'all', search, threads, ...inboxFilter }: ParsedSearch) {
  const inboxIds = selectInboxes(world, inboxFilter).map(({ id }) => id);
  const listName: GroupedListName = folder === 'all' ? 'visible' : folder;
  const index = world.messageIndex;
  const list = threads ? index.latestOfThreads(inboxIds, listName) : index.list(inboxIds, listName);
  const terms = parseTerms(search);
  const found = list.slice(0, list.length).map((message): Found => ({ world, message }));
  return found.filter((each) => terms.every(({ field, text }) => FIELDS[field](each, text)));
}

/** One condition of a search: a field, and a text in lower case. The text is empty if the field needs no text. */
type Term = { readonly field: keyof typeof FIELDS; readonly text: string };

const isInAny = (text: string, ...parts: readonly (string | null)[]) =>
  parts.some((part) => part?.toLowerCase().includes(text));

/**
 * For each field of a search, whether a mail matches it. The field `text` is what remains of a search after all other
 * fields were removed.
 */
const FIELDS = {
  'from:': ({ message }: Found, text: string) => isInAny(text, message.from),
  'to:': ({ message: { to, cc, bcc } }: Found, text: string) => isInAny(text, ...to, ...cc, ...bcc),
  'subject:': ({ message }: Found, text: string) => isInAny(text, message.subject),
  'has:attachment': ({ world, message }: Found) => world.attachments.by('messageId', message.id).length > 0,
  'is:unread': ({ message }: Found) => !message.isRead,
  text: ({ message: { from, to, cc, subject, plainBody, htmlBody } }: Found, text: string) =>
    isInAny(text, from, ...to, ...cc, subject, plainBody, htmlBody),
};

/**
 * Matches a field at the start of a word, with the text of the field if it needs one. This text is a word, or several
 * words in quotation marks.
 */
const FIELD_WITH_TEXT = /(?<!\S)(?:(from:|to:|subject:)("[^"]*"|\S+)|(has:attachment|is:unread)(?!\S))/g;

/** Splits the text of a search into its fields and the remaining text. */
function parseTerms(search = ''): Term[] {
  const lower = search.toLowerCase();
  const fields = Array.from(lower.matchAll(FIELD_WITH_TEXT), ([, field, text = '', flag]) => {
    return { field: (field ?? flag) as Term['field'], text: text.replaceAll('"', '') };
  });
  const remaining = fields.length === 0 ? lower : lower.replace(FIELD_WITH_TEXT, '').replace(/\s+/g, ' ').trim();
  return remaining === '' ? fields : [...fields, { field: 'text', text: remaining }];
}

/** Returns the summary of a mail. */
export function showMailSummary(world: World, message: MessageRow): MailSummary {
  const { id, inboxId, threadId } = message;
  return {
    ...showView('summary', world.id, message),
    attachments: world.attachments.by('messageId', id).length,
    messagesInThread: world.messageIndex.thread(inboxId, threadId)?.messageCount ?? 1,
  };
}
