import { render } from 'preact';
import { createInspectorClient, InspectorContext } from './inspector.ts';
import { LiveFeed } from './live-feed.ts';
import { Shell } from './shell.tsx';
import { createTraceClient } from './trace-client.ts';

const refusals = new EventTarget();
/** The text of the trace that the page carries; undefined if the page shows an emulator. */
const trace = document.querySelector('#trace')?.textContent;
const isTrace = trace !== undefined && trace !== null;
const client = isTrace
  ? createTraceClient(trace)
  : createInspectorClient(() => void refusals.dispatchEvent(new Event('refused')));
const feed = new LiveFeed(client);

render(
  <InspectorContext.Provider value={{ client, feed, isTrace }}>
    <Shell refusals={refusals} />
  </InspectorContext.Provider>,
  document.body,
);
void feed.follow();
