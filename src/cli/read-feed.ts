import { setTimeout } from 'node:timers/promises';
import type { FeedEvent } from '../mailbox/without-msw.ts';
import { type Emulator, NoConnectionError } from './control-client.ts';

/** Where the feed starts, and whether it ends after the events so far. */
interface FeedQuery {
  readonly lastEventId?: string;
  readonly follow?: false;
}

/**
 * Yields the events of the live feed until it ends. After a lost connection it connects again, and continues after the
 * last event. `onOpen` is called as soon as no further event can be missed.
 *
 * @throws {CannotRunError} if the emulator refuses or is not running, or if the connection is lost before any event.
 */
export async function* readFeed(
  { url, client }: Emulator,
  query: FeedQuery,
  onOpen?: () => void,
): AsyncGenerator<FeedEvent> {
  let { lastEventId } = query;
  for (;;) {
    const start = lastEventId;
    const events = await client.readFeed({ ...query, lastEventId: start });
    onOpen?.();
    onOpen = undefined;
    try {
      for await (const event of events) {
        lastEventId = event.id;
        yield event;
      }
      return;
    } catch {
      if (lastEventId === start) throw new NoConnectionError(`The connection to ${url} was lost.`);
    }
  }
}

/** The time between two attempts to connect again. */
const RETRY_MS = 500;

/**
 * Yields the events so far and those from now on, until `signal` is aborted. When the emulator ends, or cannot be
 * reached any more, it calls `onLost` once, and continues when the emulator is back.
 *
 * @throws {CannotRunError} if the emulator refuses, or is not running at the start.
 */
export async function* followFeed(
  emulator: Emulator,
  { onLost, signal }: { readonly onLost: () => void; readonly signal: AbortSignal },
): AsyncGenerator<FeedEvent> {
  let lastEventId = '0';
  let reportLoss: (() => void) | undefined;
  const onOpen = () => {
    reportLoss = onLost;
  };
  for (;;) {
    try {
      for await (const event of readFeed(emulator, { lastEventId }, onOpen)) {
        lastEventId = event.id;
        yield event;
      }
    } catch (error) {
      if (!reportLoss || !(error instanceof NoConnectionError)) throw error;
    }
    reportLoss?.();
    reportLoss = () => {};
    await setTimeout(RETRY_MS, undefined, { signal });
  }
}
