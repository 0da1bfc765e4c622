import { defineBehaviours } from '../behaviour.ts';

export const tenantBehaviours = defineBehaviours('4.4', 'operator', {
  'tenants.create.reply': {
    question: 'What does creating a tenant return?',
    assumption: '{ id, name, apiKey, defaultWorkspaceId, createdAt }; no other reply shows this first tk_ key',
  },
  'tenants.create.required': {
    question: 'Which fields does creating a tenant require?',
    assumption: 'a name that is not empty; white space around it is removed',
    affects: ['body'],
  },
  'tenants.delete.body': {
    question: 'What does deleting a tenant return?',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
  },
  'tenants.create.workspace': {
    question: 'Does a new tenant have a workspace?',
    assumption: 'yes, one called Default',
    origin: 'reference',
  },
  'tenants.delete.cascade': {
    question: 'What is deleted together with a tenant?',
    assumption: 'everything that it owns, immediately; its addresses can be used again',
  },
});
