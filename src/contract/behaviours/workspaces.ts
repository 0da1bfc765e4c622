import { defineBehaviours } from '../behaviour.ts';

export const workspaceBehaviours = defineBehaviours('4.4', 'key', {
  'workspaces.shape': {
    question: 'Which fields does a workspace have in a reply?',
    assumption: '{ id, name, slug, isDefault, inboxCount, domainCount, createdAt }',
    origin: 'reference',
  },
  'workspaces.read.tiers': {
    question: 'Which keys may list and read workspaces?',
    choices: { 'tenant-and-workspace': 'tk_, and wk_ for its own workspace', 'tenant-only': 'tk_ only' },
    origin: 'reference',
  },
  'workspaces.delete.tiers': {
    question: 'May a workspace key delete its own workspace?',
    choices: { 'tenant-only': 'no', 'tenant-and-workspace': 'yes' },
  },
  'workspaces.create.slug': {
    question: 'Which form does a slug have, and what is its default?',
    assumption:
      'lower-case letters, digits and hyphens; the default is made from the name: "Acme Corp" becomes acme-corp',
    origin: 'reference',
    affects: ['body'],
  },
  'workspaces.create.slug-taken': {
    question: 'What happens when a workspace of the tenant already has the slug?',
    choices: { conflict: '409', suffixed: 'the new workspace gets acme-corp-2, acme-corp-3 and so on' },
  },
  'workspaces.list.order': {
    question: 'In which order are workspaces listed?',
    assumption: 'by creation, oldest first',
  },
  'workspaces.delete.default': {
    told: 'operator',
    question: 'What is the reply to deleting the default workspace, which is not allowed?',
    choices: { conflict: '409', forbidden: '403', invalid: '400' },
  },
  'workspaces.delete.body': {
    question: 'What does deleting a workspace return?',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
    origin: 'reference',
  },
  'workspaces.delete.cascade': {
    question: 'What is deleted together with a workspace?',
    assumption:
      'its inboxes with their mail, its domains, webhooks and keys, immediately; its addresses can be used again',
    origin: 'reference',
  },
});
