import { z } from 'zod';
import type { InputOf, OutputOf } from '../../basics/input-of.ts';
import { lazy } from '../../basics/lazy.ts';
import { compareTexts } from '../../basics/text.ts';
import { FOLDERS, queryFlag, wholeNumber } from '../../contract/query.ts';
import { ownerField } from '../../service/mail/show-mail.ts';
import { snippetOf } from '../../service/operations/replies/show-message.ts';
import type { GroupedList } from '../../world/store/indexes/message-index.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import { type MessageRow, pick, type ShownFields, shownFields } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
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
  /** Only mail in this folder. Default: `all`, which is everything but the trash. */
  folder: z.enum(ALL_FOLDERS, `must be one of ${ALL_FOLDERS.join(', ')}`).optional(),
  /** Only mail that contains this text in an address, its subject or a body, in any letter case. */
  search: z.string().optional(),
  /** Whether each thread is listed only once, by its latest mail. */
  threads: z.union([z.boolean(), queryFlag()], 'must be true or false').optional(),
  /** How many messages to skip. Default: 0. */
  offset: wholeNumber(0, 1_000_000_000).optional(),
  /** How many messages to return at most, up to 200. Default: 50. */
  limit: wholeNumber(1, MAX_LIMIT).optional(),
  /** The id of a message whose place in the list the reply says as `index`. */
  indexOf: z.guid('must be the id of a message').toLowerCase().optional(),
});

/** The schema of a search for mail. */
export const mailSearch = lazy(() => z.strictObject(searchFields(), 'must be an object'));

/** The schema of a search for mail in a query. */
export const mailSearchQuery = () => mailSearch().extend({ threads: queryFlag().optional() });

/** Selects mail. A mail must match every field that is given; without fields, all match. */
export type MailSearch = Omit<InputOf<ReturnType<typeof searchFields>>, 'threads'> & {
  /** Whether each thread is listed only once, by its latest mail. */
  readonly threads?: boolean | undefined;
};

const COLUMNS = ['inboxId', 'threadId', 'direction', 'from', 'to', 'subject'] as const;
const STATE_COLUMNS = ['receivedAt', 'isRead', 'isStarred'] as const;

type Shown = 'id' | (typeof COLUMNS)[number] | (typeof STATE_COLUMNS)[number];

const columnFields = (): ShownFields<MessageRow, Shown> =>
  shownFields('messages', ['id', ...COLUMNS, ...STATE_COLUMNS]);

const summaryFields = () => ({
  /** The beginning of the text. */
  snippet: z.string(),
  /** How many files it has. */
  attachments: z.int().min(0),
  /** How many messages are in its thread, deleted ones too. */
  messagesInThread: z.int().min(0),
});

/** The schema of a mail in one line of a list. */
export const mailSummary = lazy(() => {
  const { id, receivedAt, isRead, isStarred, ...columns } = columnFields();
  const { snippet, ...counts } = summaryFields();
  return z.strictObject({
    ...{ id, ...ownerField(), ...columns, snippet, receivedAt: receivedAt.describe("By the tenant's clock.") },
    ...{ isRead, isStarred, ...counts },
  });
});

/** A mail in one line of a list. */
export interface MailSummary
  extends OutputOf<
    ReturnType<typeof columnFields> & ReturnType<typeof ownerField> & ReturnType<typeof summaryFields>
  > {}

const pageFields = () => ({
  /** How many messages the search found. */
  total: z.int().min(0),
  /** The place of the message that `indexOf` names; the first is 0. Null if the search did not find it. */
  index: z
    .int()
    .min(0)
    .nullable()
    .describe('The place of the message that `indexOf` names; null if the search did not find it.'),
  /** The messages of this page. */
  messages: (z.array(mailSummary()) as z.ZodType<readonly MailSummary[]>).describe('Newest first.'),
});

/** The schema of a part of the mail that a search found. */
export const pageReply = lazy(() => z.strictObject(pageFields()));

/** A part of the mail that a search found, newest first. */
export interface MailPage extends OutputOf<ReturnType<typeof pageFields>> {}

interface Found {
  readonly world: World;
  readonly message: MessageRow;
}

/** Searches the mail of all tenants, newest first. @throws {ApiError} NOT_FOUND for an unknown tenant. */
export function searchMail(worlds: ReachableWorlds, search: z.output<ReturnType<typeof mailSearch>>): MailPage {
  const { tenant, offset = 0, limit = 50, indexOf } = search;
  const found = findWorlds(worlds, { tenant }).flatMap((world) => selectMail(world, search));
  // All times are UTC in one form, so their texts have the same order.
  found.reverse().sort((a, b) => compareTexts(b.message.receivedAt, a.message.receivedAt));
  const index = indexOf === undefined ? -1 : found.findIndex(({ message }) => message.id === indexOf);
  return {
    total: found.length,
    index: index < 0 ? null : index,
    messages: found.slice(offset, offset + limit).map(({ world, message }) => showMailSummary(world, message)),
  };
}

function selectMail(
  world: World,
  { workspace, inbox, folder = 'all', search, threads }: z.output<ReturnType<typeof mailSearch>>,
) {
  const inboxIds = world.inboxes
    .all()
    .filter(({ id, workspaceId }) => (inbox ?? id) === id && (workspace ?? workspaceId) === workspaceId)
    .map(({ id }) => id);
  const name: GroupedList = folder === 'all' ? 'visible' : folder;
  const index = world.messageIndex;
  const list = threads ? index.latestOfThreads(inboxIds, name) : index.list(inboxIds, name);
  const text = search?.toLowerCase();
  const messages = list.slice(0, list.length).filter((message) => text === undefined || contains(message, text));
  return messages.map((message): Found => ({ world, message }));
}

function contains({ from, to, cc, subject, plainBody, htmlBody }: MessageRow, text: string): boolean {
  return [from, ...to, ...cc, subject, plainBody, htmlBody].some((part) => part?.toLowerCase().includes(text));
}

/** Shows a mail in one line. */
export function showMailSummary(world: World, message: MessageRow): MailSummary {
  const { id, inboxId, threadId } = message;
  return {
    ...{ id, tenantId: world.id, ...pick(message, COLUMNS) },
    snippet: snippetOf(message),
    ...pick(message, STATE_COLUMNS),
    attachments: world.attachments.by('messageId', id).length,
    messagesInThread: world.messageIndex.thread(inboxId, threadId)?.messageCount ?? 1,
  };
}
