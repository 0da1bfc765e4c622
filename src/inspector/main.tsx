import { render } from 'preact';
import { InspectorContext } from './inspector.ts';
import { createControlClient } from './inspector-client.ts';
import { LiveFeed } from './live-feed.ts';
import { Shell } from './shell.tsx';

const feed = new LiveFeed();
const refusals = new EventTarget();
const client = createControlClient(() => refusals.dispatchEvent(new Event('refused')));

render(
  <InspectorContext.Provider value={{ client, feed }}>
    <Shell refusals={refusals} />
  </InspectorContext.Provider>,
  document.body,
);
void feed.follow();
