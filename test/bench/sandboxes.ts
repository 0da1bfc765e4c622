import { createMailbox } from 'agent-mailbox-mock';
import { askChild } from './child.ts';
import { atMost, median, type Row } from './measure.ts';

const COUNT = 1_000;

/** What a sandbox costs: the time to create it beside others, and its memory. */
export async function benchSandboxes(): Promise<Row[]> {
  const mailbox = createMailbox();
  const durations = Array.from({ length: COUNT }, () => {
    const startedAt = performance.now();
    mailbox.createSandbox();
    return performance.now() - startedAt;
  });
  const megabytes = Number(await askChild('count-sandbox-memory.ts', [String(COUNT)], ['--expose-gc']));
  return [
    atMost(1, 'ms', `createSandbox(), for each of ${COUNT}`, median(durations)),
    atMost(40, 'MB', `memory of ${COUNT} sandboxes`, megabytes),
  ];
}
