import { BEHAVIOURS, type BehaviourOptions } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHANGEABLE_IDS, changeableDefinition } from '../../src/contract/behaviours.ts';
import { USUAL_REQUESTS } from '../../src/verify/verify-session.ts';
import { compareEmulator, linesWith } from './compare-server.ts';

/** How many random profiles; `VERIFY_PROFILES=30` tries more. */
const RUNS = Number(process.env.VERIFY_PROFILES ?? 2);

const profiles = fc.record(
  Object.fromEntries(
    CHANGEABLE_IDS.map((id) => [id, fc.constantFrom(...Object.keys(changeableDefinition(id).choices))]),
  ),
) as fc.Arbitrary<BehaviourOptions>;

// Each profile is a whole run, and the machine may be busy.
const TIMEOUT_MS = (RUNS + 1) * 300_000;

/** The webhooks of deliveries are in the list of a workspace key, and no webhook is told of bounces. */
const HIDING = {
  'webhooks.create.events': 'received-only',
  'webhooks.list.workspace-scope': 'own-and-tenant-wide',
  'sending.unknown-user': 'accepted',
} as const satisfies BehaviourOptions;

test('a run against behaviours that hide others accuses nothing, and sends about as many requests as it says', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { findings, requests } = await compareEmulator(HIDING);
  const told = Object.entries(HIDING).filter(([id]) => id !== 'sending.unknown-user');
  expect(linesWith(findings, 'differs')).toEqual(told.map(([id, value]) => `${id}: ${value}`));
  expect(Math.abs((requests ?? 0) - USUAL_REQUESTS) / USUAL_REQUESTS).toBeLessThan(0.1);
});

test('the found profile is the set one, for what could be told, and no statement differs', {
  timeout: TIMEOUT_MS,
}, async () => {
  await fc.assert(
    fc.asyncProperty(profiles, async (behaviours) => {
      const { findings, behaviours: found, left } = await compareEmulator(behaviours);
      expect(behaviours).toMatchObject(found);
      const ofValues = linesWith(findings, 'differs').filter((line) => (line.split(':')[0] ?? '') in BEHAVIOURS);
      const changed = CHANGEABLE_IDS.filter((id) => id in found && found[id] !== BEHAVIOURS[id].default);
      expect(ofValues).toEqual(changed.map((id) => `${id}: ${found[id]}`));
      expect(linesWith(findings, 'differs')).toEqual(ofValues);
      expect(Object.keys(found).length).toBeGreaterThan(70);
      expect(left).toEqual([]);
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});
