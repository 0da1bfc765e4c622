import { expect, test } from 'vitest';
import { Intake } from '../../src/server/intake.ts';

const MIB = 1024 * 1024;

/** Creates an intake with room for 20 MiB, and its clock. */
function createIntake() {
  let nowMs = 0;
  const intake = new Intake(0, () => nowMs);
  return {
    intake,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('bytes are counted when they arrive, and until they are released', () => {
  const { intake } = createIntake();
  const [one, other] = [intake.createCounter(), intake.createCounter()];
  expect(one.add(20 * MIB)).toBeUndefined();
  expect(other.add(1)?.code).toBe('STORAGE_FULL');
  one.release();
  one.release();
  expect(other.add(20 * MIB)).toBeUndefined();
  expect(one.add(0)?.code).toBe('STORAGE_FULL');
});

test('what has kept the most room for the longest time gives it up, if it began more than ten seconds ago', () => {
  const { intake, pass } = createIntake();
  const dropped: string[] = [];
  const start = (name: string) => intake.createCounter(() => dropped.push(name));
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
  const { intake, pass } = createIntake();
  const dropped: string[] = [];
  const slow = intake.createCounter(() => dropped.push('slow'));
  for (let second = 0; second < 300; second += 1) {
    pass(1_000);
    expect(slow.add(1_000)).toBeUndefined();
    const quick = intake.createCounter(() => dropped.push('quick'));
    expect(quick.add(10 * MIB)).toBeUndefined();
    quick.release();
  }
  expect(dropped).toEqual([]);
});
