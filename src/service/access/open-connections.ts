import type { World } from '../../world/store/world.ts';
import type { Principal } from './principal.ts';

/** A client that is connected now. */
export interface OpenConnection {
  readonly protocol: 'websocket' | 'imap' | 'smtp';
  /** The real time at which it connected. */
  readonly since: Date;
  /** Returns whose login or key it has; `undefined` before it has logged in. */
  principal(): Principal | undefined;
}

/** The clients that are connected now: those of event streams, of IMAP and of SMTP. */
export class OpenConnections {
  readonly #all = new Set<OpenConnection>();

  /** Adds a client. Call the returned function when its connection has ended; a second call does nothing. */
  add(connection: OpenConnection): () => void {
    this.#all.add(connection);
    return () => void this.#all.delete(connection);
  }

  /** Returns the clients with a login or a key of these worlds, and those without one if `isWhole`; the oldest first. */
  list(worlds: readonly Pick<World, 'id'>[], isWhole: boolean): OpenConnection[] {
    return [...this.#all].filter((each) => {
      const tenant = each.principal()?.world?.id;
      return tenant === undefined ? isWhole : worlds.some(({ id }) => id === tenant);
    });
  }
}
