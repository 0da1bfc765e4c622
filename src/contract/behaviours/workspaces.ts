import { defineBehaviours } from '../behaviour.ts';

export const workspaceBehaviours = defineBehaviours({
  'workspaces.shape': {
    question: 'Which fields does a workspace have in a reply?',
    section: '4.4',
    assumption: '{ id, name, slug, isDefault, inboxCount, domainCount, createdAt }',
    origin: 'reference',
  },
  'workspaces.read.tiers': {
    question: 'Which keys may list and read workspaces?',
    section: '4.4',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ for its own workspace',
      'tenant-only': 'tk_ only',
    },
    default: 'tenant-and-workspace',
    origin: 'reference',
  },
  'workspaces.delete.tiers': {
    question: 'May a workspace key delete its own workspace?',
    section: '4.4',
    choices: {
      'tenant-only': 'no',
      'tenant-and-workspace': 'yes',
    },
    default: 'tenant-only',
    origin: 'assumed',
  },
  'workspaces.create.slug': {
    question: 'Which form does a slug have, and what is its default?',
    section: '4.4',
    assumption:
      'lower-case letters, digits and hyphens; the default is made from the name: "Acme Corp" becomes acme-corp',
    origin: 'reference',
    affects: ['body'],
  },
  'workspaces.create.slug-taken': {
    question: 'What happens when a workspace of the tenant already has the slug?',
    section: '4.4',
    choices: {
      conflict: '409',
      suffixed: 'the new workspace gets acme-corp-2, acme-corp-3 and so on',
    },
    default: 'conflict',
    origin: 'assumed',
  },
  'workspaces.list.order': {
    question: 'In which order are workspaces listed?',
    section: '4.4',
    assumption: 'by creation, oldest first',
    origin: 'assumed',
  },
  'workspaces.delete.default': {
    question: 'What is the reply to deleting the default workspace, which is not allowed?',
    section: '4.4',
    choices: {
      conflict: '409',
      forbidden: '403',
      invalid: '400',
    },
    default: 'conflict',
    origin: 'assumed',
  },
  'workspaces.delete.body': {
    question: 'What does deleting a workspace return?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'reference',
  },
  'workspaces.delete.cascade': {
    question: 'What is deleted together with a workspace?',
    section: '4.4',
    assumption:
      'its inboxes with their mail, its domains, webhooks and keys, immediately; its addresses can be used again',
    origin: 'reference',
  },
});
