import { assumed, byDocument, byReference, defineBehaviours } from '../behaviour.ts';

/** Behaviours of the operations on webhooks. */
export const webhookBehaviours = defineBehaviours(
  { section: '2', observableWith: 'key' },
  {
    'webhooks.tiers': byReference(
      'May a workspace key call the webhook operations?',
      { 'tenant-and-workspace': 'yes, for the webhooks of its own workspace', 'tenant-only': 'no' },
      { section: '5, rule 4' },
    ),
    'webhooks.other-tiers': assumed('May an inbox key or the operator call the webhook operations?', 'no', {
      operations: ['createWebhook', 'listWebhooks', 'getWebhook', 'updateWebhook', 'deleteWebhook'],
      section: '5, rule 4',
    }),
    'webhooks.create.is-active': assumed(
      'Is a new webhook active?',
      { active: 'yes', inactive: 'no' },
      { section: '3' },
    ),
    'webhooks.create.secret': assumed(
      'Which form does a secret have?',
      'whsec_ followed by the base64 of 32 bytes, as Standard Webhooks defines it',
      { operations: ['createWebhook'] },
    ),
    'webhooks.create.required': byReference(
      'Which fields are required to create a webhook?',
      { 'url-and-events': 'url and events', url: 'only url; the default of events is message.received' },
      { section: '4.1, rule 2' },
    ),
    'webhooks.create.url': assumed('Which URLs may a webhook have?', {
      'http-or-https': 'absolute http and https URLs',
      https: 'absolute https URLs only',
    }),
    'webhooks.create.url-form': assumed('In which form is the URL of a webhook kept?', {
      'as-sent': 'as it was sent',
      normalised: 'as the URL standard writes it: https://EXAMPLE.com becomes https://example.com/',
    }),
    'webhooks.create.events': byReference('Which event kinds may a webhook list?', {
      known: 'message.received, message.sent and message.bounced; at least one',
      'received-only': 'message.received, the only kind that the document names',
    }),
    'webhooks.create.repeated-events': assumed('What happens to an event kind that is listed twice?', {
      kept: 'it is kept twice: events are returned as sent',
      merged: 'it is kept once',
    }),
    'webhooks.create.same-url': assumed(
      'What happens to a webhook with the URL of another webhook?',
      'it is created, with an id and a secret of its own; the receiver then gets each event once for each webhook',
      { operations: ['createWebhook'], fields: ['url'], section: '4.1, rule 2' },
    ),
    'webhooks.create.workspace': byReference(
      'Which workspace does a new webhook belong to?',
      'the workspace in workspaceId, which only a tk_ key may send: the webhook then gets only the events of that ' +
        'workspace; without workspaceId, no workspace for a tk_ key, and the workspace of the key for a wk_ key',
      { operations: ['createWebhook'], fields: ['workspaceId'], section: '4.1, rule 2' },
    ),
    'webhooks.list.pages': assumed(
      'Is the list of webhooks paged or filtered?',
      'no: it has every webhook in scope; the only filter is workspace, for a tk_ key',
      { operations: ['listWebhooks'], section: '4.2, rule 2' },
    ),
    'webhooks.list.order': assumed(
      'In which order are webhooks listed?',
      { 'oldest-first': 'by creation, oldest first', 'newest-first': 'by creation, newest first' },
      { section: '4.2, rule 2' },
    ),
    'webhooks.list.secret': byDocument(
      'Does the list of webhooks contain the secret?',
      {
        included: 'yes, as the document states',
        omitted: 'no, as the reference states: only the reply to creating a webhook contains it',
      },
      { section: '4.2' },
    ),
    'webhooks.list.workspace-scope': byReference(
      'Does a workspace key also see the tenant-wide webhooks?',
      { own: 'no, only those of its workspace', 'own-and-tenant-wide': 'yes, but it may not change or delete them' },
      { section: '5, rule 4' },
    ),
    'webhooks.delete.body': assumed(
      'What does deleting a webhook return?',
      { 'deleted-and-id': '{ deleted: true, id }, as for other resources', empty: '{}', none: 'no body' },
      { section: '4.3' },
    ),
    'webhooks.get.secret': assumed(
      'Do the replies to reading and updating a webhook contain the secret?',
      { included: 'yes, like the list', omitted: 'no' },
      { section: '4.2' },
    ),
    'webhooks.update.secret': assumed('Does a webhook whose URL is changed keep its secret?', 'yes', {
      operations: ['updateWebhook'],
      fields: ['url'],
      section: '4',
    }),
    'webhooks.update.reply': assumed(
      'What does updating a webhook return?',
      { webhook: 'the webhook', 'updated-and-id': '{ updated: true, id }' },
      { section: '4' },
    ),
  },
);
