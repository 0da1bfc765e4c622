/** The longest story, in lines. */
export const MAX_LINES = 20;

/** The title of a story in a message. */
export const STORY_TITLE = 'What happened:';

/** How many mails are told of together. */
const MAX_TOLD = 3;

/** Shortens a story that is too long. */
export function shortenStory(lines: readonly string[]): string[] {
  return lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES - 1), '…'] : [...lines];
}

/**
 * Tells what became of the latest of these mails, for the message of an error: at most 20 lines below a title, or none.
 * `tell` returns the story of a mail.
 */
export function tellTogether(ids: readonly string[], tell: (id: string) => readonly string[]): string[] {
  const lines = shortenStory(ids.slice(-MAX_TOLD).flatMap(tell));
  return lines.length === 0 ? [] : [STORY_TITLE, ...lines.map((line) => `  ${line}`)];
}
