import { expect, test } from 'vitest';
import { decideOver, type ObservedAgent } from '../../../src/control/verdicts/decide-over.ts';

const NEVER = Number.NEGATIVE_INFINITY;

/** An agent that was called at 0, answered at 100, and has done nothing since. */
const ANSWERED: ObservedAgent = {
  nowMs: 200,
  limitMs: 60_000,
  quietMs: 2_000,
  longestGapMs: 100,
  hasBreached: false,
  saidDone: false,
  openCalls: 0,
  mayStillStart: false,
  looks: 'never',
  lastChangeMs: 0,
  lastActMs: 100,
  lastNewsMs: NEVER,
  lastOtherMs: 0,
  lastLookMs: 0,
  lookIntervalMs: undefined,
};

/** An agent that saw the mail at 90, answered it at 100, and looked again at 150. */
const LOOKED: ObservedAgent = { ...ANSWERED, looks: 'again', lastNewsMs: 90, lastLookMs: 150, lookIntervalMs: 50 };

test.for<[what: string, observed: ObservedAgent, expected: object]>([
  ['it is never over because all is well', ANSWERED, { goOnUntilMs: 2_200 }],
  ['silence is the quiet time and the longest gap', { ...ANSWERED, nowMs: 2_200 }, { over: 'silence' }],
  ['the word of the agent ends it at once', { ...ANSWERED, saidDone: true }, { over: 'done' }],
  ['a breach ends it at once', { ...ANSWERED, hasBreached: true, openCalls: 1 }, { over: 'breach' }],
  ['no word counts while a call is open', { ...ANSWERED, saidDone: true, openCalls: 1 }, { goOnUntilMs: 60_000 }],
  ['an open call is no silence', { ...ANSWERED, nowMs: 9_000, openCalls: 1 }, { goOnUntilMs: 60_000 }],
  ['the limit ends it even then', { ...ANSWERED, nowMs: 60_000, openCalls: 1 }, { over: 'time' }],
  ['a slow start is no silence', { ...ANSWERED, nowMs: 12_000, mayStillStart: true }, { goOnUntilMs: 60_000 }],
  [
    'a silence ends at the limit at the latest',
    { ...ANSWERED, nowMs: 59_000, lastActMs: 59_000 },
    { goOnUntilMs: 60_000 },
  ],
  ['an agent that looked once more is silent', { ...LOOKED, nowMs: 2_200 }, { over: 'silence' }],
  [
    'one that has seen something new may think',
    { ...LOOKED, nowMs: 9_000, lastActMs: 0, lastLookMs: 80 },
    { goOnUntilMs: 60_000 },
  ],
  ['one that has acted since is silent', { ...LOOKED, nowMs: 2_200, lastLookMs: 80 }, { over: 'silence' }],
  [
    'one that has looked only once, and not since a step, is waited for',
    { ...LOOKED, nowMs: 9_000, lastChangeMs: 160, lookIntervalMs: undefined },
    { goOnUntilMs: 60_000 },
  ],
  ['one that looked at intervals is waited for', { ...LOOKED, lastChangeMs: 160 }, { goOnUntilMs: 2_510 }],
  ['until it has stopped looking', { ...LOOKED, lastChangeMs: 160, nowMs: 2_510 }, { over: 'silence' }],
  [
    'its word counts only if it has looked since',
    { ...LOOKED, saidDone: true, lastChangeMs: 160 },
    { goOnUntilMs: 2_510 },
  ],
  ['its word counts without another look', { ...LOOKED, saidDone: true, lastLookMs: 50 }, { over: 'done' }],
  [
    'IMAP must have looked since the mail',
    { ...LOOKED, looks: 'for mail', nowMs: 9_000, lastChangeMs: 160 },
    { goOnUntilMs: 60_000 },
  ],
  ['IMAP need not look again', { ...LOOKED, looks: 'for mail', nowMs: 2_200, lastLookMs: 50 }, { over: 'silence' }],
  [
    'without any change, IMAP need not look',
    { ...LOOKED, looks: 'for mail', nowMs: 2_200, lastChangeMs: NEVER },
    { over: 'silence' },
  ],
])('%s', ([, observed, expected]) => {
  expect(decideOver(observed)).toEqual(expected);
});

