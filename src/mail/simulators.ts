import type { ReadBehaviour } from '../contract/behaviours.ts';

/** The effect of mail to each address at `simulator.test`. */
export const SIMULATORS = {
  success: 'The mail is sent, and no inbox receives it.',
  bounce: 'The mail is sent and bounces: `message.bounced`.',
  'relay-error': 'The relay fails: 502 `RELAY_FAILED`, and nothing is sent.',
  pause: 'The inbox is paused: 403 `INBOX_PAUSED` for this mail and all later ones.',
  resume: 'A paused inbox can send again, starting with this mail.',
} as const;

/** The name of a simulator. */
type Simulator = keyof typeof SIMULATORS;

/**
 * Finds the simulator that a bare address names. A plus-tag is allowed, such as `bounce+42@simulator.test`. Returns
 * `undefined` for any address if `sending.simulators` turns simulators off.
 */
export function findSimulator(address: string, readBehaviour: ReadBehaviour): Simulator | undefined {
  const name = /^([a-z-]+)(?:\+[^@]*)?@simulator\.test$/i.exec(address)?.[1]?.toLowerCase() ?? '';
  return isSimulator(name) && readBehaviour('sending.simulators') === 'on' ? name : undefined;
}

function isSimulator(name: string): name is Simulator {
  return Object.hasOwn(SIMULATORS, name);
}
