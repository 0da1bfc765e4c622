import { repairLineEnds } from './read-headers.ts';
import { type RawPart, splitParts, toBinary } from './split-parts.ts';

/** How many characters of images are put into one HTML, because it may name the same image many times. */
const MAX_INLINED_LENGTH = 32 * 1024 * 1024;

/** Replaces each `cid:` address of an image that the raw mail contains by the image itself, as a `data:` URL. */
export function inlineImages(html: string, mail: Uint8Array): string {
  if (!/cid:/i.test(html)) return html;
  const images = findImages(mail);
  let room = MAX_INLINED_LENGTH;
  return html.replace(/(["'=(]\s*)cid:([^\s"'<>()]+)/gi, (written, start: string, id: string) => {
    const image = images.get(id) ?? '';
    room -= image.length;
    return image === '' || room < 0 ? written : start + image;
  });
}

/** Finds the images with a Content-ID. */
function findImages(mail: Uint8Array): Map<string, string> {
  return new Map(splitParts(toBinary(repairLineEnds(mail))).flatMap(toImage));
}

/** Returns the image that a part is, by each form in which a URL can write its id (RFC 2392). */
function toImage({ fields, body }: RawPart): [id: string, image: string][] {
  const [, id] = /^<([^<>]+)>/.exec(fields['content-id'] ?? '') ?? [];
  const [type] = /^image\/[\w.+-]+/i.exec(fields['content-type'] ?? '') ?? [];
  const isBase64 = /^base64$/i.test(fields['content-transfer-encoding'] ?? '');
  if (id === undefined || type === undefined || !isBase64) return [];
  const image = `data:${type};base64,${body.replace(/[^A-Za-z0-9+/=]/g, '')}`;
  return [id, encodeURI(id), encodeURIComponent(id)].map((written) => [written, image]);
}
