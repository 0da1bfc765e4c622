import { ApiError } from '../../contract/errors.ts';
import { timestampNow } from '../../world/environment.ts';
import type { MessageTime } from '../../world/store/indexes/message-index.ts';
import { selectInboxes } from '../access/find-in-scope.ts';
import { isInScope } from '../access/principal.ts';
import type { Context, Input, Run } from './context.ts';

type Query = Input<'getMetrics'>['query'];

const THIRTY_DAYS_MS = 30 * 24 * 60 * 60 * 1000;

export const getMetrics: Run<'getMetrics'> = (context, { query }) => {
  const window = windowOf(context, query);
  const inboxes = selectInboxes(context, query);
  const scope = scopeOf(context, query);
  const inboxIds = inboxes.map(({ id }) => id);
  const count = (kind: MessageTime) => context.world.messageIndex.countTimes(inboxIds, kind, window);
  const counts = { sent: count('sent'), received: count('received'), bounced: count('bounced') };
  const resources = { inboxes: inboxes.length, domains: countDomains(context, scope) };
  return { body: { window, scope, counts, resources } };
};

/** Returns a time span; both ends are inclusive. */
function windowOf({ world, readBehaviour }: Context<'getMetrics'>, { from, to }: Query) {
  const end = to ?? timestampNow(world.environment);
  const start = from ?? new Date(Date.parse(end) - THIRTY_DAYS_MS).toISOString();
  const window = { from: start, to: end };
  if (start <= end || readBehaviour('metrics.reversed-window') === 'empty') return window;
  throw new ApiError('VALIDATION_ERROR', 'The query is not valid: from must not be later than to.');
}

/** Returns the scope of the metrics: the selected resources within the scope of the key. */
function scopeOf({ principal, world }: Context<'getMetrics'>, { workspace, inbox }: Query) {
  const inboxId = inbox ?? principal.inboxId;
  const workspaceIdOfInbox = world.inboxes.get(inboxId ?? '')?.workspaceId;
  return { tenantId: world.id, workspaceId: workspaceIdOfInbox ?? principal.workspaceId ?? workspace ?? null, inboxId };
}

/** Counts the domains of the tenant or of the selected workspace. An inbox has no domains. */
function countDomains({ principal, world }: Context<'getMetrics'>, scope: ReturnType<typeof scopeOf>): number {
  if (scope.inboxId !== null) return 0;
  const isSelected = (id: string | null) => scope.workspaceId === null || id === scope.workspaceId;
  return world.domains.all().filter((row) => isSelected(row.workspaceId) && isInScope(principal, row)).length;
}
