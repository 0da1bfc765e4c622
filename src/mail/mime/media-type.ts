/** The media type of a file whose own type is not usable. */
const BYTES = 'application/octet-stream';

/** Returns a sender's media type if it is valid and safe in a header, otherwise the type of plain bytes. */
export function mediaTypeOf(contentType: string): string {
  return /^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/.test(contentType) && contentType.length <= 200 ? contentType : BYTES;
}

/** The same for a MIME part, which must not be `multipart` or `message` in base64 (RFC 2045, section 6.4). */
export function partTypeOf(contentType: string): string {
  return /^(?:multipart|message)\//i.test(contentType) ? BYTES : mediaTypeOf(contentType);
}
