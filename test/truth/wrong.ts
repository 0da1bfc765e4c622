import type { Wrong } from './run.ts';

/** How many lines of a message are printed. */
const SHOWN_LINES = 6;

/** Describes a verdict that is not true: what was asked, what was answered, the parts of the agent, and the message. */
export function describeWrong({ question, by, answer, truth, parts, message }: Wrong): string {
  const lines = message.trim().split('\n').slice(0, SHOWN_LINES);
  return [`${question} (by ${by})? ${answer}, but the truth is: ${truth}`, JSON.stringify(parts), ...lines].join(
    '\n  ',
  );
}
