import type { RequestEntry } from '../../journal/request-entry.ts';
import { partsOf } from './request-parts.ts';

/** Writes the command that sends a request again. Its key is read from a variable such as `$MAILBOX_TENANT_KEY`. */
export function writeCurl(entry: RequestEntry, baseUrl: string): string {
  const { target, headers, key, body, notes } = partsOf(entry);
  const hasType = headers.some(([name]) => name === 'content-type');
  const options = [
    ...(METHOD_OPTIONS[entry.method] ?? [`-X ${entry.method}`]),
    quote(baseUrl + target),
    ...(key ? [`-H "${key.header}: ${key.before}$${key.variable}"`] : []),
    ...headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    // Without this, curl adds a type of its own.
    ...(body !== null && !hasType ? ["-H 'content-type:'"] : []),
    ...(body === null ? [] : [`--data-raw ${quote(body)}`]),
  ];
  return [...notes.map((note) => `# ${note}`), `curl ${options.join(' \\\n  ')}`].join('\n');
}

const METHOD_OPTIONS: Readonly<Record<string, readonly string[]>> = { GET: [], HEAD: ['--head'] };

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
