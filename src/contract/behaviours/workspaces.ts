import { assumed, byReference, DELETED, defineBehaviours } from '../behaviour.ts';

/** Behaviours of the workspaces of a tenant. */
export const workspaceBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'workspaces.shape': byReference(
      'Which fields does a workspace have in a reply?',
      '{ id, name, slug, isDefault, inboxCount, domainCount, createdAt }',
      { operations: ['createWorkspace', 'listWorkspaces', 'getWorkspace'] },
    ),
    'workspaces.read.tiers': byReference('Which keys may list and read workspaces?', {
      'tenant-and-workspace': 'tk_, and wk_ for its own workspace',
      'tenant-only': 'tk_ only',
    }),
    'workspaces.delete.tiers': assumed('May a workspace key delete its own workspace?', {
      'tenant-only': 'no',
      'tenant-and-workspace': 'yes',
    }),
    'workspaces.create.slug': byReference(
      'Which form does a slug have, and what is its default?',
      'lower-case letters, digits and hyphens; the default is made from the name: "Acme Corp" becomes acme-corp',
      { operations: ['createWorkspace'], fields: ['slug'] },
    ),
    'workspaces.create.slug-taken': assumed('What happens when a workspace of the tenant already has the slug?', {
      conflict: '409',
      suffixed: 'the new workspace gets acme-corp-2, acme-corp-3 and so on',
    }),
    'workspaces.list.order': assumed('In which order are workspaces listed?', 'by creation, oldest first', {
      operations: ['listWorkspaces'],
    }),
    'workspaces.delete.default': assumed(
      'What is the reply to deleting the default workspace, which is not allowed?',
      { conflict: '409', forbidden: '403', invalid: '400' },
      { observableWith: 'operator' },
    ),
    'workspaces.delete.body': byReference('What does deleting a workspace return?', DELETED),
    'workspaces.delete.cascade': byReference(
      'What is deleted together with a workspace?',
      'its inboxes with their mail, its domains, webhooks and keys, immediately; its addresses can be used again',
      { operations: ['deleteWorkspace'] },
    ),
  },
);
