import { setTimeout } from 'node:timers/promises';
import type { FeedEvent } from '../journal/feed-event.ts';
import { type ControlClient, NoConnectionError } from './control-client.ts';

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
      if (!(error instanceof NoConnectionError) || lastEventId === start) throw error;
    }
  }
}

/** The time between two tries to connect again. */
const RETRY_MS = 500;

/**
 * Yields the events so far and those from now on, until it is aborted. When the emulator ends, or the connection stays
 * lost, it calls `onLost` once, and goes on when the emulator is back.
 *
 * @throws {CannotRunError} if the emulator refuses, or is not running at the start.
 */
export async function* followFeed(
  client: Pick<ControlClient, 'stream'>,
  { onLost, signal }: { readonly onLost: () => void; readonly signal: AbortSignal },
): AsyncGenerator<FeedEvent> {
  let lastEventId = '0';
  let report: (() => void) | undefined;
  const onOpen = () => {
    report = onLost;
  };
  for (;;) {
    try {
      for await (const event of readFeed(client, { lastEventId }, onOpen)) {
        lastEventId = event.id;
        yield event;
      }
    } catch (error) {
      if (!report || !(error instanceof NoConnectionError)) throw error;
    }
    report?.();
    report = () => {};
    await setTimeout(RETRY_MS, undefined, { signal });
  }
}
