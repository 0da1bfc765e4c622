import { z } from 'zod';
import { addressContains } from '../../basics/domain-name.ts';
import { type InputOf, lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import { compareTexts } from '../../basics/text.ts';
import { FOLDERS, queryFlag, wholeNumber } from '../../contract/query.ts';
import type { Journals } from '../../service/journal/journals.ts';
import { showView, viewFields } from '../../service/mail/show-mail.ts';
import type { GroupedListName } from '../../world/store/indexes/message-index.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { DraftRow, MessageRow } from '../../world/store/rows.ts';
import { canonicalAddress, type World } from '../../world/store/world.ts';
import { tenantField } from '../call-fields.ts';
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
   * Only mail that contains each word of this text in an address, its subject or a body, in any order and letter case.
   * Words in quotation marks must follow each other. The text may contain `from:dana`, `to:` (also cc and bcc),
   * `subject:"order 1042"`, `inbox:` (an address), `sandbox:` (a name, a domain or an id), `has:attachment`, `is:unread` and
   * `is:sample`; all of them must match.
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

/** What a search reads: the mail, and what the journal has of it. */
type SearchScope = { readonly worlds: ReachableWorlds; readonly service: { readonly journals: Journals } };

type ParsedSearch = z.output<ReturnType<typeof mailSearch>>;

/** Searches the mail of all tenants, newest first. @throws {ApiError} NOT_FOUND for an unknown tenant. */
export function searchMail(scope: SearchScope, search: ParsedSearch): MailPage {
  const { offset = 0, limit = 50, indexOf } = search;
  const found = findMail(scope, search);
  const index = indexOf === undefined ? -1 : found.findIndex(({ message }) => message.id === indexOf);
  return {
    total: found.length,
    index: index < 0 ? null : index,
    messages: found.slice(offset, offset + limit).map(({ world, message }) => showMailSummary(world, message)),
    words: parseTerms(search.search).flatMap(({ field, text }) => (MARKED_FIELDS.has(field) ? text : [])),
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
export function findMail(scope: SearchScope, search: ParsedSearch): Found[] {
  const terms = parseTerms(search.search);
  const context = createContext(scope);
  const found: Found[] = [];
  for (const world of findWorlds(scope.worlds, { tenant: search.tenant })) {
    for (const message of listMail(world, search)) {
      const each = { world, message };
      if (matchesAll(each, terms, context)) found.push(each);
    }
  }
  // All times are UTC texts in the same format, so the order of the texts is the order of the times.
  return found.reverse().sort((a, b) => compareTexts(b.message.receivedAt, a.message.receivedAt));
}

/** Lists the mail that a search chooses by its inboxes and its folder. */
function listMail(world: World, { folder = 'all', threads, ...inboxFilter }: ParsedSearch): readonly MessageRow[] {
  const inboxIds = selectInboxes(world, inboxFilter).map(({ id }) => id);
  const listName: GroupedListName = folder === 'all' ? 'visible' : folder;
  const index = world.messageIndex;
  const list = threads ? index.latestOfThreads(inboxIds, listName) : index.list(inboxIds, listName);
  return list.slice(0, list.length);
}

/** One condition of a search: a field, and a text in lower case. The text is empty if the field needs no text. */
type Term = { readonly field: keyof typeof FIELDS; readonly text: string };

/** What the conditions of a search need beside the mail. It is read once for all mail, and only if it is needed. */
interface SearchContext {
  /** Returns whether a text is a part of the name of the sandbox of a world, or the beginning of its domain or id. */
  isInSandbox(world: World, text: string): boolean;
  /** Returns the addresses of an inbox, and its id. */
  addressesOf(world: World, inboxId: string): readonly string[];
  /** Returns whether a sample created the message. */
  isSample(id: string): boolean;
}

function createContext({ worlds, service }: SearchScope): SearchContext {
  const addressesByInbox = new Map<string, readonly string[]>();
  let sampleIds: ReadonlySet<string> | undefined;
  return {
    isInSandbox(world, text) {
      const sandbox = worlds.sandboxOf(world);
      if (!sandbox) return false;
      return isInAny(text, sandbox.name) || [sandbox.domain, world.id].some((each) => each.startsWith(text));
    },
    addressesOf(world, inboxId) {
      const known = addressesByInbox.get(inboxId);
      if (known) return known;
      const inbox = world.inboxes.get(inboxId);
      const further = world.addresses.by('inboxId', inboxId).map(({ address }) => address);
      const addresses = [inbox ? canonicalAddress(inbox) : '', ...further, inboxId];
      addressesByInbox.set(inboxId, addresses);
      return addresses;
    },
    isSample(id) {
      sampleIds ??= new Set(
        service.journals.of(worlds.owners(), { kinds: ['sample'] }).flatMap(({ data }) => data.messageIds),
      );
      return sampleIds.has(id);
    },
  };
}

const isIn = (text: string, whole: string | null) => whole?.toLowerCase().includes(text) ?? false;

const isInAny = (text: string, ...wholes: readonly (string | null)[]) => wholes.some((whole) => isIn(text, whole));

/** For each field of a search, whether a mail matches it. The field `text` is a word, or a text in quotation marks. */
const FIELDS = {
  'from:': ({ message }: Found, text: string) => addressContains(message.from, text),
  'to:': ({ message: { to, cc, bcc } }: Found, text: string) =>
    [...to, ...cc, ...bcc].some((each) => addressContains(each, text)),
  'subject:': ({ message }: Found, text: string) => isInAny(text, message.subject),
  'inbox:': ({ world, message }: Found, text: string, context: SearchContext) =>
    isInAny(text, ...context.addressesOf(world, message.inboxId)),
  'sandbox:': ({ world }: Found, text: string, context: SearchContext) => context.isInSandbox(world, text),
  'has:attachment': ({ world, message }: Found) => world.attachments.by('messageId', message.id).length > 0,
  'is:unread': ({ message }: Found) => !message.isRead,
  'is:sample': ({ message }: Found, _text: string, context: SearchContext) => context.isSample(message.id),
  // There is one for each word of a search, so it makes no list of the texts.
  text: ({ message: { from, to, cc, subject, plainBody, htmlBody } }: Found, text: string) =>
    isIn(text, subject) ||
    isIn(text, plainBody) ||
    addressContains(from, text) ||
    to.some((each) => addressContains(each, text)) ||
    cc.some((each) => addressContains(each, text)) ||
    isIn(text, htmlBody),
};

/** The fields whose text is marked where a mail contains it. */
const MARKED_FIELDS: ReadonlySet<Term['field']> = new Set<Term['field']>(['from:', 'to:', 'subject:', 'text']);

function matchesAll(found: Found, terms: readonly Term[], context: SearchContext): boolean {
  return terms.every(({ field, text }) => FIELDS[field](found, text, context));
}

/** Matches a part of a search: a field that needs a text, a field without one, a text in quotation marks, or a word. */
const TERM =
  /(from:|to:|subject:|inbox:|sandbox:)("[^"]*"?|\S+)|(has:attachment|is:unread|is:sample)(?!\S)|("[^"]*"|\S+)/g;

/** Splits a search into its conditions. All of them must match, in any order. */
function parseTerms(search = ''): Term[] {
  const terms = Array.from(search.toLowerCase().matchAll(TERM), ([, field, fieldText, flag, word = '']): Term => {
    const text = (fieldText ?? word).replaceAll('"', '').trim();
    return { field: (field ?? flag ?? 'text') as Term['field'], text };
  });
  const known = new Set<string>();
  return terms.filter(({ field, text }) => {
    const isNew = !known.has(`${field}${text}`) && (text !== '' || FLAGS.has(field));
    known.add(`${field}${text}`);
    return isNew;
  });
}

/** The fields that need no text. */
const FLAGS: ReadonlySet<Term['field']> = new Set<Term['field']>(['has:attachment', 'is:unread', 'is:sample']);

/** Returns the summary of a mail. */
export function showMailSummary(world: World, message: MessageRow): MailSummary {
  const { id, inboxId, threadId } = message;
  return {
    ...showView('summary', world.id, message),
    attachments: world.attachments.by('messageId', id).length,
    messagesInThread: world.messageIndex.thread(inboxId, threadId)?.messageCount ?? 1,
  };
}
