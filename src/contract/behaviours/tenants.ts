import { defineBehaviours } from '../behaviour.ts';

export const tenantBehaviours = defineBehaviours({
  'tenants.create.reply': {
    question: 'What does creating a tenant return?',
    section: '4.4',
    assumption: '{ id, name, apiKey, defaultWorkspaceId, createdAt }; no other reply shows this first tk_ key',
    origin: 'assumed',
  },
  'tenants.create.required': {
    question: 'Which fields does creating a tenant require?',
    section: '4.4',
    assumption: 'a name that is not empty; white space around it is removed',
    origin: 'assumed',
    affects: ['body'],
  },
  'tenants.delete.body': {
    question: 'What does deleting a tenant return?',
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
    question: 'What is deleted together with a tenant?',
    section: '4.4',
    assumption: 'everything that it owns, immediately; its addresses can be used again',
    origin: 'assumed',
  },
});
