// A child process: it tells its parent how many milliseconds its first mailbox took.
import { createMailbox } from 'agent-mailbox-mock';

const startedAt = performance.now();
createMailbox();
process.send?.(performance.now() - startedAt);
