import type { Clock } from '../clock/clock.ts';
import { timestampNow } from '../environment.ts';
import type { Activity } from '../events/activity.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { World } from '../store/world.ts';
import { LOOP_LIMIT_RULE, parseLoopLimit } from './loop-limit.ts';

/** How many mails two addresses may exchange within a minute. */
const DEFAULT_LIMIT = 50;

const MINUTE_MS = 60_000;

/** Which part of the mail each of the two must have written; otherwise it is no loop, but much mail in one direction. */
const LEAST_SHARE = 1 / 4;

/** How many pairs of addresses are remembered, and how many held mails are listed. */
const MAX_PAIRS = 10_000;
const MAX_HELD = 100;

/** A mail that did not arrive, because its sender and its recipient exchange too many. */
export interface HeldMail {
  /** The id of the tenant that sent it. */
  readonly tenantId: string;
  /** The bare address of the sender. */
  readonly from: string;
  /** The bare address of the recipient at which it did not arrive. */
  readonly to: string;
  /** The subject of the mail. */
  readonly subject: string;
  /** The `Message-ID` header, with its angle brackets. */
  readonly messageIdHeader: string;
  /** When it was held, by the clock of the tenant: ISO 8601 UTC. */
  readonly heldAt: string;
  /** Why it is held, in a sentence. */
  readonly reason: string;
}

/** What the guard has to know about a mail. */
type GuardedMail = Pick<HeldMail, 'from' | 'to' | 'subject' | 'messageIdHeader'>;

/** A mail of the past, with the clock by which its age is measured. */
interface PastMail {
  readonly from: string;
  readonly atMs: number;
  readonly clock: Clock;
}

/** The mail between addresses that can reach each other. */
interface Traffic {
  /** The latest mails of each pair of addresses; the pair that wrote last is the last. */
  readonly pairs: Map<string, PastMail[]>;
  readonly held: HeldMail[];
}

/** Stops loops of mail: it holds the mail of two addresses that exchange too many within a minute. */
export class LoopGuard {
  readonly #limit: number;
  readonly #activity: Activity;
  #traffic = new WeakMap<ReachableWorlds, Traffic>();

  /** Creates a guard. @throws {RangeError} on an invalid limit. */
  constructor(activity: Activity, limit: unknown = DEFAULT_LIMIT) {
    const parsed = parseLoopLimit(limit);
    if (parsed === undefined) {
      throw new RangeError(`The option loopLimit must be ${LOOP_LIMIT_RULE}, not ${JSON.stringify(limit)}.`);
    }
    this.#limit = parsed;
    this.#activity = activity;
  }

  /** Counts a mail that a tenant, or somebody who writes to it, sends now. Returns whether it may arrive. */
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
    if (pairs.size > MAX_PAIRS) pairs.delete(String(pairs.keys().next().value));
    return true;
  }

  /** Returns the mail that was held since the last reset, at most the latest 100, oldest first. */
  held(worlds: ReachableWorlds): readonly HeldMail[] {
    return this.#traffic.get(worlds)?.held ?? [];
  }

  /** Forgets all mail, or only that of a sandbox. */
  reset(worlds?: ReachableWorlds): void {
    if (worlds) this.#traffic.delete(worlds);
    else this.#traffic = new WeakMap();
  }

  #trafficOf(worlds: ReachableWorlds): Traffic {
    const traffic = this.#traffic.get(worlds) ?? { pairs: new Map(), held: [] };
    this.#traffic.set(worlds, traffic);
    return traffic;
  }

  #isLoop(latest: readonly PastMail[], { from, to }: GuardedMail): boolean {
    const [oldest] = latest;
    if (!oldest || latest.length < this.#limit) return false;
    if (oldest.clock.now().getTime() - oldest.atMs >= MINUTE_MS) return false;
    const own = latest.filter((mail) => mail.from === from).length;
    const least = this.#limit * LEAST_SHARE;
    return from === to || (own + 1 >= least && latest.length - own >= least);
  }

  #hold(world: World, mail: GuardedMail): HeldMail {
    const { from, to, subject } = mail;
    const reason = `${from} and ${to} exchanged more than ${this.#limit} mails within a minute, so ${JSON.stringify(subject)} from ${from} is held. If this is not a loop, set a higher loopLimit.`;
    this.#activity.publish({ kind: 'mail-held', tenantId: world.id, from, to, subject, reason });
    return { tenantId: world.id, ...mail, heldAt: timestampNow(world.environment), reason };
  }
}
