import { defineBehaviours } from '../behaviour.ts';

/** Rotating the key of an inbox, and the keys of a workspace. */
export const keyBehaviours = defineBehaviours('4.4', 'key', {
  'inboxes.rotate.tiers': {
    question: 'Which keys may rotate the key of an inbox?',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ for the inboxes of its workspace',
      'tenant-workspace-and-inbox': 'also ak_ for its own inbox',
      'tenant-only': 'tk_ only',
    },
  },
  'inboxes.rotate.reply': {
    question: 'What does rotating the key of an inbox return?',
    choices: {
      'key-record': '{ id, key, prefix, inboxId, createdAt }, like the reply to creating a workspace key',
      'key-only': '{ key }',
    },
  },
  'inboxes.rotate.status': {
    question: 'Which status does rotating the key of an inbox have?',
    assumption: '201, like creating a workspace key',
  },
  'workspaces.keys.tiers': {
    question: 'Which keys may create, list and delete the keys of a workspace?',
    choices: { 'tenant-and-workspace': 'tk_, and wk_ for its own workspace', 'tenant-only': 'tk_ only' },
    origin: 'reference',
  },
  'workspaces.keys.create.reply': {
    question: 'What does creating a workspace key return?',
    assumption: '{ id, key, prefix, name, workspaceId, createdAt }; name is null if the request has none',
    origin: 'reference',
  },
  'workspaces.keys.list.reply': {
    question: 'What does listing the keys of a workspace return?',
    assumption: '{ keys: [{ id, prefix, name, createdAt }] }, oldest first; the key itself is never shown',
    origin: 'reference',
  },
  'workspaces.keys.delete.body': {
    question: 'What does deleting a workspace key return?',
    choices: { 'revoked-and-id': '{ revoked: true, id }', empty: '{}' },
    origin: 'reference',
  },
});
