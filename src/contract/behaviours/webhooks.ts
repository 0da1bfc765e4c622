import { defineBehaviours } from '../behaviour.ts';

export const webhookBehaviours = defineBehaviours('2', 'key', {
  'webhooks.tiers': {
    question: 'May a workspace key call the webhook operations?',
    section: '5, rule 4',
    choices: { 'tenant-and-workspace': 'yes, for the webhooks of its own workspace', 'tenant-only': 'no' },
    origin: 'reference',
  },
  'webhooks.other-tiers': {
    question: 'May an inbox key or the operator call the webhook operations?',
    section: '5, rule 4',
    assumption: 'no',
    affects: ['access'],
  },
  'webhooks.create.is-active': {
    question: 'Is a new webhook active?',
    section: '3',
    choices: { active: 'yes', inactive: 'no' },
  },
  'webhooks.create.secret': {
    question: 'Which form does a secret have?',
    assumption: 'whsec_ followed by the base64 of 32 bytes, as Standard Webhooks defines it',
  },
  'webhooks.create.required': {
    question: 'Which fields are required to create a webhook?',
    section: '4.1, rule 2',
    choices: { 'url-and-events': 'url and events', url: 'only url; the default of events is message.received' },
    origin: 'reference',
  },
  'webhooks.create.url': {
    question: 'Which URLs may a webhook have?',
    choices: { 'http-or-https': 'absolute http and https URLs', https: 'absolute https URLs only' },
  },
  'webhooks.create.events': {
    question: 'Which event kinds may a webhook list?',
    choices: {
      known: 'message.received, message.sent and message.bounced; at least one',
      'received-only': 'message.received, the only kind that the document names',
    },
    origin: 'reference',
  },
  'webhooks.create.repeated-events': {
    question: 'What happens to an event kind that is listed twice?',
    choices: { kept: 'it is kept twice: events are returned as sent', merged: 'it is kept once' },
  },
  'webhooks.create.workspace': {
    question: 'Which workspace does a new webhook belong to?',
    section: '4.1, rule 2',
    assumption:
      'the one in workspaceId, which only a tk_ key may send: the webhook then gets the events of that workspace ' +
      'only; without it, no workspace for a tk_ key, and its own for a wk_ key',
    origin: 'reference',
  },
  'webhooks.list.pages': {
    question: 'Is the list of webhooks paged or filtered?',
    section: '4.2, rule 2',
    assumption: 'no: it has every webhook in scope; the only filter is workspace, for a tk_ key',
  },
  'webhooks.list.order': {
    question: 'In which order are webhooks listed?',
    section: '4.2, rule 2',
    choices: { 'oldest-first': 'by creation, oldest first', 'newest-first': 'by creation, newest first' },
  },
  'webhooks.list.secret': {
    question: 'Does the list of webhooks contain the secret?',
    section: '4.2',
    choices: {
      included: 'yes, as the document states',
      omitted: 'no, as the reference states: only the reply to creating a webhook contains it',
    },
    origin: 'document',
  },
  'webhooks.list.workspace-scope': {
    question: 'Does a workspace key also see the tenant-wide webhooks?',
    section: '5, rule 4',
    choices: {
      own: 'no, only those of its workspace',
      'own-and-tenant-wide': 'yes, but it may not change or delete them',
    },
    origin: 'reference',
  },
  'webhooks.delete.body': {
    question: 'What does deleting a webhook return?',
    section: '4.3',
    choices: { 'deleted-and-id': '{ deleted: true, id }, as for other resources', empty: '{}', none: 'no body' },
  },
  'webhooks.get.secret': {
    question: 'Do the replies to reading and updating a webhook contain the secret?',
    section: '4.2',
    choices: { included: 'yes, like the list', omitted: 'no' },
  },
  'webhooks.update.reply': {
    question: 'What does updating a webhook return?',
    section: '4',
    choices: { webhook: 'the webhook', 'updated-and-id': '{ updated: true, id }' },
  },
});
