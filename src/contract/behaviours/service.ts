import { assumed, byReference, defineBehaviours } from '../behaviour.ts';

/** Behaviours of the operations that show the key or the service as a whole. */
export const serviceBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'health.body': assumed(
      'What does GET /health return?',
      { status: '{ status: "ok" }', empty: '{}' },
      { section: '4' },
    ),
    'me.reply': assumed(
      'What does GET /v1/me return?',
      '{ tier, tenantId, workspaceId, inboxId, email } for every tier; a field that does not apply is null',
      { operations: ['getMe'] },
    ),
    'metrics.reply': byReference(
      'What does GET /v1/metrics return?',
      '{ window, scope, counts, resources }; the default window is the last 30 days; ' +
        'for a single inbox, the number of domains is 0',
      { operations: ['getMetrics'] },
    ),
    'metrics.window': assumed(
      'What may from and to of GET /v1/metrics be besides times in ISO 8601?',
      'a whole day in UTC; or the time since 1970 as a whole number: seconds if it is below 100,000,000,000, ' +
        'otherwise milliseconds',
      { operations: ['getMetrics'], fields: ['from', 'to'] },
    ),
    'metrics.reversed-window': assumed('What is the reply to GET /v1/metrics with a from that is later than to?', {
      invalid: '400',
      empty: 'counts of 0',
    }),
    'metrics.counts': assumed(
      'Which messages do the counts of GET /v1/metrics include?',
      'the messages of existing inboxes in the window, including deleted messages',
      { operations: ['getMetrics'] },
    ),
    'verify.reply': assumed(
      'What does POST /v1/verify-email return?',
      '{ email, valid, reason }; reason is null, "syntax", "bounces" or "no-such-inbox"',
      { operations: ['verifyEmail'] },
    ),
    'verify.tiers': assumed('Which keys may verify an e-mail address?', 'tk_, wk_ and ak_', {
      operations: ['verifyEmail'],
    }),
  },
);
