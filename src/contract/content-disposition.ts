/** Returns the file name in ASCII for old clients and, if it differs, also in UTF-8 for all others (RFC 6266). */
export function filenameParameters(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]/g, '_').replace(/["\\]/g, '_');
  const encoded = encodeURIComponent(filename.replace(/\p{Surrogate}/gu, '_')).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return plain === filename ? `filename="${plain}"` : `filename="${plain}"; filename*=UTF-8''${encoded}`;
}
