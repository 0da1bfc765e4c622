import { ApiError } from '../../contract/errors.ts';
import { timestampNow } from '../../world/environment.ts';
import type { MessageTime } from '../../world/store/indexes/message-index.ts';
import type { InboxRow } from '../../world/store/rows.ts';
import { selectInboxes } from '../pipeline/access/find-in-scope.ts';
import { isInScope } from '../pipeline/access/principal.ts';
import type { Context, Input, Run } from './context.ts';

type Query = Input<'getMetrics'>['query'];

/** A time span; both ends are inclusive. */
interface Window {
  readonly from: string;
  readonly to: string;
}

const THIRTY_DAYS_MS = 30 * 24 * 60 * 60 * 1000;

export const getMetrics: Run<'getMetrics'> = (context, { query }) => {
  const window = windowOf(context, query);
  const inboxes = selectInboxes(context, query);
  const scope = scopeOf(context, query);
  const counts = countMessages(context, inboxes, window);
  const resources = { inboxes: inboxes.length, domains: countDomains(context, scope) };
  return { body: { window, scope, counts, resources } };
};

function windowOf({ environment, assume }: Context<'getMetrics'>, { from, to }: Query): Window {
  if ([from, to].some((end) => end?.isTimestamp === false)) assume('metrics.window');
  const end = to?.time ?? timestampNow(environment);
  const start = from?.time ?? new Date(Date.parse(end) - THIRTY_DAYS_MS).toISOString();
  if (start <= end) return { from: start, to: end };
  throw new ApiError('VALIDATION_ERROR', 'The query is not valid: from must not be later than to.');
}

/** Returns the scope of the metrics: the selected resources within the scope of the key. */
function scopeOf({ principal }: Context<'getMetrics'>, { workspace, inbox }: Query) {
  const ownInboxId = principal.tier === 'inbox' ? principal.inboxId : null;
  const inboxId = inbox ?? ownInboxId;
  const inboxWorkspaceId = inboxId === null ? undefined : principal.world.inboxes.get(inboxId)?.workspaceId;
  const selectedWorkspaceId = principal.tier === 'tenant' ? (workspace ?? null) : principal.workspaceId;
  return { tenantId: principal.world.id, workspaceId: inboxWorkspaceId ?? selectedWorkspaceId, inboxId };
}

function countMessages({ principal }: Context<'getMetrics'>, inboxes: readonly InboxRow[], window: Window) {
  const inboxIds = inboxes.map(({ id }) => id);
  const count = (name: MessageTime) => principal.world.messageIndex.countTimes(inboxIds, name, window);
  return { sent: count('sent'), received: count('received'), bounced: count('bounced') };
}

/** Counts the domains of the tenant or of the selected workspace. An inbox has no domains. */
function countDomains({ principal }: Context<'getMetrics'>, scope: ReturnType<typeof scopeOf>): number {
  if (scope.inboxId !== null) return 0;
  const domains = principal.world.domains.all();
  return domains.filter(({ workspaceId }) => {
    const isSelected = scope.workspaceId === null || workspaceId === scope.workspaceId;
    return isSelected && isInScope(principal, { workspaceId, inboxId: null });
  }).length;
}
