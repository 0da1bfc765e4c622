import { ApiError } from '../../contract/errors.ts';
import type { Run } from './context.ts';
import { insertTenant } from './insert-tenant.ts';
import { DELETE_BODY } from './replies.ts';

export const createTenant: Run<'createTenant'> = ({ worlds }, { body }) => ({ body: insertTenant(worlds, body.name) });

/** Deletes a tenant with all its data. From the next request on, its keys are refused. */
export const deleteTenant: Run<'deleteTenant'> = ({ worlds, readBehaviour }, { params }) => {
  if (!worlds.remove(params.id)) throw new ApiError('NOT_FOUND', 'There is no tenant with this id.');
  return { body: DELETE_BODY[readBehaviour('tenants.delete.body')](params.id) };
};
