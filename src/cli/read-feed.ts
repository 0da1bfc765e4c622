import type { FeedEvent } from '../journal/feed-event.ts';
import { ConnectionLostError, type ControlClient } from './control-client.ts';

/** Where the feed starts, and whether it ends after the events so far. */
interface FeedQuery {
  readonly lastEventId?: string;
  readonly follow?: 'false';
}

/**
 * Yields the events of the live feed until it ends. After a lost connection it connects again, and continues behind the
 * last event. `onOpen` is called as soon as no further event can be missed.
 *
 * @throws {CannotRunError} if the emulator refuses or is not running, or if the connection is lost before any event.
 */
export async function* readFeed(
  client: Pick<ControlClient, 'stream'>,
  query: FeedQuery,
  onOpen?: () => void,
): AsyncGenerator<FeedEvent> {
  let { lastEventId } = query;
  for (;;) {
    const start = lastEventId;
    const parameters = new URLSearchParams({ ...query, ...(start !== undefined && { lastEventId: start }) });
    const events = await client.stream<FeedEvent>(`feed?${parameters}`);
    onOpen?.();
    onOpen = undefined;
    try {
      for await (const event of events) {
        lastEventId = event.id;
        yield event;
      }
      return;
    } catch (error) {
      if (!(error instanceof ConnectionLostError) || lastEventId === start) throw error;
    }
  }
}
