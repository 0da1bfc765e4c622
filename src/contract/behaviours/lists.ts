import { defineBehaviours } from '../behaviour.ts';

/** Contact lists of an inbox. */
export const listBehaviours = defineBehaviours('4.4', 'key', {
  'lists.shape': {
    question: 'Which fields does a list have in a reply?',
    assumption:
      '{ id, name, description, entryCount, entries, createdAt }; an entry is { id, email, displayName, metadata, ' +
      'createdAt }',
    origin: 'reference',
  },
  'lists.list.entries': {
    question: 'Does the list of lists contain the entries?',
    choices: { included: 'yes', omitted: 'no, only entryCount' },
  },
  'lists.list.reply': {
    question: 'What do listing lists and listing entries return?',
    assumption: '{ lists } and { entries }, each oldest first',
  },
  'lists.delete.body': {
    question: 'What does deleting a list return?',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
  },
  'lists.entries.delete.body': {
    question: 'What does deleting an entry return?',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
  },
  'lists.entries.taken': {
    question: 'What is the reply to adding an address that the list already has?',
    assumption: '409',
    origin: 'reference',
  },
});
