import { render } from 'preact';
import { createInspectorClient, InspectorContext } from './inspector.ts';
import { LiveFeed } from './live-feed.ts';
import { Shell } from './shell.tsx';

const refusals = new EventTarget();
const client = createInspectorClient(() => void refusals.dispatchEvent(new Event('refused')));
const feed = new LiveFeed(client);

render(
  <InspectorContext.Provider value={{ client, feed }}>
    <Shell refusals={refusals} />
  </InspectorContext.Provider>,
  document.body,
);
void feed.follow();
