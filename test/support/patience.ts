/**
 * How long a test waits for what must happen, in milliseconds. On a busy machine everything takes longer, so only
 * something that never happens takes as long as this. No test has a limit of its own.
 */
export const PATIENCE_MS = 120_000;

/** After how many milliseconds a whole test fails: long after each of its waits, whose errors say more. */
export const TEST_LIMIT_MS = 5 * PATIENCE_MS;
