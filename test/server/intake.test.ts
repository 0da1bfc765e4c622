import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Intake } from '../../src/server/intake.ts';

const MIB = 1024 * 1024;

/** Creates an intake with room for 20 MiB, and its clock. */
function createIntake() {
  let nowMs = 0;
  const intake = new Intake({ memory: () => ({ heapBytes: 0, allBytes: 0 }) }, () => nowMs);
  const dropped: string[] = [];
  return {
    intake,
    /** The names of what lost its room, in this order. */
    dropped,
    /** Starts what a client sends; by default, everything is of one client. */
    start: (name: string, ...client: string[]) => intake.createCounter({ client, onDropped: () => dropped.push(name) }),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('bytes are counted when they arrive, and until they are released', () => {
  const { start } = createIntake();
  const [one, other] = [start('one'), start('other')];
  expect(one.add(20 * MIB)).toBeUndefined();
  expect(other.add(1)?.code).toBe('STORAGE_FULL');
  one.release();
  one.release();
  expect(other.add(20 * MIB)).toBeUndefined();
  expect(one.add(0)?.code).toBe('STORAGE_FULL');
});

test('what has kept the most room for the longest time gives it up, if it began more than ten seconds ago', () => {
  const { start, dropped, pass } = createIntake();
  const [large, small] = [start('large'), start('small')];
  large.add(12 * MIB);
  small.add(7 * MIB);
  pass(10_000);
  const next = start('next');
  expect(next.add(2 * MIB)?.code).toBe('STORAGE_FULL');
  expect(dropped).toEqual([]);
  pass(1);
  expect(next.add(2 * MIB)).toBeUndefined();
  expect(dropped).toEqual(['large']);
  expect(large.add(1)?.code).toBe('STORAGE_FULL');
  pass(60_000);
  expect(small.add(12 * MIB)?.code).toBe('STORAGE_FULL');
  expect(dropped).toEqual(['large', 'small']);
  large.release();
  expect(next.add(18 * MIB)).toBeUndefined();
});

test('what arrives slowly, but keeps little, is not disturbed', () => {
  const { start, dropped, pass } = createIntake();
  const slow = start('slow');
  for (let second = 0; second < 300; second += 1) {
    pass(1_000);
    expect(slow.add(1_000)).toBeUndefined();
    const quick = start('quick');
    expect(quick.add(10 * MIB)).toBeUndefined();
    quick.release();
  }
  expect(dropped).toEqual([]);
});

test('the time of a request begins with its first bytes', () => {
  const { start, dropped, pass } = createIntake();
  const [idle, first] = [start('idle'), start('first')];
  first.add(10 * MIB);
  pass(60_000);
  idle.add(10 * MIB);
  expect(start('next').add(MIB)).toBeUndefined();
  expect(dropped).toEqual(['first']);
});

test('one client may use all room, also with many requests, as long as no other client needs it', () => {
  const { start, dropped } = createIntake();
  const all = Array.from({ length: 20 }, (_, count) => start(`${count}`, 'one'));
  expect(all.map((each) => each.add(MIB)?.code)).toEqual(all.map(() => undefined));
  expect(start('next', 'one').add(1)?.code).toBe('STORAGE_FULL');
  expect(dropped).toEqual([]);
});

test('a client gives up what it has beyond a quarter as soon as another client needs it, the most first', () => {
  const { start, dropped } = createIntake();
  start('small', 'one').add(3 * MIB);
  start('large', 'one').add(12 * MIB);
  start('fair', 'two').add(5 * MIB);
  const other = start('other', 'three');
  expect(other.add(4 * MIB)).toBeUndefined();
  expect(dropped).toEqual(['large']);
  expect(other.add(2 * MIB)).toBeUndefined();
  expect(start('more', 'two').add(7 * MIB)?.code).toBe('STORAGE_FULL');
  expect(dropped).toEqual(['large']);
});

test('a client that would itself have more than a quarter takes nothing from the others', () => {
  const { start, dropped } = createIntake();
  start('one', 'one').add(15 * MIB);
  const two = start('two', 'two');
  expect(two.add(5 * MIB)).toBeUndefined();
  expect(two.add(1)?.code).toBe('STORAGE_FULL');
  expect(dropped).toEqual([]);
});

test('logins of one tenant or address share its quarter, and among themselves each has its own', () => {
  const { start, dropped } = createIntake();
  for (const login of ['a', 'b', 'c', 'd']) start(login, 'acme', login).add(5 * MIB);
  expect(start('sibling', 'acme', 'e').add(1)?.code).toBe('STORAGE_FULL');
  expect(start('stranger', 'globex', 'f').add(MIB)).toBeUndefined();
  expect(dropped).toEqual(['a']);
  const greedy = start('greedy', 'acme', 'b');
  expect(greedy.add(4 * MIB)).toBeUndefined();
  expect(start('sibling', 'acme', 'e').add(MIB)).toBeUndefined();
  expect(dropped).toEqual(['a', 'b']);
});

test('whatever clients do, one within its quarter is refused only if no other has more and nothing is older than ten seconds', () => {
  const step = fc.record({
    client: fc.integer({ min: 0, max: 5 }),
    counter: fc.integer({ min: 0, max: 3 }),
    bytes: fc.integer({ min: 1, max: 6 * MIB }),
    passMs: fc.constantFrom(0, 1, 5_000, 11_000),
    isReleased: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { intake, pass } = createIntake();
      let nowMs = 0;
      const held = new Map<
        string,
        { client: number; bytes: number; sinceMs: number; counter: ReturnType<Intake['createCounter']> }
      >();
      const sum = (client?: number) =>
        [...held.values()].reduce(
          (all, each) => all + (client === undefined || each.client === client ? each.bytes : 0),
          0,
        );
      for (const { client, counter: number, bytes, passMs, isReleased } of steps) {
        pass(passMs);
        nowMs += passMs;
        const name = `${client} ${number}`;
        const entry = held.get(name) ?? {
          client,
          bytes: 0,
          sinceMs: nowMs,
          counter: intake.createCounter({ client: [`${client}`], onDropped: () => held.delete(name) }),
        };
        held.set(name, entry);
        const refusal = entry.counter.add(bytes);
        if (!refusal) entry.bytes += bytes;
        else if (held.has(name) && sum(client) + bytes <= 5 * MIB) {
          expect([0, 1, 2, 3, 4, 5].filter((other) => other !== client && sum(other) > 5 * MIB)).toEqual([]);
          expect([...held.values()].filter((each) => each.bytes > 0 && nowMs - each.sinceMs > 10_000)).toEqual([]);
        }
        expect(sum()).toBeLessThanOrEqual(20 * MIB);
        if (refusal || isReleased) {
          entry.counter.release();
          held.delete(name);
        }
      }
    }),
  );
});
