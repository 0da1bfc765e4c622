import { ApiError } from '../../contract/errors.ts';
import type { MailboxInternals } from '../../mailbox/mailbox.ts';
import { findPrincipal, findSender } from '../../service/access/principal.ts';
import type { ApiRequest, ApiResult } from '../../service/pipeline/exchange.ts';
import { findOwner } from '../../world/store/parts.ts';

/**
 * The path by which an agent says that it is done with everything that it knows of. It is outside of the control plane,
 * because an agent may always call it.
 */
export const DONE_PATH = '/trial/done';

/**
 * Adds to the journal that an agent said that it is done. `?sandbox=<id>` or a key says whose agent it is; without both,
 * it is the agent of the whole mailbox.
 *
 * @throws {ApiError} METHOD_NOT_ALLOWED unless the method is POST; NOT_FOUND for an unknown sandbox; UNAUTHORIZED for an
 *   unknown key.
 */
export function acceptDone({ service, mailbox }: MailboxInternals, request: ApiRequest): ApiResult {
  const { method, query } = request;
  if (method !== 'POST') {
    const problem = `${method} is not supported for this path; use POST.`;
    throw new ApiError('METHOD_NOT_ALLOWED', problem, { headers: { allow: 'POST' } });
  }
  const { worlds, journals } = service;
  const sandbox = query.get('sandbox');
  const { key } = findSender(service, request);
  const ofKey = sandbox === null && key !== undefined ? findPrincipal(worlds, key).world?.id : undefined;
  const tenantId = sandbox === null ? (ofKey ?? null) : mailbox.sandbox(sandbox).id;
  journals.publish(findOwner(worlds, tenantId), 'agent-done', { tenantId });
  return { reply: { status: 204, headers: { 'Content-Length': '0' }, body: null } };
}
