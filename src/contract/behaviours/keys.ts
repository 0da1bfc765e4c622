import { assumed, byReference, defineBehaviours } from '../behaviour.ts';

/** Behaviours of rotating the key of an inbox, and of the keys of a workspace. */
export const keyBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'inboxes.rotate.tiers': assumed('Which keys may rotate the key of an inbox?', {
      'tenant-and-workspace': 'tk_, and wk_ for the inboxes of its workspace',
      'tenant-workspace-and-inbox': 'also ak_ for its own inbox',
      'tenant-only': 'tk_ only',
    }),
    'inboxes.rotate.reply': assumed('What does rotating the key of an inbox return?', {
      'key-record': '{ id, key, prefix, inboxId, createdAt }, like the reply to creating a workspace key',
      'key-only': '{ key }',
    }),
    'inboxes.rotate.running': assumed(
      'What happens to a request that is running while its key is rotated or deleted?',
      'the key is checked once, when the whole body has arrived: if the key is no longer valid then, the reply is 401; ' +
        'a request that was accepted is completed',
      { observableWith: 'not from outside: no experiment sends a request slowly' },
    ),
    'inboxes.rotate.status': assumed(
      'Which status does rotating the key of an inbox have?',
      '201, like creating a workspace key',
      { operations: ['rotateInboxKey'] },
    ),
    'workspaces.keys.tiers': byReference('Which keys may create, list and delete the keys of a workspace?', {
      'tenant-and-workspace': 'tk_, and wk_ for its own workspace',
      'tenant-only': 'tk_ only',
    }),
    'workspaces.keys.create.reply': byReference(
      'What does creating a workspace key return?',
      '{ id, key, prefix, name, workspaceId, createdAt }; name is null if the request has none',
      { operations: ['createWorkspaceKey'] },
    ),
    'workspaces.keys.list.reply': byReference(
      'What does listing the keys of a workspace return?',
      '{ keys: [{ id, prefix, name, createdAt }] }, oldest first; the key itself is never shown',
      { operations: ['listWorkspaceKeys'] },
    ),
    'workspaces.keys.prefix': byReference(
      'Which part of a key is its prefix?',
      'the first nine characters, which begin with those of its tier',
      { operations: ['rotateInboxKey', 'createWorkspaceKey', 'listWorkspaceKeys'] },
    ),
    'workspaces.keys.delete.body': byReference(
      'What does deleting a workspace key return, and what issues the new key?',
      {
        'revoked-and-id': '{ revoked: true, id }; the client then creates the new key with createWorkspaceKey',
        empty: '{}; the client then creates the new key with createWorkspaceKey',
        'revoked-and-new-key':
          '{ revoked: true, id, newKey }: the service issues a key with the same name at once; newKey is like the reply ' +
          'to creating a key',
      },
    ),
  },
);
