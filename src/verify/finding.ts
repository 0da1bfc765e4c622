import { toPrintable } from '../basics/printable.ts';
import type { BehaviourOptions, Origin } from '../contract/behaviours.ts';
import { type Mask, maskText } from '../world/secrets/mask.ts';

/**
 * Who states what is compared: the service document, so that a difference is a defect of the server; the public
 * reference; or nobody, so that a server may choose.
 */
export type FindingOrigin = 'document' | 'reference' | 'open choice';

/** The origin of what the ledger, or the table of operations, says. */
export const originOfFinding = (origin: Origin): FindingOrigin => (origin === 'assumed' ? 'open choice' : origin);

/** The result of the comparison for one behaviour or one statement. */
export interface Finding {
  /** The id of the behaviour, or the operation and what was checked, such as `listWebhooks: items`. */
  readonly id: string;
  /** What is compared, as a statement: the answer of the emulator to a question of the ledger, or what an operation does. */
  readonly stated: string;
  /** Who says so, which is how much a difference weighs. */
  readonly origin: FindingOrigin;
  /** Whether the server does what the emulator does, as far as this was observed. */
  readonly verdict: 'agrees' | 'differs' | 'not compared';
  /** The value of the server, or the observation. If nothing was compared, the reason why. */
  readonly found: string;
  /** What the emulator does. */
  readonly emulator: string;
  /** If the emulator can do the same: the behaviour with its value, such as `webhooks.delete.body=empty`. */
  readonly accepts?: string;
  /** If nothing was compared, and a flag of the command would make a run compare it: the flag, such as `--slow`. */
  readonly observableWith?: string | undefined;
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
  /** How many requests of the run were answered. */
  readonly requests?: number;
  /** How many connections were closed before a reply, so that a request was sent again. */
  readonly closedConnections?: number;
}

/** Why a thing has no verdict of its own: what differs in it follows from another finding. */
export const followsText = (id: string) => `what differs here follows from ${id}`;

/** Returns a finding without keys, secrets and control characters, which a reply of the server may have contained. */
export function maskFinding(finding: Finding, mask: Mask['text'] = maskText): Finding {
  return { ...finding, found: toPrintable(mask(finding.found)) };
}
