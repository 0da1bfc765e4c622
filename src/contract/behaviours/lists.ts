import { assumed, byReference, DELETED, defineBehaviours } from '../behaviour.ts';

/** Behaviours of the contact lists of an inbox. */
export const listBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'lists.shape': byReference(
      'Which fields does a list have in a reply?',
      '{ id, name, description, entryCount, entries, createdAt }; an entry is { id, email, displayName, metadata, ' +
        'createdAt }',
      { operations: ['createList', 'listLists', 'getList', 'createListEntry', 'listListEntries', 'getListEntry'] },
    ),
    'lists.list.entries': assumed('Does the list of lists contain the entries?', {
      included: 'yes',
      omitted: 'no, only entryCount',
    }),
    'lists.list.reply': assumed(
      'What do listing lists and listing entries return?',
      '{ lists } and { entries }, each oldest first',
      { operations: ['listLists', 'listListEntries'] },
    ),
    'lists.delete.body': assumed('What does deleting a list return?', DELETED),
    'lists.entries.delete.body': assumed('What does deleting an entry return?', DELETED),
    'lists.entries.taken': byReference('What is the reply to adding an address that the list already has?', '409', {
      operations: ['createListEntry'],
      fields: ['email'],
    }),
  },
);
