import { defineBehaviours } from '../behaviour.ts';

/** What is about the key or the service as a whole. */
export const serviceBehaviours = defineBehaviours({
  'health.body': {
    question: 'What does GET /health answer?',
    section: '4',
    choices: { status: '{ status: "ok" }', empty: '{}' },
    default: 'status',
    origin: 'assumed',
  },
  'me.reply': {
    question: 'What does GET /v1/me answer?',
    section: '4.4',
    choices: {
      identity: '{ tier, tenantId, workspaceId, inboxId, email }, to any tier; null where it does not apply',
    },
    default: 'identity',
    origin: 'assumed',
  },
  'metrics.reply': {
    question: 'What does GET /v1/metrics answer?',
    section: '4.4',
    choices: {
      reference:
        '{ window, scope, counts, resources }; the last 30 days when nothing is sent; a day counts whole, and an inbox has no domain',
    },
    default: 'reference',
    origin: 'reference',
  },
  'metrics.counts': {
    question: 'What do the counts count?',
    section: '4.4',
    choices: {
      messages: 'messages in the window of the inboxes that are there, deleted messages included',
    },
    default: 'messages',
    origin: 'assumed',
  },
  'verify.reply': {
    question: 'What does POST /v1/verify-email answer?',
    section: '4.4',
    choices: {
      verdict: '{ email, valid, reason }; reason is null, "syntax", "bounces" or "no-such-inbox"',
    },
    default: 'verdict',
    origin: 'assumed',
  },
  'verify.tiers': {
    question: 'Who may verify an e-mail address?',
    section: '4.4',
    choices: {
      'tenant-workspace-and-inbox': 'tk_, wk_ and ak_',
    },
    default: 'tenant-workspace-and-inbox',
    origin: 'assumed',
  },
});
