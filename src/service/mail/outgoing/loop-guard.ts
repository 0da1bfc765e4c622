import type { Clock } from '../../../world/clock.ts';
import { timestampNow } from '../../../world/environment.ts';
import type { Part, PartOf } from '../../../world/store/parts.ts';
import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import type { World } from '../../../world/store/world.ts';
import type { Worlds } from '../../../world/store/worlds.ts';
import type { Journals } from '../../journal/journals.ts';

const MINUTE_MS = 60_000;

/**
 * Mail between two addresses is a loop only if each of them sent at least this share of it. Otherwise, it is much mail
 * in one direction.
 */
const MIN_SHARE = 1 / 4;

/** How many pairs of addresses are remembered, and how many held mails are listed. */
const MAX_PAIRS = 10_000;
const MAX_HELD = 100;

/** A mail that did not arrive, because its sender and its recipient exchange too many mails. */
export interface HeldMail {
  /** The id of the tenant that sent the mail. */
  readonly tenantId: string;
  /** The bare address of the sender. */
  readonly from: string;
  /** The bare address of the recipient, who did not get the mail. */
  readonly to: string;
  /** The subject of the mail. */
  readonly subject: string;
  /** The `Message-ID` header, with its angle brackets. */
  readonly messageIdHeader: string;
  /** When the mail was held, by the clock of the tenant: ISO 8601 UTC. */
  readonly heldAt: string;
  /** Why the mail is held, in one sentence. */
  readonly reason: string;
}

/** The fields of a mail that the guard needs. */
type GuardedMail = Pick<HeldMail, 'from' | 'to' | 'subject' | 'messageIdHeader'>;

/** An earlier mail, with the clock by which its age is measured. */
interface PastMail {
  readonly from: string;
  readonly atMs: number;
  readonly clock: Clock;
}

/** The mail between addresses that can reach each other: those of one sandbox, or those outside of all sandboxes. */
class Traffic implements Part {
  /** The latest mails of each pair of addresses. The pair that exchanged the latest mail comes last. */
  readonly pairs = new Map<string, PastMail[]>();
  readonly held: HeldMail[] = [];
  end(): void {}
}

/** Stops loops of mail: it holds the mail of two addresses that exchange too many mails within a minute. */
export class LoopGuard {
  readonly #limit: number;
  readonly #journals: Journals;
  readonly #trafficOf: PartOf<Traffic>;

  /** `limit` is how many mails two addresses may exchange within a minute. */
  constructor(worlds: Worlds, journals: Journals, limit: number) {
    this.#limit = limit;
    this.#journals = journals;
    this.#trafficOf = worlds.addPart('mail between addresses', () => new Traffic());
  }

  /** Counts a mail that a tenant or a correspondent of the tenant sends now. Returns whether the mail may arrive. */
  admit(worlds: ReachableWorlds, world: World, mail: GuardedMail): boolean {
    const { pairs, held } = this.#trafficOf(worlds);
    const pair = [mail.from, mail.to].sort().join(' ');
    const latest = pairs.get(pair) ?? [];
    if (this.#isLoop(latest, mail)) {
      held.push(this.#hold(world, mail));
      if (held.length > MAX_HELD) held.shift();
      return false;
    }
    latest.push({ from: mail.from, atMs: world.clock.now().getTime(), clock: world.clock });
    if (latest.length > this.#limit) latest.shift();
    pairs.delete(pair);
    pairs.set(pair, latest);
    const [quietest] = pairs.keys();
    if (quietest !== undefined && pairs.size > MAX_PAIRS) pairs.delete(quietest);
    return true;
  }

  /** Returns the mail that was held since the last reset, at most the latest 100, oldest first. */
  held(worlds: ReachableWorlds): readonly HeldMail[] {
    return this.#trafficOf.in([worlds]).flatMap(({ held }) => held);
  }

  #isLoop(latest: readonly PastMail[], { from, to }: GuardedMail): boolean {
    const [oldest] = latest;
    if (!oldest || latest.length < this.#limit) return false;
    // If the clock was set back, the mail lies in the future.
    if (Math.abs(oldest.clock.now().getTime() - oldest.atMs) >= MINUTE_MS) return false;
    const sentCount = latest.filter((mail) => mail.from === from).length;
    const minimum = this.#limit * MIN_SHARE;
    return from === to || (sentCount + 1 >= minimum && latest.length - sentCount >= minimum);
  }

  #hold(world: World, mail: GuardedMail): HeldMail {
    const { from, to, subject } = mail;
    const reason =
      `${from} and ${to} exchanged more than ${this.#limit} mails within a minute, so ${JSON.stringify(subject)} ` +
      `from ${from} is held. If this is not a loop, set a higher loopLimit.`;
    const entry = { tenantId: world.id, from, to, subject, reason };
    this.#journals.publish(world, 'mail-held', entry);
    return { ...entry, messageIdHeader: mail.messageIdHeader, heldAt: timestampNow(world.environment) };
  }
}
