import { render } from 'preact';
import { createInspectorClient, InspectorContext } from './inspector.ts';
import { LiveFeed } from './live-feed.ts';
import { Shell } from './shell.tsx';
import { createTraceClient } from './trace-client.ts';

const refusals = new EventTarget();
/** The trial whose trace a report of an evaluation must show; null if the page is no report, or shows all trials. */
const trial = new URLSearchParams(location.search).get('trial');
const report = document.querySelector('#report');
/** The text of the trace that the page carries; undefined if the page shows an emulator. */
const trace = document.querySelector(report && trial !== null ? `#trace-${CSS.escape(trial)}` : '#trace')?.textContent;
const isTrace = trace !== undefined && trace !== null;
const client = isTrace
  ? createTraceClient(trace)
  : createInspectorClient(() => void refusals.dispatchEvent(new Event('refused')));
const feed = new LiveFeed(client);

// A report of an evaluation is complete without a program, until one of its trials is opened.
if (!report || isTrace) {
  report?.remove();
  render(
    <InspectorContext.Provider value={{ client, feed, isTrace }}>
      <Shell refusals={refusals} />
    </InspectorContext.Provider>,
    document.body,
  );
  void feed.follow();
}
