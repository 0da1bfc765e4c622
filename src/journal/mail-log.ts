import { ApiError } from '../contract/errors.ts';
import type { EventBus } from '../events/event-bus.ts';
import type { MessageRow } from '../store/rows.ts';
import type { World } from '../store/world.ts';
import type { Worlds } from '../store/worlds.ts';
import { RecentList } from './recent-list.ts';

/** How many messages of each tenant are remembered. */
const SIZE = 1_000;

/** A message that arrived or was sent. */
export interface LoggedMail {
  /** Its position among the messages of all tenants. */
  readonly number: number;
  readonly world: World;
  readonly message: MessageRow;
  /** To how many event streams its event was sent. */
  readonly streams: number;
}

/** What is remembered of a message. */
type Entry = Pick<LoggedMail, 'number' | 'streams'> & { readonly messageId: string };

/** Somebody who waits for mail. */
export interface MailListener {
  /** The only tenant whose mail matters; `undefined` for all. */
  readonly tenant: string | undefined;
  /** Receives each message. */
  arrived(mail: LoggedMail): void;
  /** Is called with the reason, such as `The mailbox was reset`, when no mail can come any more. */
  ended(reason: string): void;
}

/** Remembers which messages arrived or were sent since the start, apart from those of the fixture. */
export class MailLog {
  readonly #worlds: Worlds;
  readonly #lists = new Map<string, RecentList<Entry>>();
  readonly #listeners = new Set<MailListener>();
  #count = 0;

  /** Starts to log. An event that a test triggers has overrides and is skipped. */
  constructor(worlds: Worlds, events: EventBus) {
    this.#worlds = worlds;
    events.subscribe(({ kind, tenantId, message, overrides, streams = 0 }) => {
      const world = worlds.get(tenantId);
      if (world && overrides === undefined && kind !== 'message.bounced') this.#add({ world, message, streams });
    });
    worlds.onRemoved(({ id }, kind) => {
      this.#lists.delete(id);
      this.end(kind === 'tenant' ? 'The tenant was deleted' : 'The sandbox was closed', id);
    });
  }

  /**
   * Returns the messages of one tenant or of all, oldest first, without those that were deleted.
   *
   * @throws {ApiError} NOT_FOUND for an unknown tenant.
   */
  list(tenantId?: string): LoggedMail[] {
    if (tenantId !== undefined && !this.#worlds.get(tenantId)) {
      throw new ApiError('NOT_FOUND', 'There is no tenant with this id.');
    }
    const ids = tenantId === undefined ? [...this.#lists.keys()] : [tenantId];
    return ids.flatMap((id) => this.#listOf(id)).sort((a, b) => a.number - b.number);
  }

  /** Adds a listener and returns a function that removes it. */
  listen(listener: MailListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Forgets every message and ends every wait, or only those of one tenant. */
  reset(tenantId?: string): void {
    if (tenantId === undefined) this.#lists.clear();
    else this.#lists.delete(tenantId);
    this.end('The mailbox was reset', tenantId);
  }

  /** Ends every wait, or only those for mail of one tenant, with a reason. */
  end(reason: string, tenantId?: string): void {
    for (const listener of [...this.#listeners]) {
      if (tenantId === undefined || listener.tenant === tenantId) listener.ended(reason);
    }
  }

  #add(added: Omit<LoggedMail, 'number'>): void {
    const { world, message, streams } = added;
    this.#count += 1;
    const list = this.#lists.get(world.id) ?? new RecentList(SIZE);
    this.#lists.set(world.id, list);
    list.push({ number: this.#count, messageId: message.id, streams });
    const mail = { ...added, number: this.#count };
    for (const listener of [...this.#listeners]) {
      if (listener.tenant === undefined || listener.tenant === world.id) listener.arrived(mail);
    }
  }

  #listOf(tenantId: string): LoggedMail[] {
    const world = this.#worlds.get(tenantId);
    const entries = this.#lists.get(tenantId)?.all() ?? [];
    return entries.flatMap(({ messageId, ...entry }) => {
      const message = world?.messages.get(messageId);
      return world && message?.deletedAt === null ? [{ ...entry, world, message }] : [];
    });
  }
}
