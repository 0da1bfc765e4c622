import { defineBehaviours } from '../behaviour.ts';

/** Tenants. */
export const tenantBehaviours = defineBehaviours({
  'tenants.create.reply': {
    question: 'What does creating a tenant answer?',
    section: '4.4',
    assumption: '{ id, name, apiKey, defaultWorkspaceId, createdAt }; its first tk_ key is only shown here',
    origin: 'assumed',
  },
  'tenants.create.required': {
    question: 'What does creating a tenant need?',
    section: '4.4',
    assumption: 'a name that is not empty; white space around it is dropped',
    origin: 'assumed',
    shapes: ['body'],
  },
  'tenants.delete.body': {
    question: 'What does deleting a tenant answer?',
    section: '4.4',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'tenants.create.workspace': {
    question: 'Does a new tenant have a workspace?',
    section: '4.4',
    assumption: 'yes, one called Default',
    origin: 'reference',
  },
  'tenants.delete.cascade': {
    question: 'What goes with a tenant that is deleted?',
    section: '4.4',
    assumption: 'everything that it owns, at once; its addresses are free again',
    origin: 'assumed',
  },
});
