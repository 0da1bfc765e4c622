import type { MessageRow } from '../store/rows.ts';

const MAX_REFERENCES = 20;

/** Returns the references of a reply: the first message of the conversation, and the latest ones. */
export function referencesTo({
  references,
  messageIdHeader,
}: Pick<MessageRow, 'references' | 'messageIdHeader'>): string[] {
  const all = [...references, messageIdHeader];
  return all.length <= MAX_REFERENCES ? all : [...all.slice(0, 1), ...all.slice(1 - MAX_REFERENCES)];
}
