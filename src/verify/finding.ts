import { toPrintable } from '../basics/printable.ts';
import type { BehaviourOptions } from '../contract/behaviours.ts';
import { type Mask, maskText } from '../world/secrets/mask.ts';

/** The result of the comparison for one behaviour or one statement. */
export interface Finding {
  /** The id of the behaviour, or the operation and what was checked, such as `listWebhooks: items`. */
  readonly id: string;
  /** The question of the behaviour, or the sentence of the statement. */
  readonly stated: string;
  /** Whether the server does what the emulator does, as far as this was observed. */
  readonly verdict: 'agrees' | 'differs' | 'not compared';
  /** The value of the server, or the observation. If nothing was compared, the reason why. */
  readonly found: string;
  /** What the emulator does. */
  readonly emulator: string;
  /** The id of the finding that explains this one. What follows from it was not compared. */
  readonly followsFrom?: string;
}

/** The result of a whole run. */
export interface Verification {
  /** Why the run ended before everything was compared, if it did. */
  readonly stopped?: string;
  /** One finding for each behaviour and for each statement. */
  readonly findings: readonly Finding[];
  /** The values of the server that were found, by the id of the behaviour. */
  readonly behaviours: BehaviourOptions;
  /** The paths of the things that `verify` has created and could not delete. */
  readonly left: readonly string[];
}

/** Returns a finding without keys, secrets and control characters, which a reply of the server may have contained. */
export function maskFinding(finding: Finding, mask: Mask['text'] = maskText): Finding {
  return { ...finding, found: toPrintable(mask(finding.found)) };
}
