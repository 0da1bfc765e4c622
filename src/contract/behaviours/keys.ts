import { defineBehaviours } from '../behaviour.ts';

/** Rotating the key of an inbox, and the keys of a workspace. */
export const keyBehaviours = defineBehaviours({
  'inboxes.rotate.tiers': {
    question: 'Which keys may rotate the key of an inbox?',
    section: '4.4',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ for the inboxes of its workspace',
      'tenant-workspace-and-inbox': 'also ak_ for its own inbox',
      'tenant-only': 'tk_ only',
    },
    default: 'tenant-and-workspace',
    origin: 'assumed',
  },
  'inboxes.rotate.reply': {
    question: 'What does rotating the key of an inbox return?',
    section: '4.4',
    choices: {
      'key-record': '{ id, key, prefix, inboxId, createdAt }, like the reply to creating a workspace key',
      'key-only': '{ key }',
    },
    default: 'key-record',
    origin: 'assumed',
  },
  'inboxes.rotate.status': {
    question: 'Which status does rotating the key of an inbox have?',
    section: '4.4',
    assumption: '201, like creating a workspace key',
    origin: 'assumed',
  },
  'workspaces.keys.tiers': {
    question: 'Which keys may create, list and delete the keys of a workspace?',
    section: '4.4',
    choices: { 'tenant-and-workspace': 'tk_, and wk_ for its own workspace', 'tenant-only': 'tk_ only' },
    default: 'tenant-and-workspace',
    origin: 'reference',
  },
  'workspaces.keys.create.reply': {
    question: 'What does creating a workspace key return?',
    section: '4.4',
    assumption: '{ id, key, prefix, name, workspaceId, createdAt }; name is null if the request has none',
    origin: 'reference',
  },
  'workspaces.keys.list.reply': {
    question: 'What does listing the keys of a workspace return?',
    section: '4.4',
    assumption: '{ keys: [{ id, prefix, name, createdAt }] }, oldest first; the key itself is never shown',
    origin: 'reference',
  },
  'workspaces.keys.delete.body': {
    question: 'What does deleting a workspace key return?',
    section: '4.4',
    choices: { 'revoked-and-id': '{ revoked: true, id }', empty: '{}' },
    default: 'revoked-and-id',
    origin: 'reference',
  },
});
