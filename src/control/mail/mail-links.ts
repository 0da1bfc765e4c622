import { decodeHTML } from 'entities/decode';
import { readHtml } from '../../service/mail/html-text.ts';

/** How many links of a mail are listed. */
const MAX_LINKS = 200;

/** How many characters of a body are searched for links. */
const MAX_SEARCHED = 200_000;

const HREF = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/gi;
const WEB_URL = /\bhttps?:\/\/[^\s<>"'`]+[^\s<>"'`.,;:!?)\]}]/gi;

/** Returns the web addresses in a mail, each once: first those of the links in HTML, then those in the plain text. */
export function linksOf({ plainBody, htmlBody }: { readonly plainBody: string; readonly htmlBody: string | null }) {
  const targets = Array.from((htmlBody ?? '').slice(0, MAX_SEARCHED).matchAll(HREF), ([, a, b, c]) =>
    decodeHTML(a ?? b ?? c ?? ''),
  );
  const written = Array.from(plainBody.slice(0, MAX_SEARCHED).matchAll(WEB_URL), ([url]) => url);
  const links = [...targets, ...written].flatMap((text) => toWebUrl(text) ?? []);
  return [...new Set(links)].slice(0, MAX_LINKS);
}

/** A link of HTML as a reader sees it. */
export interface ShownLink {
  /** The address that the link leads to. */
  readonly url: string;
  /** The text of the link. */
  readonly text: string;
}

const ANCHOR = /<a\b([^<>]*)>([^<]*(?:<(?!\/?a\b)[^<]*)*)/gi;

/** Matches a text that is only a web address. A name such as `report.pdf` or `Node.js` is not a web address. */
const SHOWN_ADDRESS =
  /^(?:https?:\/\/)?(?:[\p{L}\p{N}-]{1,63}\.){1,9}(?!(?:pdf|docx?|xlsx?|js|txt)$)\p{L}{2,63}(?:[:/?#]\S*)?$/iu;

/** Returns the links in HTML whose text is a web address with another host than the link itself. */
export function misleadingLinksOf({ htmlBody }: { readonly htmlBody: string | null }): ShownLink[] {
  const anchors = Array.from((htmlBody ?? '').slice(0, MAX_SEARCHED).matchAll(ANCHOR));
  const links = anchors.flatMap(([, attributes = '', content = '']) => {
    const [[, a, b, c] = []] = attributes.matchAll(HREF);
    const url = toWebUrl(decodeHTML(a ?? b ?? c ?? ''));
    return url === undefined ? [] : [{ url, text: readHtml(content.slice(0, 2_000)).shown.trim() }];
  });
  return links.filter(({ url, text }) => showsOtherHost(url, text)).slice(0, MAX_LINKS);
}

function showsOtherHost(url: string, text: string): boolean {
  const shown = SHOWN_ADDRESS.test(text) && toWebUrl(/^https?:/i.test(text) ? text : `http://${text}`);
  if (!shown) return false;
  const [host, shownHost] = [url, shown].map((each) => new URL(each).hostname.replace(/^www\./, ''));
  return host !== shownHost && !host?.endsWith(`.${shownHost}`) && !shownHost?.endsWith(`.${host}`);
}

/**
 * Matches a web address with a host of at most 253 characters. No host name is longer, and for a longer text, the
 * parser of URLs takes quadratic time.
 */
const SHORT_HOST = /^\s*https?:[/\\]*[^/\\?#]{1,253}(?:[/\\?#]|$)/i;

function toWebUrl(text: string): string | undefined {
  const url = SHORT_HOST.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}
