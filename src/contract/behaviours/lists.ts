import { defineBehaviours } from '../behaviour.ts';

/** Lists: the contact groups of an inbox. */
export const listBehaviours = defineBehaviours({
  'lists.shape': {
    question: 'What is a list in a reply?',
    section: '4.4',
    assumption:
      '{ id, name, description, entryCount, entries, createdAt }; an entry is { id, email, displayName, metadata, createdAt }',
    origin: 'reference',
  },
  'lists.list.entries': {
    question: 'Does the list of lists show the entries?',
    section: '4.4',
    choices: {
      included: 'yes',
      omitted: 'no, only entryCount',
    },
    default: 'included',
    origin: 'assumed',
  },
  'lists.list.reply': {
    question: 'What does listing lists, or entries, answer?',
    section: '4.4',
    assumption: '{ lists } and { entries }, oldest first',
    origin: 'assumed',
  },
  'lists.delete.body': {
    question: 'What does deleting a list answer?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'lists.entries.delete.body': {
    question: 'What does deleting an entry answer?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'lists.entries.taken': {
    question: 'What answers an address that the list has already?',
    section: '4.4',
    assumption: '409',
    origin: 'reference',
  },
});
