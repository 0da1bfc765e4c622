/**
 * Parses the header of a raw mail (RFC 5322), such as `getRawMessage` replies: its fields by lower-case name. Folded
 * lines are joined, and encoded words stay as they are. If several fields have the same name, the last one counts.
 *
 * @example
 * const headers = parseHeaders(await client.getRawMessage(inbox, id));
 * const isAutomatic = (headers['auto-submitted'] ?? 'no') !== 'no' || headers['list-id'] !== undefined;
 */
export function parseHeaders(raw: Uint8Array | string): { readonly [name: string]: string | undefined } {
  const text = typeof raw === 'string' ? raw : new TextDecoder().decode(raw);
  const [head = ''] = text.split(/\r?\n\r?\n/, 1);
  const fields = head
    .replace(/\r?\n(?=[ \t])/g, '')
    .split(/\r?\n/)
    .flatMap((line) => {
      const end = line.indexOf(':');
      const name = line.slice(0, Math.max(end, 0)).trimEnd().toLowerCase();
      return /^[!-9;-~]+$/.test(name) ? [[name, line.slice(end + 1).trim()]] : [];
    });
  return Object.fromEntries(fields);
}
