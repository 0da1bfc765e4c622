import { describe, expect, test } from 'vitest';
import { isNestedDeeper } from '../../src/basics/json-depth.ts';

describe('the depth of JSON', () => {
  test.for<[text: string, levels: number]>([
    ['1', 0],
    ['"[[["', 0],
    ['null', 0],
    ['[]', 1],
    ['{"a":1,"b":{}}', 2],
    ['[[],[[1]],[]]', 3],
    ['{"a":[{"b":[0]}],"c":0}', 4],
  ])('of %s is %i', ([text, levels]) => {
    const value: unknown = JSON.parse(text);
    expect([isNestedDeeper(value, levels), isNestedDeeper(value, levels - 1)]).toEqual([false, levels > 0]);
  });

  test('is counted without the stack of the engine', () => {
    const value: unknown = JSON.parse('['.repeat(1_000_000) + ']'.repeat(1_000_000));
    expect([isNestedDeeper(value, 1_000_000), isNestedDeeper(value, 999_999)]).toEqual([false, true]);
  });

  test('has no end in a value that contains itself', () => {
    const circular: Record<string, unknown> = { many: Array.from({ length: 50 }, () => ({})) };
    for (const name of ['a', 'b', 'c']) circular[name] = circular;
    expect(isNestedDeeper(circular)).toBe(true);
  });
});
