import { BEHAVIOURS } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { BEHAVIOUR_IDS, CHANGEABLE_IDS, changeableDefinition } from '../../src/contract/behaviours.ts';
import { compareObservations } from '../../src/verify/compare-replies.ts';
import { startEmulator, startReceiver } from '../../src/verify/targets.ts';
import { TOLD_BY_OPERATIONS } from '../../src/verify/told-by-operations.ts';
import { EXPERIMENTS } from '../../src/verify/verifier.ts';
import { MeasuredValue, VerifySession } from '../../src/verify/verify-session.ts';

/** The limit of a call runs in real time, up to half a minute: its shorter values show that it is told. */
const IN_REAL_TIME = { 'deliveries.timeout': ['100ms', '1s'] } as Readonly<Record<string, readonly string[]>>;

const told = CHANGEABLE_IDS.filter((id) => !BEHAVIOURS[id].observableWith.startsWith('not from outside'));

/** What an experiment observes of an emulator with one value. */
async function observe(
  id: (typeof told)[number],
  value: string,
): Promise<readonly [observed: unknown, domain: string]> {
  const receiver = await startReceiver(0);
  const { target, close } = await startEmulator({ [id]: value }, receiver.forEmulator('value'));
  const session = new VerifySession(target, 'same');
  try {
    await session.open();
    session.begin(id);
    return [await EXPERIMENTS[id]?.(session), session.domain] as const;
  } finally {
    await close();
    receiver.close();
  }
}

async function tellApart(id: (typeof told)[number]): Promise<void> {
  const values = IN_REAL_TIME[id] ?? Object.keys(changeableDefinition(id).choices);
  const seen = await Promise.all(values.map(async (value) => ({ value, observed: await observe(id, value) })));
  for (const { value, observed } of seen) {
    const [measured] = observed;
    if (measured instanceof MeasuredValue) {
      expect(measured.value).toBe(value);
      continue;
    }
    const same = seen.filter((other) => compareObservations(other.observed, observed).length === 0);
    expect(same.map((other) => other.value)).toEqual([value]);
  }
}

describe('the experiments of verify', () => {
  test('each entry of the ledger is told by one experiment or by statements about operations, or says why it cannot be', () => {
    const without = BEHAVIOUR_IDS.filter((id) => BEHAVIOURS[id].observableWith.startsWith('not from outside'));
    expect([...Object.keys(EXPERIMENTS), ...Object.keys(TOLD_BY_OPERATIONS)].toSorted()).toEqual(
      BEHAVIOUR_IDS.filter((id) => !without.includes(id)).toSorted(),
    );
    for (const id of without) expect(BEHAVIOURS[id].observableWith).toMatch(/^not from outside: [a-z].{20,}[^.]$/);
  });

  test.for(told.filter((id) => !(id in IN_REAL_TIME)))('the values of %s are told apart', tellApart);

  test.for(told.filter((id) => id in IN_REAL_TIME))(
    'the values of %s are told apart while no other test delays the call',
    { concurrent: false },
    tellApart,
  );
});
