import { findNearest } from './nearest.ts';

/** What other services call the fields of a mail whose names here are not similar. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  body: 'plainBody',
  text: 'plainBody',
  content: 'plainBody',
  message: 'plainBody',
};

/** Returns the known names that may be meant by an unknown one as `; did you mean a, b?`; empty if there are none. */
export function didYouMean(name: string, known: readonly string[]): string {
  const other = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  const near = other !== undefined && known.includes(other) ? [other] : findNearest(name, known);
  return near.length > 0 ? `; did you mean ${near.join(', ')}?` : '';
}
