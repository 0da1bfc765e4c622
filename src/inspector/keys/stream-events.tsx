import { useEffect, useState } from 'preact/hooks';
import type { FeedEvent } from '../../journal/feed-event.ts';
import { useInspector } from '../inspector.ts';
import { Time } from '../parts.tsx';

type StreamEvent = Extract<FeedEvent, { kind: 'stream-opened' | 'stream-closed' }>;

const MAX_STREAM_EVENTS = 20;

/** The streams that were opened and closed since this view is open. */
export function StreamEvents() {
  const { feed } = useInspector();
  const [events, setEvents] = useState<readonly StreamEvent[]>([]);
  useEffect(
    () =>
      feed.subscribe({
        event(event) {
          if (event.kind !== 'stream-opened' && event.kind !== 'stream-closed') return;
          setEvents((earlier) => [event, ...earlier].slice(0, MAX_STREAM_EVENTS));
        },
      }),
    [feed],
  );
  return (
    <section aria-label="Streams">
      <h2>Streams</h2>
      {events.length === 0 && <p class="hint">None was opened or closed since you opened this view.</p>}
      <ul>
        {events.map(({ id, kind, key, realTime }) => (
          <li key={id}>
            <Time at={realTime} isShort /> <code>{key}</code> {kind === 'stream-opened' ? 'opened' : 'closed'}
          </li>
        ))}
      </ul>
    </section>
  );
}
