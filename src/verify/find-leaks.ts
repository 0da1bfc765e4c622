import type { Difference } from './compare-replies.ts';
import type { RecordedRequest } from './recording.ts';

const ID_OR_SECRET = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?:sa|tk|wk|ak)_[\w-]{10,}|whsec_[\w+/=]{16,}/gi;

/** What only the inside of a service knows, by its name, with a function that finds it in a line. */
const INSIDES: readonly (readonly [name: string, isIn: (line: string) => boolean])[] = [
  ['a stack trace', isOfStackTrace],
  ['a statement of SQL', isSql],
  ['a path of the file system', (line) => /(?:^|[\s("'])\/(?:srv|home|usr|var|opt|app)\/[\w./-]+/.test(line)],
];

function isOfStackTrace(line: string): boolean {
  const text = line.trim();
  if (text.startsWith('Traceback (most recent call last)')) return true;
  if (text.startsWith('at ')) return /:\d+\)?$/.test(text);
  return text.startsWith('File "') && /, line \d+/.test(text);
}

function isSql(line: string): boolean {
  const words = line.split(/\W+/);
  const isFollowed = (first: string, then: string) => words.includes(then, words.indexOf(first) + 1);
  const isNext = (first: string, then: string) => words[words.indexOf(first) + 1] === then;
  return (
    (words.includes('SELECT') && isFollowed('SELECT', 'FROM')) ||
    (words.includes('UPDATE') && isFollowed('UPDATE', 'SET')) ||
    (words.includes('INSERT') && isNext('INSERT', 'INTO')) ||
    (words.includes('DELETE') && isNext('DELETE', 'FROM'))
  );
}

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
  for (const [name, isIn] of INSIDES) {
    if (text.split('\n').some(isIn) && !emulatorText.split('\n').some(isIn)) add('the text of the error', name);
  }
  return leaks;
}
