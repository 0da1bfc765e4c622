/** What is known of bytes whose type is not usable. */
const BYTES = 'application/octet-stream';

/** The media type of a file whose sender chose it; what is no type, or could break a header, counts as plain bytes. */
export function mediaTypeOf(contentType: string): string {
  return /^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/.test(contentType) && contentType.length <= 200 ? contentType : BYTES;
}

/** The same for a part of a mail: what would hold parts of its own is not written in base64 (RFC 2045, section 6.4). */
export function partTypeOf(contentType: string): string {
  return /^(?:multipart|message)\//i.test(contentType) ? BYTES : mediaTypeOf(contentType);
}
