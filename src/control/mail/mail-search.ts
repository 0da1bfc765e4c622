import { z } from 'zod';
import { type InputOf, lazy, type OutputOf } from '../../basics/lazy-schema.ts';
import { compareTexts } from '../../basics/text.ts';
import { FOLDERS } from '../../contract/mail-folders.ts';
import { queryFlag, wholeNumber } from '../../contract/query.ts';
import type { Journals } from '../../service/journal/journals.ts';
import { viewFields } from '../../service/mail/show-mail.ts';
import type { GroupedListName } from '../../world/store/indexes/message-index.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { DraftRow, MessageRow } from '../../world/store/rows.ts';
import { canonicalAddress, type World } from '../../world/store/world.ts';
import { tenantField } from '../call-fields.ts';
import { findWorlds } from '../control-scope.ts';
import { type DetailedMail, listPage, searchCandidates } from '../journal/from-entries/mail-list.ts';
import { SEARCH_HELP } from '../journal/from-entries/search-terms.ts';

const MAX_LIMIT = 200;

const ALL_FOLDERS = ['all', ...FOLDERS] as const;

/** Says what a search may contain, for the OpenAPI document. */
const describeSearch = () =>
  `All parts must match, in any order. ${SEARCH_HELP.map(({ example, finds }) => `\`${example}\`: ${finds}.`).join(' ')}`;

const messageId = () => z.guid('must be the id of a message').toLowerCase();

/** The ids that a search may name. */
const messageIds = () => z.array(messageId()).max(MAX_LIMIT, `must be at most ${MAX_LIMIT} ids`);

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
   * Only mail that matches each part of this text, in any order and letter case: words, `"words that follow each other"`,
   * and words with a meaning of their own, such as `from:dana`, `subject:"order 1042"` and `is:unread`.
   */
  search: z.string().describe(describeSearch()).optional(),
  /** Whether only the latest mail of each thread is listed. */
  threads: z.union([z.boolean(), queryFlag()], 'must be true or false').optional(),
  /** Only the messages with these ids, up to 200, in any folder: `folder` and `threads` do not apply to them. */
  ids: messageIds().optional(),
  /** How many messages to skip. Default: 0. */
  offset: wholeNumber(0, 1_000_000_000).optional(),
  /** How many messages to return at most, up to 200. Default: 50. */
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  /** The id of a message; the field `index` of the reply is the position of this message in the list. */
  indexOf: messageId().optional(),
});

/** The schema of a search for mail. */
export const mailSearch = lazy(() => z.strictObject(searchFields(), 'must be an object'));

/** The schema of a search for mail in a query, where the ids are one text with commas. */
export const mailSearchQuery = () =>
  mailSearch().extend({
    threads: queryFlag().optional(),
    ids: z
      .string()
      .transform((ids) => ids.split(',').map((id) => id.trim()))
      .pipe(messageIds())
      .describe('Ids of messages, with commas between them: only these are found, in any folder.')
      .optional(),
  });

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

/** What a search reads: the mail, and what the journal has of it. */
type SearchScope = { readonly worlds: ReachableWorlds; readonly service: { readonly journals: Journals } };

type ParsedSearch = z.output<ReturnType<typeof mailSearch>>;

/** Searches the mail of all tenants, newest first. @throws {ApiError} NOT_FOUND for an unknown tenant. */
export function searchMail(scope: SearchScope, search: ParsedSearch): MailPage {
  return listPage(listCandidates(scope, search), search.search, search);
}

/** Finds the mail of all tenants that matches, newest first. @throws {ApiError} NOT_FOUND for an unknown tenant. */
export function findMail(scope: SearchScope, search: ParsedSearch): StoredMail[] {
  return searchCandidates(listCandidates(scope, search), search.search);
}

/** Lists the mail that a search chooses by its tenant, its inboxes and its folder, oldest first in each tenant. */
function listCandidates(scope: SearchScope, { tenant, folder = 'all', threads, ids, ...inboxFilter }: ParsedSearch) {
  const listName: GroupedListName = folder === 'all' ? 'visible' : folder;
  const lookUp = createLookUp(scope);
  return findWorlds(scope.worlds, { tenant }).flatMap((world) => {
    const inboxIds = selectInboxes(world, inboxFilter).map(({ id }) => id);
    const index = world.messageIndex;
    const listAll = () => (threads ? index.latestOfThreads(inboxIds, listName) : index.list(inboxIds, listName));
    const named = ids && [...new Set(ids)].flatMap((id) => world.messages.get(id) ?? []);
    const list = named?.filter(({ inboxId }) => inboxIds.includes(inboxId)) ?? listAll();
    let arrival = 0;
    return list.slice(0, list.length).map((message) => {
      // The journal does not have each mail, such as one that was added over IMAP; it came after the one before it.
      arrival = Math.max(arrival, lookUp.arrivals().get(message.id) ?? 0);
      return new StoredMail(world, message, lookUp, arrival);
    });
  });
}

function selectInboxes(world: World, { workspace, inbox }: Pick<MailSearch, 'workspace' | 'inbox'>) {
  return world.inboxes
    .all()
    .filter(({ id, workspaceId }) => (inbox ?? id) === id && (workspace ?? workspaceId) === workspaceId);
}

/** What lists of mail need beside the rows. It is looked up once for all mail, and only if it is needed. */
interface LookUp {
  readonly worlds: ReachableWorlds;
  /** The ids of the mails of samples. */
  sampleIds(): ReadonlySet<string>;
  /** The place of each mail in the journal, by the id of the mail. */
  arrivals(): ReadonlyMap<string, number>;
  /** The names of each inbox, by the id of the inbox. */
  readonly inboxNames: Map<string, readonly string[]>;
}

/** Creates what lists of mail need beside the rows. */
export function createLookUp({ worlds, service }: SearchScope): LookUp {
  let sampleIds: ReadonlySet<string> | undefined;
  let arrivals: ReadonlyMap<string, number> | undefined;
  return {
    worlds,
    inboxNames: new Map(),
    sampleIds() {
      const samples = () => service.journals.of(worlds.owners(), { kinds: ['sample'] });
      sampleIds ??= new Set(samples().flatMap(({ data }) => data.messageIds));
      return sampleIds;
    },
    arrivals() {
      const mails = () => service.journals.of(worlds.owners(), { kinds: ['mail-received', 'mail-sent'] });
      arrivals ??= new Map(mails().map(({ data, mailboxNumber }) => [data.message.id, mailboxNumber]));
      return arrivals;
    },
  };
}

/** A stored mail, as lists and searches see it. It reads nothing before it is asked. */
export class StoredMail implements DetailedMail {
  constructor(
    readonly world: World,
    readonly mail: MessageRow,
    readonly lookUp: LookUp,
    readonly arrival = 0,
  ) {}

  get tenantId() {
    return this.world.id;
  }

  get isSample() {
    return this.lookUp.sampleIds().has(this.mail.id);
  }

  get sandbox() {
    const sandbox = this.lookUp.worlds.sandboxOf(this.world);
    return sandbox && { id: this.world.id, ...sandbox };
  }

  get inbox() {
    const inbox = this.world.inboxes.get(this.mail.inboxId);
    return inbox ? canonicalAddress(inbox) : '';
  }

  get inboxNames() {
    const { inboxId } = this.mail;
    const known = this.lookUp.inboxNames.get(inboxId);
    if (known) return known;
    const further = this.world.addresses.by('inboxId', inboxId).map(({ address }) => address);
    const names = [this.inbox, ...further, inboxId];
    this.lookUp.inboxNames.set(inboxId, names);
    return names;
  }

  get fileCount() {
    return this.world.attachments.by('messageId', this.mail.id).length;
  }

  get messagesInThread() {
    const { inboxId, threadId } = this.mail;
    return this.world.messageIndex.thread(inboxId, threadId)?.messageCount ?? 1;
  }
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
