import { BEHAVIOURS, type BehaviourOptions } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import type { ChangeableId } from '../../src/contract/behaviours.ts';
import { everywhere, type Reply, type Service } from './everywhere.ts';

/** A request whose reply shows what the value of a behaviour means. */
export interface Reading {
  readonly call: (service: Service) => Promise<Reply>;
  readonly expected: (reply: Reply) => unknown;
  readonly value: unknown;
}

/**
 * Registers a test for each reading: the reply has the value, and names the behaviour unless the document states it.
 */
export function testReadings(readings: readonly (readonly [BehaviourOptions, Reading])[]): void {
  for (const [behaviours, { call, expected, value }] of readings) {
    everywhere(`${JSON.stringify(behaviours)} shapes the reply`, { behaviours }, async (service) => {
      const reply = await call(service);
      expect(expected(reply)).toEqual(value);
      const [[id, current] = []] = Object.entries(behaviours);
      const { origin, default: standard } = BEHAVIOURS[id as ChangeableId];
      expect(namedIn(reply).includes(id as string)).toBe(origin !== 'document' || current !== standard);
    });
  }
}

/** The behaviours that a reply names. */
export function namedIn({ headers }: Reply): string[] {
  return headers.get('x-mock-assumed')?.split(', ') ?? [];
}
