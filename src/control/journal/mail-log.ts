import type { EventBus } from '../../world/event-bus.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import type { Owner, Part, PartOf, World } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import { RecentList } from './journal.ts';

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
  /** Receives each message. */
  arrived(mail: LoggedMail): void;
  /** Is called with the reason, such as `The mailbox was reset`, when no mail can come any more. */
  ended(reason: string): void;
}

/** The mail of one tenant with those who wait for it; for the mailbox, those who wait for the mail of any tenant. */
class MailList implements Part {
  readonly entries = new RecentList<Entry>(SIZE);
  readonly listeners = new Set<MailListener>();

  end(reason: string): void {
    for (const listener of [...this.listeners]) listener.ended(reason);
  }
}

/** Remembers which messages arrived or were sent since the start, apart from those of the fixture. */
export class MailLog {
  readonly #worlds: Worlds;
  readonly #listOf: PartOf<MailList>;
  #count = 0;

  /** Starts to log. An event that a test triggers has overrides and is skipped. */
  constructor(worlds: Worlds, events: EventBus) {
    this.#worlds = worlds;
    this.#listOf = worlds.addPart('mail', () => new MailList());
    events.subscribe(({ kind, world, message, overrides, streams = 0 }) => {
      if (overrides === undefined && kind !== 'message.bounced') this.#add({ world, message, streams });
    });
  }

  /** Returns the messages of some tenants, oldest first, without those that were deleted. */
  list(worlds: readonly World[]): LoggedMail[] {
    return worlds.flatMap((world) => this.#mailOf(world)).sort((a, b) => a.number - b.number);
  }

  /** Adds a listener for the mail of an owner, and returns a function that removes it. */
  listen(owner: Owner, listener: MailListener): () => void {
    const { listeners } = this.#listOf(owner);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Ends every wait, with a reason. */
  end(reason: string): void {
    for (const list of this.#listOf.in(this.#worlds.owners())) list.end(reason);
  }

  #add(added: Omit<LoggedMail, 'number'>): void {
    const { world, message, streams } = added;
    this.#count += 1;
    this.#listOf(world).entries.push({ number: this.#count, messageId: message.id, streams });
    const mail = { ...added, number: this.#count };
    const listeners = this.#listOf.in([world, this.#worlds]).flatMap((list) => [...list.listeners]);
    for (const listener of listeners) listener.arrived(mail);
  }

  #mailOf(world: World): LoggedMail[] {
    const entries = this.#listOf.in([world]).flatMap((list) => list.entries.all());
    return entries.flatMap(({ messageId, ...entry }) => {
      const message = world.messages.get(messageId);
      return message?.deletedAt === null ? [{ ...entry, world, message }] : [];
    });
  }
}
