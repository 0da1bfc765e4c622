import type { Choose } from '../contract/behaviours.ts';

/** What mail to an address at `simulator.test` does. */
export const SIMULATORS = {
  success: 'The mail is sent, and goes nowhere.',
  bounce: 'The mail is sent and bounces: `message.bounced`.',
  'relay-error': 'The relay fails: 502 `RELAY_FAILED`, and nothing is sent.',
  pause: 'The inbox is paused: 403 `INBOX_PAUSED`, from this send on.',
  resume: 'A paused inbox may send again, this mail first.',
} as const;

/** The name of a simulator. */
type Simulator = keyof typeof SIMULATORS;

/**
 * Finds the simulator that a bare address names, also with a plus-tag such as `bounce+42@simulator.test`, unless the
 * ledger says that there are none.
 */
export function findSimulator(address: string, choose: Choose): Simulator | undefined {
  const name = /^([a-z-]+)(?:\+[^@]*)?@simulator\.test$/i.exec(address)?.[1]?.toLowerCase() ?? '';
  return isSimulator(name) && choose('sending.simulators') === 'on' ? name : undefined;
}

function isSimulator(name: string): name is Simulator {
  return Object.hasOwn(SIMULATORS, name);
}
