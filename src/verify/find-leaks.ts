import type { Difference } from './compare-replies.ts';
import type { RecordedRequest } from './recording.ts';

const ID_OR_SECRET = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?:sa|tk|wk|ak)_[\w-]{10,}|whsec_[\w+/=]{16,}/gi;

/** What only the inside of a service knows, by its name. */
const INSIDES: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a stack trace', /^\s*at .+:\d+(?::\d+)?\)?\s*$/m],
  ['a stack trace', /Traceback \(most recent call last\)|^\s+File ".+", line \d+/m],
  ['a statement of SQL', /\b(?:SELECT\b.+\bFROM|INSERT INTO|UPDATE\b.+\bSET|DELETE FROM)\b/],
  ['a path of the file system', /(?:^|[\s("'])\/(?:srv|home|usr|var|opt|app)\/[\w./-]+/],
];

/**
 * Finds what a reply must not show: in its headers a key or a secret, and in the text of an error also an id of this run
 * or the inside of the service. What the emulator shows too, or what the request has named, is no leak. `roles` are the
 * values of the run with what is printed in their place.
 */
export function findLeaks(found: RecordedRequest, emulator: RecordedRequest, roles: ReadonlyMap<string, string>) {
  const leaks: Difference[] = [];
  const { reply } = found;
  if (!reply) return leaks;
  const add = (at: string, shown: string) => {
    if (leaks.some((leak) => leak.at === at && leak.found === shown)) return;
    leaks.push({ at, found: `it shows ${shown}`, emulator: 'it does not', kind: 'leak' });
  };
  const isError = reply.status >= 400;
  const asked = `${found.path} ${JSON.stringify(found.sent)}`.toLowerCase();
  for (const [name, value] of reply.headers) {
    for (const [text] of value.matchAll(ID_OR_SECRET)) {
      const role = roles.get(text.toLowerCase());
      if (role !== undefined && /^(?:sa_|tk_|wk_|ak_|whsec_)/i.test(text)) add(`the header ${name}`, role);
    }
  }
  if (!isError) return leaks;
  for (const [text] of reply.text.matchAll(ID_OR_SECRET)) {
    const role = roles.get(text.toLowerCase());
    if (role !== undefined && !asked.includes(text.toLowerCase())) add('the text of the error', role);
  }
  const text = typeof reply.body?.error === 'string' ? reply.body.error : reply.text;
  const emulatorText = emulator.reply?.text ?? '';
  for (const [name, pattern] of INSIDES) {
    if (pattern.test(text) && !pattern.test(emulatorText)) add('the text of the error', name);
  }
  return leaks;
}
