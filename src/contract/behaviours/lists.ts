import { defineBehaviours } from '../behaviour.ts';

/** Contact lists of an inbox. */
export const listBehaviours = defineBehaviours({
  'lists.shape': {
    question: 'Which fields does a list have in a reply?',
    section: '4.4',
    assumption:
      '{ id, name, description, entryCount, entries, createdAt }; an entry is { id, email, displayName, metadata, createdAt }',
    origin: 'reference',
  },
  'lists.list.entries': {
    question: 'Does the list of lists contain the entries?',
    section: '4.4',
    choices: {
      included: 'yes',
      omitted: 'no, only entryCount',
    },
    default: 'included',
    origin: 'assumed',
  },
  'lists.list.reply': {
    question: 'What do listing lists and listing entries return?',
    section: '4.4',
    assumption: '{ lists } and { entries }, each oldest first',
    origin: 'assumed',
  },
  'lists.delete.body': {
    question: 'What does deleting a list return?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'lists.entries.delete.body': {
    question: 'What does deleting an entry return?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'lists.entries.taken': {
    question: 'What is the reply to adding an address that the list already has?',
    section: '4.4',
    assumption: '409',
    origin: 'reference',
  },
});
