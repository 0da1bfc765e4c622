import { showSize } from '../../basics/size.ts';
import { type BehaviourReader, type BehaviourValues, createSilentReader } from '../../contract/behaviours.ts';
import { ApiError, createResetError } from '../../contract/errors.ts';
import type { EventKind } from '../../contract/events.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import { sizeOfMailRow } from '../../world/store/database.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { AttachmentRow, MessageRow } from '../../world/store/rows.ts';
import { canonicalAddress, type World } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { BounceDetails, MailEvent, MailSource } from '../journal/entry-data.ts';
import type { MailEntryKind } from '../journal/entry-kinds.ts';
import type { Journals } from '../journal/journals.ts';
import type { LoopGuard } from './outgoing/loop-guard.ts';

/** A file that is attached to a mail. */
export type AttachedFile = Pick<AttachmentRow, 'filename' | 'contentType' | 'sizeBytes' | 'content'>;

/** The fields that `storeMessage` sets. */
type SetFields = 'isStarred' | 'isArchived' | 'deletedAt' | 'bouncedAt' | 'receivedAt';

/**
 * Stores a message that arrives or is sent now, with its attachments. `state` replaces the values that this function
 * sets itself, such as `isStarred`.
 */
export function storeMessage(
  world: World,
  fields: Omit<MessageRow, SetFields>,
  files: readonly AttachedFile[],
  state: Partial<Pick<MessageRow, SetFields>> = {},
): MessageRow {
  const { environment } = world;
  const initial = { isStarred: false, isArchived: false, deletedAt: null, bouncedAt: null };
  const receivedAt = timestampNow(environment);
  const message = world.messages.insert({ ...fields, ...initial, receivedAt, ...state });
  for (const { filename, contentType, sizeBytes, content } of files) {
    const id = newId(environment);
    world.attachments.insert({ id, messageId: message.id, filename, contentType, sizeBytes, content });
  }
  return message;
}

/** The kind of the entry for an event about a message. */
const KIND_OF_ENTRY: Readonly<Record<EventKind, MailEntryKind>> = {
  'message.received': 'mail-received',
  'message.sent': 'mail-sent',
  'message.bounced': 'mail-bounced',
};

/** What an event about a message says besides the message: its routes, what it forwards, or what a report says. */
type EventDetails = Pick<MailEvent, 'routes' | 'forwardOf' | 'bounce'>;

/** Adds an event about a message to the journal. Deliveries and streams learn of it there. */
export function publish(
  { journals, source = 'test' }: Pick<MailContext, 'journals' | 'source'>,
  world: World,
  event: EventKind,
  message: MessageRow,
  details: EventDetails = {},
): void {
  const id = `evt_${newId(world.environment)}`;
  const { inboxId } = message;
  const inbox = world.inboxes.get(inboxId);
  const data: MailEvent = {
    id,
    event,
    workspaceId: inbox?.workspaceId ?? '',
    inboxId,
    inbox: inbox ? canonicalAddress(inbox) : '',
    message,
    attachments: world.attachments.by('messageId', message.id),
    source,
    ...details,
  };
  journals.publish(world, KIND_OF_ENTRY[event], Object.freeze(data));
}

/** Marks a message as bounced, unless it is marked already. Publishes `message.bounced` in both cases. */
export function markBounced(context: MailContext, world: World, { id }: MessageRow, bounce?: BounceDetails): void {
  const bouncedAt = world.messages.get(id)?.bouncedAt ?? timestampNow(world.environment);
  const bounced = world.messages.update(id, { bouncedAt });
  publish(context, world, 'message.bounced', bounced, bounce && { bounce });
}

/**
 * Checks that the storage has space for more mail; `bytes` is the size of the new mail.
 *
 * @throws {ApiError} STORAGE_FULL
 */
export function checkRoom({ worlds }: Pick<MailContext, 'worlds'>, bytes: number): void {
  const used = worlds.mailbox.countMailBytes({ needed: bytes });
  if (used + bytes <= worlds.mailbox.maxMailBytes) return;
  const [room, limit] = [worlds.mailbox.maxMailBytes - used, worlds.mailbox.maxMailBytes].map(showSize);
  throw new ApiError(
    'STORAGE_FULL',
    `The message does not fit in the storage: it needs ${showSize(bytes)}, and ${room} of ${limit} are free. Reset ` +
      `the emulator, remove checkpoints, or ${worlds.mailbox.limitAdvice}.`,
  );
}

/** Returns the size of a mail as stored in one inbox, in bytes. */
export function sizeOfMail<Mail extends { readonly attachments: readonly AttachedFile[] }>(mail: Mail): number {
  const { attachments, ...message } = mail;
  return attachments.reduce((sum, file) => sum + sizeOfMailRow(file), sizeOfMailRow(message));
}

/** The addresses that belong to no inbox, and at which a correspondent answers. */
export interface OutsideAddresses {
  /** Returns whether a correspondent reads the mail that a tenant sends to this bare address. */
  has(address: string, world: World): boolean;
  /** Accepts a mail that an inbox has sent to this bare address. */
  receive(world: World, message: MessageRow, address: string): void;
}

/** The dependencies of sending and receiving mail. */
export interface MailContext extends BehaviourReader {
  readonly worlds: ReachableWorlds;
  readonly journals: Journals;
  readonly loops: LoopGuard;
  readonly correspondents: OutsideAddresses;
  /** What causes the mail. Default: a test. */
  readonly source?: MailSource;
  /** The epoch in which the work began. A mail that arrives late must not change the state after a reset. */
  readonly epoch: number;
}

/**
 * Returns the context for mail outside of a request: for mail of a tenant or, without `world`, for mail to all tenants.
 * `source` is what causes the mail.
 * `epoch` is the epoch in which the work began. The context does not record which behaviours are read.
 */
export function mailContextOf(
  service: Omit<MailContext, 'worlds' | 'epoch' | 'source' | keyof BehaviourReader> & {
    readonly worlds: Worlds;
    readonly behaviours: BehaviourValues;
  },
  source: MailSource,
  world: World | undefined,
  epoch: number = service.worlds.epoch,
): MailContext {
  const { worlds, journals, loops, correspondents, behaviours } = service;
  const reachable = world ? worlds.reachableFrom(world) : worlds;
  return { worlds: reachable, journals, loops, correspondents, source, epoch, ...createSilentReader(behaviours) };
}

/** Throws if a world that a mail would change was reset after the work for the mail began. @throws {ApiError} */
export function checkEpoch({ worlds, epoch }: Pick<MailContext, 'worlds' | 'epoch'>, world: World): void {
  if (worlds.mailbox.isOver(epoch, world)) throw createResetError();
}
