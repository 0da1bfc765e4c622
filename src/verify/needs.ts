import type { Finding } from './finding.ts';
import type { Need, Target } from './verify-session.ts';

/** What a check lacks: why it was not made, and the flag with which a run makes it, if there is one. */
interface Lack {
  readonly reason: string;
  readonly flag?: string;
}

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

/** What a run with `--no-deliveries` does not do. */
export const NO_MAIL: Lack = {
  reason: 'the check sends a mail, which calls the webhooks of the tenant',
  flag: 'a run without --no-deliveries',
};
export const NO_DELIVERIES: Lack = { reason: 'the check needs deliveries', flag: 'a run without --no-deliveries' };

/** The begin of the reason if the time of a run has passed. */
export const OUT_OF_TIME: Lack = { reason: 'the time of the run', flag: 'a longer --timeout' };

/** Returns a finding with what a run needs to compare it, if nothing was compared and a flag would help. */
export function withFlag(finding: Finding): Finding {
  if (finding.verdict !== 'not compared' || finding.followsFrom !== undefined) return finding;
  const lacks: readonly Lack[] = [...Object.values(NEEDS), NO_MAIL, NO_DELIVERIES, OUT_OF_TIME];
  const flag = lacks.find(({ reason }) => finding.found.includes(reason))?.flag;
  return flag === undefined ? finding : { ...finding, observableWith: flag };
}
