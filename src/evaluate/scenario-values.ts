// What the flags of the command need, too, which must not load the schema of scenarios.

/** Every way in which an agent can learn of mail. */
export const TOLD = ['webhook', 'stream', 'poll', 'imap', 'mcp', 'start'] as const;

/**
 * How an agent learns of mail: it is called, listens, looks again and again, or is started when mail has come, and ends
 * when it has looked once.
 */
export type Told = (typeof TOLD)[number];

/** What the way in which an agent learns of mail must be. */
export const TOLD_RULE = `one of ${TOLD.join(', ')}`;

/** What a share that is required must be. */
export const SHARE_RULE = 'a share from 0 to 1, such as 0.8';

/** Returns whether a value is a share that may be required. */
export function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1;
}
