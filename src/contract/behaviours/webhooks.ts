import { defineBehaviours } from '../behaviour.ts';

export const webhookBehaviours = defineBehaviours({
  'webhooks.tiers': {
    question: 'May a workspace key call the webhook operations?',
    section: '5, rule 4',
    choices: {
      'tenant-and-workspace': 'yes, for the webhooks of its own workspace',
      'tenant-only': 'no',
    },
    default: 'tenant-and-workspace',
    origin: 'reference',
  },
  'webhooks.other-tiers': {
    question: 'May an inbox key or the operator call the webhook operations?',
    section: '5, rule 4',
    assumption: 'no',
    origin: 'assumed',
    affects: ['access'],
  },
  'webhooks.create.is-active': {
    question: 'Is a new webhook active?',
    section: '3',
    choices: { active: 'yes', inactive: 'no' },
    default: 'active',
    origin: 'assumed',
  },
  'webhooks.create.secret': {
    question: 'Which form does a secret have?',
    section: '2',
    assumption: 'whsec_ followed by the base64 of 32 bytes, as Standard Webhooks defines it',
    origin: 'assumed',
  },
  'webhooks.create.required': {
    question: 'Which fields are required to create a webhook?',
    section: '4.1, rule 2',
    choices: {
      'url-and-events': 'url and events',
      url: 'only url; the default of events is message.received',
    },
    default: 'url-and-events',
    origin: 'reference',
  },
  'webhooks.create.url': {
    question: 'Which URLs may a webhook have?',
    section: '2',
    choices: { 'http-or-https': 'absolute http and https URLs', https: 'absolute https URLs only' },
    default: 'http-or-https',
    origin: 'assumed',
  },
  'webhooks.create.events': {
    question: 'Which event kinds may a webhook list?',
    section: '2',
    choices: {
      known: 'message.received, message.sent and message.bounced; at least one',
      'received-only': 'message.received, the only kind that the document names',
    },
    default: 'known',
    origin: 'reference',
  },
  'webhooks.create.repeated-events': {
    question: 'What happens to an event kind that is listed twice?',
    section: '2',
    choices: { kept: 'it is kept twice: events are returned as sent', merged: 'it is kept once' },
    default: 'kept',
    origin: 'assumed',
  },
  'webhooks.create.workspace': {
    question: 'Which workspace does a new webhook belong to?',
    section: '4.1, rule 2',
    assumption:
      'the one in workspaceId, which only a tk_ key may send: the webhook then gets the events of that workspace only; without it, no workspace for a tk_ key, and its own for a wk_ key',
    origin: 'reference',
  },
  'webhooks.list.pages': {
    question: 'Is the list of webhooks paged or filtered?',
    section: '4.2, rule 2',
    assumption: 'no: it has every webhook in scope; the only filter is workspace, for a tk_ key',
    origin: 'assumed',
  },
  'webhooks.list.order': {
    question: 'In which order are webhooks listed?',
    section: '4.2, rule 2',
    choices: { 'oldest-first': 'by creation, oldest first', 'newest-first': 'by creation, newest first' },
    default: 'oldest-first',
    origin: 'assumed',
  },
  'webhooks.list.secret': {
    question: 'Does the list of webhooks contain the secret?',
    section: '4.2',
    choices: {
      included: 'yes, as the document states',
      omitted: 'no, as the reference states: only the reply to creating a webhook contains it',
    },
    default: 'included',
    origin: 'document',
  },
  'webhooks.list.workspace-scope': {
    question: 'Does a workspace key also see the tenant-wide webhooks?',
    section: '5, rule 4',
    choices: {
      own: 'no, only those of its workspace',
      'own-and-tenant-wide': 'yes, but it may not change or delete them',
    },
    default: 'own',
    origin: 'reference',
  },
  'webhooks.delete.body': {
    question: 'What does deleting a webhook return?',
    section: '4.3',
    choices: {
      'deleted-and-id': '{ deleted: true, id }, as for other resources',
      empty: '{}',
      none: 'no body',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'webhooks.get.secret': {
    question: 'Do the replies to reading and updating a webhook contain the secret?',
    section: '4.2',
    choices: { included: 'yes, like the list', omitted: 'no' },
    default: 'included',
    origin: 'assumed',
  },
  'webhooks.update.reply': {
    question: 'What does updating a webhook return?',
    section: '4',
    choices: { webhook: 'the webhook', 'updated-and-id': '{ updated: true, id }' },
    default: 'webhook',
    origin: 'assumed',
  },
});
