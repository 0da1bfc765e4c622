import { render } from 'preact';
import { createInspectorClient, getToken, InspectorContext, type Trial } from './inspector.ts';
import { LiveFeed } from './live-feed.ts';
import { Shell } from './shell.tsx';
import { createTraceClient } from './trace-client.ts';

const refusals = new EventTarget();
/** The key of the trial that a report of an evaluation must show; null if the page is no report, or shows all trials. */
const key = new URLSearchParams(location.search).get('trial');
const report = document.querySelector('#report');
/** The id of the element with the trace that the page shows. */
const traceId = report && key !== null ? `trace-${key}` : 'trace';
/** Whether the page carries this trace. Otherwise it shows an emulator. */
const isTrace = document.getElementById(traceId) !== null;
const head = report && isTrace ? document.getElementById(`trial-${key}`) : null;
const trial: Trial | undefined = head
  ? {
      reportUrl: `${location.pathname}#${traceId}-link`,
      head,
      reason: head.dataset.reason ?? '',
      mails: new Set(head.dataset.mails?.split(' ')),
    }
  : undefined;
const client = isTrace
  ? createTraceClient(() => openTrace(traceId))
  : createInspectorClient({
      onRefused: () => void refusals.dispatchEvent(new Event('refused')),
      whenLive: () => feed.whenLive(),
    });
const feed: LiveFeed = new LiveFeed(client);

// A report of an evaluation is complete without a program, until one of its trials is opened.
if (!report || isTrace) {
  report?.remove();
  render(
    <InspectorContext.Provider value={{ client, feed, isTrace, trial }}>
      <Shell refusals={refusals} />
    </InspectorContext.Provider>,
    document.body,
  );
  // Tabs with another token may be refused, so they do not read for this one.
  void (isTrace ? feed.follow() : feed.followWithOtherTabs(`agent-mailbox-mock feed ${getToken()}`));
}

/** Opens a text that the page carries in an element, as base64 of gzip, or whose URL the element names. */
async function openTrace(id: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const element = document.getElementById(id);
  if (element instanceof HTMLMetaElement) {
    const { body } = await fetch(element.content);
    if (body) return body;
  }
  const packed = atob(element?.textContent ?? '');
  const bytes = new Uint8Array(packed.length);
  for (let index = 0; index < packed.length; index += 1) bytes[index] = packed.charCodeAt(index);
  return new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
}
