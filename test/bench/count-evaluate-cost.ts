// A child process: `count-evaluate-cost.ts` tells its parent what the trials of an agent cost that answers at once.
import { type EvaluatedTask, evaluate } from 'agent-mailbox-mock/evaluate';
import { usedMemory } from './count-bytes.ts';

/** What trials cost. */
export interface EvaluateCost {
  /** How long 1,000 trials take. */
  readonly seconds: number;
  /** The processor time of one of them. */
  readonly processorMs: number;
  /** The memory that one trial leaves. */
  readonly leftKilobytes: number;
}

process.once('disconnect', () => process.exit());

async function answer({ baseUrl, keys, inboxId, event }: EvaluatedTask): Promise<void> {
  const headers = { 'X-API-Key': keys.inbox, 'Content-Type': 'application/json' };
  const body = '{"plainBody":"It is on its way."}';
  const reply = await fetch(`${baseUrl}/v1/inboxes/${inboxId}/reply/${event?.messageId}`, {
    method: 'POST',
    headers,
    body,
  });
  await reply.text();
}

const scenario = {
  name: 'Answers',
  steps: [{ deliver: { from: 'dana@customer.test', subject: 'Order 7', plainBody: 'Where is my chair?' } }],
  expect: [{ sentOnce: { to: 'dana@customer.test' } }],
};

/** The journal keeps 10,000 entries of sandboxes that were closed. It has them after so many trials. */
const UNTIL_JOURNAL_IS_FULL = 1_600;
const COUNTED = 800;

let done = 0;
let before = 0;
let after = 0;
let [seconds, processorMs] = [0, 0];
const startedMs = performance.now();
await evaluate(answer, scenario, {
  repeat: UNTIL_JOURNAL_IS_FULL + COUNTED,
  concurrency: 16,
  async onTrial() {
    done += 1;
    if (done === 1_000) {
      const { user, system } = process.cpuUsage();
      seconds = (performance.now() - startedMs) / 1000;
      processorMs = (user + system) / 1000 / done;
    }
    if (done === UNTIL_JOURNAL_IS_FULL) before = await usedMemory();
    if (done === UNTIL_JOURNAL_IS_FULL + COUNTED) after = await usedMemory();
  },
});
const cost: EvaluateCost = { seconds, processorMs, leftKilobytes: (after - before) / COUNTED / 1000 };
process.send?.(cost);
