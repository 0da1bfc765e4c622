import type { MailPart } from '../mail/mime/split-parts.ts';

/**
 * Finds a part by its numbers, such as `1.2` for the second part of the first part. If a mail or a part contains no
 * parts, its part 1 is itself.
 */
export function findPart(root: MailPart, numbers: readonly number[]): MailPart | undefined {
  let found: MailPart | undefined;
  let container: MailPart | undefined = root;
  for (const number of numbers) {
    const isWhole: boolean = container?.type !== 'multipart' && number === 1;
    found = isWhole ? container : container?.parts[number - 1];
    container = found?.message ?? (isWhole ? undefined : found);
  }
  return found;
}
