// A process that breaks a copy of the emulator by one mutant after the other, and says what a client and `verify` see of
// each. A process of its own, because a mutant may run without end, or use up the memory.
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Mailbox } from 'agent-mailbox-mock';
import { createMailbox } from '../../src/mailbox/index.ts';
import type { startServer } from '../../src/server/index.ts';
import type { Finding } from '../../src/verify/finding.ts';
import { findInOperations } from '../../src/verify/operation-findings.ts';
import { sendInProcess } from '../../src/verify/targets.ts';
import { compareServer } from '../verify/compare-server.ts';
import { recordSequence } from '../verify/record-sequence.ts';
import { walk } from './walk.ts';

/** What the process says first: the numbers of the mutants whose place a walk reaches. */
export interface Ready {
  readonly reached: readonly number[];
}

/** What is seen of one mutant. */
export interface Seen {
  /** The first reply in which a walk sees the mutant, and the reply in its place; undefined if it sees nothing. */
  readonly difference?: { readonly found: string; readonly inPlaceOf: string };
  /** The ids of the statements that `verify` names. */
  readonly named: readonly string[];
}

const [folder = '', seed, walks] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const copy: { createMailbox: typeof createMailbox } = await import(join(folder, 'src/mailbox/index.ts'));
const copiedServer: { startServer: typeof startServer } = await import(join(folder, 'src/server/index.ts'));
const { onReach, switchOn }: typeof import('../mutation/switch.ts') = await import(
  join(folder, 'test/mutation/switch.ts')
);

const isDifferent = ({ verdict }: Finding) => verdict === 'differs';

/** What the walks see of the copy while one of its mutants runs, or none. */
async function walkThrough(number: number | undefined): Promise<string[]> {
  const seen: string[] = [];
  for (let walkNumber = 1; walkNumber <= walks; walkNumber += 1) {
    switchOn(number);
    try {
      // With a seed and a clock that stands still, the same requests get the same replies.
      const mailbox: Mailbox = copy.createMailbox({ seed: 1 });
      mailbox.clock.freeze('2026-03-01T09:00:00Z');
      const { acme, globex } = mailbox.keys as unknown as Record<'acme' | 'globex', { tenant: string }>;
      const send = (request: Request) => mailbox.fetch(request);
      seen.push(...(await walk(send, [acme.tenant, globex.tenant], seed * 100 + walkNumber)));
    } catch (error) {
      seen.push(`the emulator fails: ${String(error)}`);
    } finally {
      switchOn(undefined);
    }
  }
  return seen;
}

const reached = new Set<number>();
onReach((number) => reached.add(number));
const intact = await walkThrough(undefined);
onReach(() => {});
const intactAgain = await walkThrough(undefined);
if (!isDeepStrictEqual(intact, intactAgain)) throw new Error('Two walks through the same emulator saw two things.');
const emulator = await recordSequence(createMailbox());
const right = findInOperations(await recordSequence(copy.createMailbox()), emulator);
const accused = right.filter(isDifferent);
if (accused.length > 0) throw new Error(`A right server is accused: ${accused.map(({ id }) => id).join(', ')}.`);

/** Compares the copy with emulators, as the command does. */
async function compareWhole(): Promise<readonly Finding[]> {
  await using server = await copiedServer.startServer({ port: 0 });
  const { findings, stopped } = await compareServer(server, { send: sendInProcess(server.mailbox) });
  if (stopped !== undefined) throw new Error(stopped);
  return findings;
}

async function look(number: number): Promise<Seen> {
  const seen = await walkThrough(number);
  const first = seen.findIndex((line, index) => line !== intact[index]);
  if (first < 0 && seen.length === intact.length) return { named: [] };
  const difference = { found: seen[first] ?? 'nothing', inPlaceOf: intact[first] ?? 'nothing' };
  switchOn(number);
  try {
    const inOperations = findInOperations(await recordSequence(copy.createMailbox()), emulator);
    // The whole run has streams, deliveries and experiments too, and takes ten times as long.
    const findings = inOperations.some(isDifferent) ? inOperations : await compareWhole();
    return { difference, named: findings.filter(isDifferent).map(({ id }) => id) };
  } catch (error) {
    return { difference, named: [`the run ends: ${String(error)}`] };
  } finally {
    switchOn(undefined);
  }
}

process.on('message', (number: number) => {
  void look(number).then((seen) => process.send?.(seen));
});
process.send?.({ reached: [...reached] } satisfies Ready);
