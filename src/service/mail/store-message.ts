import { showSize } from '../../basics/size.ts';
import { type BehaviourReader, type BehaviourValues, createSilentReader } from '../../contract/behaviours.ts';
import { ApiError, createResetError } from '../../contract/errors.ts';
import type { EventKind } from '../../contract/events.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import type { BounceDetails, EventBus } from '../../world/event-bus.ts';
import { sizeOfMailRow } from '../../world/store/database.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import type { AttachmentRow, MessageRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
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

/** Publishes an event about a message. For a message that bounced, `bounce` is what the delivery report says. */
export function publish(
  { events }: MailContext,
  world: World,
  kind: EventKind,
  message: MessageRow,
  bounce?: BounceDetails,
): void {
  const id = `evt_${newId(world.environment)}`;
  const { inboxId } = message;
  const workspaceId = world.inboxes.get(inboxId)?.workspaceId ?? '';
  events.publish({ id, kind, world, workspaceId, inboxId, message, ...(bounce && { bounce }) });
}

/** Marks a message as bounced, unless it is marked already. Publishes `message.bounced` in both cases. */
export function markBounced(context: MailContext, world: World, { id }: MessageRow, details?: BounceDetails): void {
  const bouncedAt = world.messages.get(id)?.bouncedAt ?? timestampNow(world.environment);
  const bounced = world.messages.update(id, { bouncedAt });
  publish(context, world, 'message.bounced', bounced, details);
}

/**
 * Checks that the storage has space for more mail; `bytes` is the size of the new mail.
 *
 * @throws {ApiError} STORAGE_FULL
 */
export function checkRoom({ worlds, assume }: Pick<MailContext, 'worlds' | 'assume'>, bytes: number): void {
  const used = worlds.whole.countMailBytes({ needed: bytes });
  if (used + bytes <= worlds.whole.maxMailBytes) return;
  assume('requests.storage-limit');
  const [room, limit] = [worlds.whole.maxMailBytes - used, worlds.whole.maxMailBytes].map(showSize);
  throw new ApiError(
    'STORAGE_FULL',
    `The message does not fit in the storage: it needs ${showSize(bytes)}, and ${room} of ${limit} are free. Reset ` +
      `the emulator, remove checkpoints, or ${worlds.whole.limitAdvice}.`,
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
  readonly events: EventBus;
  readonly loops: LoopGuard;
  readonly correspondents: OutsideAddresses;
  /** The epoch in which the work began. A mail that arrives late must not change the state after a reset. */
  readonly epoch: number;
}

/**
 * Returns the context for mail outside of a request: for mail of a tenant or, without `world`, for mail to all tenants.
 * `epoch` is the epoch in which the work began. The context does not record the used behaviours.
 */
export function mailContextOf(
  service: Omit<MailContext, 'worlds' | 'epoch' | keyof BehaviourReader> & {
    readonly worlds: Worlds;
    readonly behaviours: BehaviourValues;
  },
  world: World | undefined,
  epoch: number = service.worlds.epoch,
): MailContext {
  const { worlds, events, loops, correspondents, behaviours } = service;
  const reachable = world ? worlds.reachableFrom(world) : worlds;
  return { worlds: reachable, events, loops, correspondents, epoch, ...createSilentReader(behaviours) };
}

/** Throws if a world that a mail would change was reset after the work for the mail began. @throws {ApiError} */
export function checkEpoch({ worlds, epoch }: Pick<MailContext, 'worlds' | 'epoch'>, world: World): void {
  if (worlds.whole.isOver(epoch, world)) throw createResetError();
}
