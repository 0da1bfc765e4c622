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
    assumption: '{ tier, tenantId, workspaceId, inboxId, email }, to any tier; null where it does not apply',
    origin: 'assumed',
  },
  'metrics.reply': {
    question: 'What does GET /v1/metrics answer?',
    section: '4.4',
    assumption:
      '{ window, scope, counts, resources }; the last 30 days when nothing is sent; a day counts whole, and an inbox has no domain',
    origin: 'reference',
  },
  'metrics.counts': {
    question: 'What do the counts count?',
    section: '4.4',
    assumption: 'messages in the window of the inboxes that are there, deleted messages included',
    origin: 'assumed',
  },
  'verify.reply': {
    question: 'What does POST /v1/verify-email answer?',
    section: '4.4',
    assumption: '{ email, valid, reason }; reason is null, "syntax", "bounces" or "no-such-inbox"',
    origin: 'assumed',
  },
  'verify.tiers': {
    question: 'Who may verify an e-mail address?',
    section: '4.4',
    assumption: 'tk_, wk_ and ak_',
    origin: 'assumed',
    shapes: ['access'],
  },
});
