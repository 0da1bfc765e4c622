import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../../control/journal/feed-event.ts';
import { useInspector } from '../../inspector.ts';
import { type Loaded, PacedWork } from '../../use-loaded.ts';
import { RunLog } from './run-log.ts';

/** While events keep coming, the run is shown again after this time. */
const MAX_INTERVAL_MS = 600;

/** How soon the run is shown after the first event. */
const DELAY_MS = 100;

/**
 * Reads what the feed has kept, and then applies each event, without reading anything again. The value is a new object
 * whenever the log has changed.
 */
export function useRunLog(): Loaded<{ readonly log: RunLog }> {
  const { client, feed } = useInspector();
  const [loaded, setLoaded] = useState<Loaded<{ readonly log: RunLog }>>({ value: undefined, error: undefined });
  useEffect(() => {
    let log = new RunLog();
    /** The events that came while the kept events are being read; undefined if nothing is being read. */
    let early: FeedEvent[] | undefined;
    const show = new PacedWork(() => setLoaded({ value: { log }, error: undefined }), MAX_INTERVAL_MS);
    const load = async () => {
      const own: FeedEvent[] = [];
      early = own;
      try {
        const next = new RunLog();
        for await (const event of await client.readFeed({ lastEventId: '0', follow: false })) next.add(event);
        // A later load replaces this one.
        if (early !== own) return;
        const lastRead = own.findIndex(({ id }) => id === next.lastEventId);
        for (const event of own.slice(lastRead + 1)) next.add(event);
        log = next;
        setLoaded({ value: { log }, error: undefined });
      } catch (error) {
        setLoaded(({ value }) => ({ value, error: (error as Error).message }));
      }
      if (early === own) early = undefined;
    };
    const stop = feed.subscribe({
      onEvent(event) {
        if (event.kind === 'gap') void load();
        else if (early) early.push(event);
        else {
          log.add(event);
          show.request(DELAY_MS);
        }
      },
      // While the connection was lost, anything may have happened.
      onState: (state) => state === 'live' && void load(),
    });
    if (feed.state === 'live') void load();
    return () => {
      stop();
      show.stop();
      early = [];
    };
  }, [client, feed]);
  return loaded;
}
