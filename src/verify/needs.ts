import type { Need, Reason, Target } from './verify-session.ts';

/** For each need of a check: the field of the target that must be set, and what is printed if it is not. */
export const NEEDS: Readonly<Record<Need, Reason & { readonly field: keyof Target }>> = {
  'two tenants': {
    field: 'secondKey',
    message: 'the check needs a key of another tenant',
    flag: '--second-key, a tk_ key of another tenant',
  },
  operator: {
    field: 'operatorKey',
    message: 'the check needs a key of the operator',
    flag: '--operator-key, an sa_ key',
  },
  receiver: {
    field: 'createReceiver',
    message: 'the check needs a URL at which deliveries arrive',
    flag: '--receiver-url, a public URL that leads to --receiver-port',
  },
  'mail from outside': {
    field: 'deliver',
    message: 'the check needs a mail from outside, which verify cannot send',
  },
  time: { field: 'advance', message: 'the check must wait', flag: '--slow' },
};

/** What a run with `--no-deliveries` does not do, besides sending mail. */
export const NO_DELIVERIES: Reason = { message: 'the check needs deliveries', flag: 'a run without --no-deliveries' };
