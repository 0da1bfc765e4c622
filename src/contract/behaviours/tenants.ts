import { assumed, byReference, DELETED, defineBehaviours } from '../behaviour.ts';

/** Behaviours of the operations on tenants. */
export const tenantBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'operator' },
  {
    'tenants.create.reply': assumed(
      'What does creating a tenant return?',
      '{ id, name, apiKey, defaultWorkspaceId, createdAt }; no other reply shows this first tk_ key',
      { operations: ['createTenant'] },
    ),
    'tenants.create.required': assumed(
      'Which fields does creating a tenant require?',
      'a name that is not empty; white space around it is removed',
      { operations: ['createTenant'], fields: ['name'] },
    ),
    'tenants.delete.body': assumed('What does deleting a tenant return?', DELETED),
    'tenants.create.workspace': byReference('Does a new tenant have a workspace?', 'yes, one called Default', {
      operations: ['createTenant'],
    }),
    'tenants.delete.cascade': assumed(
      'What is deleted together with a tenant?',
      'everything that it owns, immediately; its addresses can be used again',
      { operations: ['deleteTenant'] },
    ),
  },
);
