import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useInspector } from '../../../inspector.ts';
import { addProof } from '../mail-frame.tsx';
import type { MailDetails } from '../mail-types.ts';
import { readPlainText, readSeenText, type SeenText } from './seen-text.ts';

/** The width at which a mail is laid out to be judged, in pixels. */
export const JUDGED_WIDTH = 700;

/** The greatest height of the layout, in pixels. What lies deeper is not checked for being covered. */
const MAX_HEIGHT = 20_000;

/**
 * Reads what a person sees of a mail; `undefined` until the browser has laid it out. Returns also the frame in which the
 * mail is laid out, which has to be part of the page until then, and is not shown. A trace has no HTML to lay out.
 */
export function useSeenText({ id, htmlBody, plainBody }: MailDetails): [SeenText | undefined, ComponentChildren] {
  const { isTrace } = useInspector();
  const [read, setRead] = useState<SeenText>();
  if (htmlBody === null) return [readPlainText(plainBody), null];
  if (isTrace) return [undefined, null];
  const readFrame = (frame: HTMLIFrameElement) => {
    const content = frame.contentDocument;
    const root = content && Document.prototype.querySelector.call(content, ':root');
    if (!root) return;
    // An element is covered only by what is in the window of the frame.
    frame.style.height = `${Math.min(MAX_HEIGHT, root.scrollHeight)}px`;
    setRead(readSeenText(content));
  };
  const frame = (
    <iframe
      class="judged"
      style={{ width: `${JUDGED_WIDTH}px` }}
      title="The mail, laid out to be judged"
      aria-hidden="true"
      tabIndex={-1}
      sandbox="allow-same-origin"
      referrerpolicy="no-referrer"
      src={addProof(`/__mock/messages/${id}.html`)}
      onLoad={({ currentTarget }) => readFrame(currentTarget)}
    />
  );
  return [read, read ? null : frame];
}
