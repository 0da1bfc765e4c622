import { randomUUID } from 'node:crypto';

/** The fields of rows that have bytes. */
const FIELDS = [
  ['messages', 'raw'],
  ['attachments', 'content'],
] as const;

/** Shorter texts stay as they are. */
const MIN_LENGTH = 1024;

interface State {
  readonly tenants?: Readonly<Record<string, { readonly rows?: Readonly<Record<string, unknown>> } | null>> | null;
}

/**
 * Parses the JSON of a state. The bytes of mail are taken out first, because the text of all of them could need more
 * memory than the heap has.
 */
export function parseState(json: Buffer): unknown {
  const found = new Map<unknown, Uint8Array>();
  const kept: Buffer[] = [];
  let end = 0;
  for (const { start, stop } of findLongFields(json)) {
    const base64 = json.toString('latin1', start, stop);
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 > 0) continue;
    const mark = randomUUID();
    found.set(mark, new Uint8Array(Buffer.from(base64, 'base64')));
    kept.push(json.subarray(end, start), Buffer.from(mark));
    end = stop;
  }
  const state: unknown = JSON.parse(Buffer.concat([...kept, json.subarray(end)]).toString());
  putBack(state as State | null, found);
  // Others can have such fields too, such as the metadata of an inbox.
  return found.size > 0 ? JSON.parse(json.toString()) : state;
}

/** Finds where the long texts of these fields are, in order. Within a text, the quotes of such a name are escaped. */
function findLongFields(json: Buffer): { readonly start: number; readonly stop: number }[] {
  const found = FIELDS.flatMap(([, name]) => {
    const [field, places] = [`"${name}":"`, []] as [string, { readonly start: number; readonly stop: number }[]];
    for (let at = json.indexOf(field); at >= 0; at = json.indexOf(field, at + 1)) {
      const start = at + field.length;
      const stop = json.indexOf('"', start);
      if (stop - start >= MIN_LENGTH) places.push({ start, stop });
    }
    return places;
  });
  return found.sort((one, other) => one.start - other.start);
}

function putBack(state: State | null, found: Map<unknown, Uint8Array>): void {
  const tenants = Object.values(state?.tenants ?? {});
  for (const [kind, field] of FIELDS) {
    const rows = tenants.flatMap((tenant) => tenant?.rows?.[kind] ?? []) as (Record<string, unknown> | null)[];
    for (const row of rows) {
      const bytes = found.get(row?.[field]);
      if (!row || !bytes) continue;
      found.delete(row[field]);
      row[field] = bytes;
    }
  }
}
