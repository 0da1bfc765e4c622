import { RotateCw, Unplug } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { useInspector } from './inspector.ts';
import type { FeedState, LiveFeed, Outage } from './live-feed.ts';
import { Button, Icon } from './parts.tsx';
import { timeOfDay } from './text.tsx';

/** The connection to the emulator, as the page shows it. */
export interface Connection {
  /** The state. A break that may be short is not shown, so it counts as `live`. */
  readonly state: Exclude<FeedState, 'interrupted'>;
  /** Since when there is no connection; `undefined` unless the state is `lost`. */
  readonly outage: Outage | undefined;
}

/** Returns the connection, and renders the component again when it changes. */
export function useConnection(): Connection {
  const { feed } = useInspector();
  const [connection, setConnection] = useState(() => connectionOf(feed));
  useEffect(() => {
    const update = () => setConnection(connectionOf(feed));
    update();
    return feed.subscribe({ onState: update });
  }, [feed]);
  return connection;
}

function connectionOf({ state, outage }: LiveFeed): Connection {
  if (state === 'lost') return { state, outage };
  return { state: state === 'interrupted' ? 'live' : state, outage: undefined };
}

const LABELS = { connecting: 'Connecting', live: 'Live', lost: 'Not connected' } as const;

/** The state of the connection in one or two words. */
export function ConnectionState({ state }: Pick<Connection, 'state'>) {
  return (
    <span class={`connection ${state}`} role="status">
      {LABELS[state]}
    </span>
  );
}

/** Says since when there is no connection and when the page tries again, with a button that tries at once. */
export function OutageBar({ outage: { sinceMs, nextTryMs, refusal } }: { readonly outage: Outage }) {
  const { feed } = useInspector();
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 250);
    const tryNow = () => feed.tryNow();
    // Somebody who comes back to the page, or to the network, wants to see it as it is.
    addEventListener('focus', tryNow);
    addEventListener('online', tryNow);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', tryNow);
      removeEventListener('online', tryNow);
    };
  }, [feed]);
  const since = `${timeOfDay(sinceMs)} UTC`;
  const seconds = Math.ceil((nextTryMs - Math.max(nowMs, sinceMs)) / 1_000);
  return (
    <section class="bottom-bar outage" aria-label="Connection">
      <Icon icon={Unplug} />
      <span>
        {refusal === undefined
          ? `The emulator has not answered since ${since}.`
          : `The emulator has refused the connection since ${since}: ${refusal}`}{' '}
        <span class="soft">{seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again now.'}</span>
      </span>
      <Button icon={RotateCw} text="Try now" onClick={() => feed.tryNow()} />
    </section>
  );
}
