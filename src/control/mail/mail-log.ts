import type { EntryOf, MailEntryKind } from '../../service/journal/entry-kinds.ts';
import type { Journals } from '../../service/journal/journals.ts';
import type { Owner, Part, PartOf } from '../../world/store/parts.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import type { Worlds } from '../../world/store/worlds.ts';

/** A message that arrived or was sent. */
export interface LoggedMail {
  readonly world: World;
  readonly message: MessageRow;
  /** To how many event streams its event was sent. */
  readonly streams: number;
}

/** The functions that are called for somebody who waits for mail. */
export interface MailListener {
  /** Is called with each message. */
  onMail(mail: LoggedMail): void;
  /** Is called with the reason, such as `The mailbox was reset`, when no mail can come any more. */
  onEnd(reason: string): void;
}

/** Those who wait for the mail of one tenant or, in the mailbox, for the mail of any tenant. */
class MailWaits implements Part {
  readonly listeners = new Set<MailListener>();

  end(reason: string): void {
    for (const listener of [...this.listeners]) listener.onEnd(reason);
  }
}

const LOGGED_KINDS = ['mail-received', 'mail-sent'] as const satisfies readonly MailEntryKind[];

/** The mail that arrived or was sent since the last reset, as the journal has it, and those who wait for more. */
export class MailLog {
  readonly #worlds: Worlds;
  readonly #journals: Journals;
  readonly #waitsOf: PartOf<MailWaits>;

  constructor(worlds: Worlds, journals: Journals) {
    this.#worlds = worlds;
    this.#journals = journals;
    this.#waitsOf = worlds.addPart('mail', () => new MailWaits());
    journals.subscribe(LOGGED_KINDS, ({ tenantId, data }) => {
      const world = worlds.get(tenantId ?? '');
      if (!world) return;
      const waits = this.#waitsOf.in([world, worlds]);
      for (const listener of waits.flatMap(({ listeners }) => [...listeners])) {
        listener.onMail({ world, message: data.message, streams: 0 });
      }
    });
  }

  /** Returns the messages of some tenants as they are now, oldest first, without deleted messages. */
  list(worlds: readonly World[]): LoggedMail[] {
    const streams = this.#streamsByEvent(worlds);
    const worldOf = new Map(worlds.map((world) => [world.id, world]));
    const entries: EntryOf<(typeof LOGGED_KINDS)[number]>[] = this.#journals.of(worlds, { kinds: LOGGED_KINDS });
    return entries.flatMap(({ tenantId, data }) => {
      const world = worldOf.get(tenantId ?? '');
      const message = world?.messages.get(data.message.id);
      return world && message?.deletedAt === null ? [{ world, message, streams: streams.get(data.id) ?? 0 }] : [];
    });
  }

  /** Adds a listener for the mail of an owner, and returns a function that removes it. */
  listen(owner: Owner, listener: MailListener): () => void {
    const { listeners } = this.#waitsOf(owner);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Ends every wait for mail, with a reason. */
  end(reason: string): void {
    for (const waits of this.#waitsOf.in(this.#worlds.owners())) waits.end(reason);
  }

  #streamsByEvent(worlds: readonly World[]): Map<string, number> {
    const frames = this.#journals.of(worlds, { kinds: ['frame'] });
    return new Map(frames.map(({ data }) => [data.eventId, data.streams]));
  }
}
