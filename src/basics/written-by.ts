import { NAME } from './version.ts';

// By these marks, a command recognises a file that it wrote, and replaces it without a question.

/** The element in the head of an HTML page that this program wrote. */
export const PAGE_MARK = `<meta name="generator" content="${NAME}">`;

/** The second line of JUnit XML that this program wrote. */
export const JUNIT_MARK = `<!-- Written by ${NAME} -->`;
