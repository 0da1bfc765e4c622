import { defineBehaviours } from '../behaviour.ts';

/** The key, and the service as a whole. */
export const serviceBehaviours = defineBehaviours('4.4', 'key', {
  'health.body': {
    question: 'What does GET /health return?',
    section: '4',
    choices: { status: '{ status: "ok" }', empty: '{}' },
  },
  'me.reply': {
    question: 'What does GET /v1/me return?',
    assumption: '{ tier, tenantId, workspaceId, inboxId, email } for every tier; a field that does not apply is null',
  },
  'metrics.reply': {
    question: 'What does GET /v1/metrics return?',
    assumption:
      '{ window, scope, counts, resources }; the default window is the last 30 days; ' +
      'for a single inbox, the number of domains is 0',
    origin: 'reference',
  },
  'metrics.window': {
    question: 'What may from and to of GET /v1/metrics be besides times in ISO 8601?',
    assumption:
      'a day, which is whole and in UTC; or a whole number since 1970: of seconds if it is below 100,000,000,000, ' +
      'else of milliseconds',
    affects: ['query'],
  },
  'metrics.counts': {
    question: 'Which messages do the counts of GET /v1/metrics include?',
    assumption: 'those of existing inboxes in the window, deleted messages included',
  },
  'verify.reply': {
    question: 'What does POST /v1/verify-email return?',
    assumption: '{ email, valid, reason }; reason is null, "syntax", "bounces" or "no-such-inbox"',
  },
  'verify.tiers': {
    question: 'Which keys may verify an e-mail address?',
    assumption: 'tk_, wk_ and ak_',
    affects: ['access'],
  },
});
