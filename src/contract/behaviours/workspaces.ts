import { defineBehaviours } from '../behaviour.ts';

/** Workspaces. */
export const workspaceBehaviours = defineBehaviours({
  'workspaces.shape': {
    question: 'What is a workspace in a reply?',
    section: '4.4',
    assumption: '{ id, name, slug, isDefault, inboxCount, domainCount, createdAt }',
    origin: 'reference',
  },
  'workspaces.read.tiers': {
    question: 'Who may list and read workspaces?',
    section: '4.4',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ its own',
      'tenant-only': 'tk_',
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
    question: 'What does a slug look like, and what is it where none is sent?',
    section: '4.4',
    assumption: 'lower-case letters, digits and hyphens; made of the name: "Acme Corp" gives acme-corp',
    origin: 'reference',
    shapes: ['body'],
  },
  'workspaces.create.slug-taken': {
    question: 'What happens when a workspace of the tenant has the slug already?',
    section: '4.4',
    choices: {
      conflict: '409',
      suffixed: 'the new one gets acme-corp-2, acme-corp-3 and so on',
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
    question: 'What answers deleting the default workspace, which must not be?',
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
    question: 'What does deleting a workspace answer?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'reference',
  },
  'workspaces.delete.cascade': {
    question: 'What goes with a workspace that is deleted?',
    section: '4.4',
    assumption: 'its inboxes with their mail, its domains, webhooks and keys, at once; its addresses are free again',
    origin: 'reference',
  },
});
