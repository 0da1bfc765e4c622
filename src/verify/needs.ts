import type { Finding } from './finding.ts';
import { type Lack, type Need, NO_MAIL, OUT_OF_TIME, type Target } from './verify-session.ts';

/** For each need of a check: the field of the target that must be set, and what is printed if it is not. */
export const NEEDS: Readonly<Record<Need, Lack & { readonly field: keyof Target }>> = {
  'two tenants': {
    field: 'secondKey',
    reason: 'the check needs a key of another tenant',
    flag: '--second-key, a tk_ key of another tenant',
  },
  operator: {
    field: 'operatorKey',
    reason: 'the check needs a key of the operator',
    flag: '--operator-key, an sa_ key',
  },
  receiver: {
    field: 'createReceiver',
    reason: 'the check needs a URL at which deliveries arrive',
    flag: '--receiver-url, a public URL that leads to --receiver-port',
  },
  'mail from outside': {
    field: 'deliver',
    reason: 'the check needs a mail from outside, which verify cannot send',
  },
  time: { field: 'advance', reason: 'the check must wait', flag: '--slow' },
};

/** What a run with `--no-deliveries` does not do, besides sending mail. */
export const NO_DELIVERIES: Lack = { reason: 'the check needs deliveries', flag: 'a run without --no-deliveries' };

/** Returns a finding with what a run needs to compare it, if nothing was compared and a flag would help. */
export function withFlag(finding: Finding): Finding {
  if (finding.verdict !== 'not compared' || finding.followsFrom !== undefined) return finding;
  const lacks: readonly Lack[] = [...Object.values(NEEDS), NO_MAIL, NO_DELIVERIES, OUT_OF_TIME];
  const flag = lacks.find(({ reason }) => finding.found.includes(reason))?.flag;
  return flag === undefined ? finding : { ...finding, observableWith: flag };
}
