import type { Owner, Part, PartOf } from '../../world/store/parts.ts';
import { findOwner } from '../../world/store/parts.ts';
import type { Worlds } from '../../world/store/worlds.ts';
import type { Sender } from '../access/principal.ts';

/** The calls of one owner that have no reply yet. */
class OwnCalls implements Part {
  /** A call that began before a reset ends after it, so the number must stay. */
  readonly staysOnReset = true;
  count = 0;

  end(): void {}
}

/**
 * Counts the requests and the messages of the Model Context Protocol that have no reply yet, by the tenant of their
 * keys. The journal has a request only when it has its reply, so it cannot say that a client still waits.
 */
export class OpenCalls {
  readonly #worlds: Worlds;
  readonly #callsOf: PartOf<OwnCalls>;

  /** Creates the counters of the worlds of a mailbox. */
  constructor(worlds: Worlds) {
    this.#worlds = worlds;
    this.#callsOf = worlds.addPart('open-calls', () => new OwnCalls());
  }

  /** Counts a call of this sender. Call the returned function when it has its reply. */
  begin({ principal }: Sender): () => void {
    const calls = this.#callsOf(findOwner(this.#worlds, principal?.world?.id));
    calls.count += 1;
    return () => {
      calls.count -= 1;
    };
  }

  /** Returns how many calls with keys of these owners have no reply yet. */
  count(owners: readonly Owner[]): number {
    return this.#callsOf.in(owners).reduce((sum, { count }) => sum + count, 0);
  }
}
