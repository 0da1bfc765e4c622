import { render } from 'preact';
import { createInspectorClient, InspectorContext } from './inspector.ts';
import { LiveFeed } from './live-feed.ts';
import { Shell } from './shell.tsx';
import { createTraceClient } from './trace-client.ts';

const refusals = new EventTarget();
/** Whether the page carries a trace. Otherwise it shows an emulator. */
const isTrace = document.querySelector('#trace') !== null;
const client = isTrace
  ? createTraceClient({ readRun: () => unpack('trace-run'), readWhole: () => unpack('trace') })
  : createInspectorClient(() => void refusals.dispatchEvent(new Event('refused')));
const feed = new LiveFeed(client);

render(
  <InspectorContext.Provider value={{ client, feed, isTrace }}>
    <Shell refusals={refusals} />
  </InspectorContext.Provider>,
  document.body,
);
void feed.follow();

/** Reads a text that the page carries in an element, as base64 of gzip. */
function unpack(id: string): Promise<string> {
  const packed = atob(document.querySelector(`#${id}`)?.textContent ?? '');
  const bytes = new Uint8Array(packed.length);
  for (let index = 0; index < packed.length; index += 1) bytes[index] = packed.charCodeAt(index);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}
