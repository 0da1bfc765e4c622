import { hmac } from '@stablelib/hmac';
import { SHA256 } from '@stablelib/sha256';
import { ExternalLink, Monitor, Smartphone } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { toHex } from '../../hex.ts';
import { getToken } from '../../inspector.ts';
import { Button, ButtonLink } from '../../parts.tsx';

/** The greatest height of the frame, in pixels, so that a mail cannot make the page too long. */
const MAX_HEIGHT = 20_000;

/** Shows the HTML of a mail in a frame that is as high as its content. The frame runs, loads and opens nothing. */
export function MailFrame({ id }: { readonly id: string }) {
  const [isPhone, setPhone] = useState(false);
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    let width = 0;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth !== width) fitHeight(element);
      width = element.clientWidth;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const page = addProof(`/__mock/messages/${id}.html`);
  return (
    <>
      <p class="buttons">
        <Button
          icon={isPhone ? Monitor : Smartphone}
          text={isPhone ? 'Whole width' : 'Phone width'}
          class="phone-width"
          aria-pressed={isPhone}
          onClick={() => setPhone(!isPhone)}
        />
        <ButtonLink icon={ExternalLink} text="Open in new tab" href={page} target="_blank" rel="noreferrer" />
        <span class="hint small">Scripts, forms and everything remote are switched off.</span>
      </p>
      <iframe
        ref={frame}
        class={isPhone ? 'mail-html phone' : 'mail-html'}
        title="HTML of the mail"
        // No scripts run. The frame has the origin of the page, so that the page can read the height of its content.
        sandbox="allow-same-origin"
        referrerpolicy="no-referrer"
        src={page}
        onLoad={({ currentTarget }) => fitHeight(currentTarget)}
      />
    </>
  );
}

/** Makes a frame as high as its content. Without access to the content, the style sheet sets the height. */
function fitHeight(frame: HTMLIFrameElement): void {
  const content = frame.contentDocument;
  // An element of the mail with the name `querySelector` would hide this method of the document. So the method of the
  // prototype is called.
  const root = content && Document.prototype.querySelector.call(content, ':root');
  if (!root) return;
  // `scrollHeight` is never less than the height of the frame, so the frame is made small first.
  frame.style.height = '0';
  frame.style.height = `${Math.min(MAX_HEIGHT, root.scrollHeight + SCROLL_BAR_HEIGHT)}px`;
}

/** Room for a scroll bar below content that is too wide, in pixels. */
const SCROLL_BAR_HEIGHT = 16;

/**
 * Adds to a path a proof that this page has the token, because a frame cannot send the token in a header. The proof is
 * computed without Web Crypto, because browsers offer it only to pages from loopback addresses or over HTTPS.
 */
export function addProof(path: string): string {
  const encode = (text: string) => new TextEncoder().encode(text);
  return `${path}?proof=${toHex(hmac(SHA256, encode(getToken()), encode(path)))}`;
}