/** An agent that thinks before each act, with the time of each act, and of its word that it is done. */
interface Planned {
  readonly acts: readonly number[];
  readonly doneMs: number | undefined;
  /** The interval of its looks while it does not think; undefined if it is called. */
  readonly intervalMs: number | undefined;
}

/** Runs an agent in a time of its own: returns when and why the wait for it is over. */
function simulate({ acts, doneMs, intervalMs }: Planned, quietMs: number, limitMs: number) {
  for (let nowMs = 0; ; ) {
    const past = acts.filter((atMs) => atMs <= nowMs);
    const lastActMs = past.at(-1) ?? NEVER;
    // It is called at 0, and works in turn: it looks again only after its last act.
    const isWorking = past.length < acts.length;
    const looksSince = isWorking || intervalMs === undefined ? 0 : Math.floor((nowMs - lastActMs) / intervalMs);
    const lastLookMs = looksSince > 0 ? lastActMs + looksSince * (intervalMs ?? 0) : 1;
    const decision = decideOver({
      ...ANSWERED,
      nowMs,
      limitMs,
      quietMs,
      longestGapMs: Math.max(0, ...past.map((atMs, index) => atMs - (past[index - 1] ?? 0))),
      saidDone: doneMs !== undefined && doneMs <= nowMs,
      looks: intervalMs === undefined ? 'never' : 'again',
      lastActMs,
      // The first look, at 1, shows the mail.
      lastNewsMs: intervalMs === undefined ? NEVER : 1,
      lastLookMs,
    });
    if ('over' in decision) return { over: decision.over, atMs: nowMs };
    const nextLookMs = lastActMs + (looksSince + 1) * (intervalMs ?? limitMs);
    const events = [...acts, doneMs ?? limitMs, nextLookMs].filter((atMs) => atMs > nowMs);
    nowMs = Math.min(decision.goOnUntilMs, ...events);
  }
}

test('of 4,000 agents, no act within the window is missed, and no wait outlasts its reason', () => {
  const [quietMs, limitMs] = [2_000, 60_000];
  let seed = 7;
  const pick = (most: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % (most + 1);
  };
  for (let count = 0; count < 4_000; count += 1) {
    const acts: number[] = [];
    for (let index = pick(4); index >= 0; index -= 1) acts.push((acts.at(-1) ?? 0) + 1 + pick(7_000));
    const lastMs = acts.at(-1) ?? 0;
    const intervalMs = count % 2 === 0 ? undefined : 100 + pick(3_000);
    const doneMs = count % 3 === 0 ? lastMs + 1 : undefined;
    const agent = { acts, doneMs, intervalMs };
    const { over, atMs } = simulate(agent, quietMs, limitMs);
    const shown = JSON.stringify({ agent, over, atMs });
    // The next act after the wait, if there is one, came later than the quiet time and the longest gap until then.
    const seen = acts.filter((each) => each <= atMs);
    const gapMs = Math.max(0, ...seen.map((each, index) => each - (seen[index - 1] ?? 0)));
    const missed = acts[seen.length];
    if (missed !== undefined) expect(missed - (seen.at(-1) ?? 0), shown).toBeGreaterThanOrEqual(quietMs + gapMs);
    // Until it acts, an agent that looks in turn is thinking.
    if (intervalMs !== undefined) expect(seen.length, shown).toBeGreaterThan(0);
    if (missed === undefined && doneMs !== undefined) expect([over, atMs], shown).toEqual(['done', doneMs]);
    expect(over, shown).not.toBe('time');
  }
});
