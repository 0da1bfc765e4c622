import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { DEFAULT_DOMAIN, isEmulatorDomain, isSandboxDomain } from '../../contract/email-address.ts';
import { ApiError } from '../../contract/errors.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import type { DomainRow } from '../../world/store/rows.ts';
import { defaultWorkspace, hasVerifiedDomain } from '../../world/store/world.ts';
import { type LookupContext, outOfScope, selectWorkspace } from '../pipeline/access/find-in-scope.ts';
import { isInScope } from '../pipeline/access/principal.ts';
import type { Context, Run } from './context.ts';

export const createDomain: Run<'createDomain'> = (context, { body }) => {
  const { principal, worlds, environment, readBehaviour, assume } = context;
  const workspaceId = workspaceFor(context, body.workspaceId);
  const isReserved = isEmulatorDomain(body.domain, worlds.sandboxDomain);
  if (isReserved || principal.world.domains.by('domain', body.domain).length > 0) {
    assume('domains.create.taken');
    const isForSandboxes = isReserved && isSandboxDomain(body.domain);
    const problem = isForSandboxes ? 'is reserved for sandboxes; register another one' : 'is already registered';
    throw new ApiError('ALREADY_EXISTS', `The domain ${body.domain} ${problem}.`);
  }
  const now = timestampNow(environment);
  const row = principal.world.domains.insert({
    id: newId(environment),
    domain: body.domain,
    workspaceId,
    status: 'pending',
    verifiedAt: null,
    createdAt: now,
    updatedAt: now,
  });
  return { body: showDomain(row, readBehaviour) };
};

function workspaceFor(context: Context<'createDomain'>, workspaceId: string | null | undefined): string | null {
  const { principal, readBehaviour } = context;
  const selected = selectWorkspace(context, workspaceId);
  if (selected) return selected.id;
  if (principal.tier === 'workspace') return principal.workspaceId;
  if (readBehaviour('domains.create.workspace') === 'tenant') return null;
  return defaultWorkspace(principal.world)?.id ?? null;
}

export const listDomains: Run<'listDomains'> = (context, { query }) => {
  const { principal, readBehaviour } = context;
  const workspace = selectWorkspace(context, query.workspace);
  const rows = principal.world.domains
    .all()
    .filter(({ workspaceId }) => isInScope(principal, { workspaceId, inboxId: null }))
    .filter((row) => workspace === undefined || row.workspaceId === workspace.id);
  return { body: LIST_BODIES[readBehaviour('domains.shape')](rows, readBehaviour) };
};

export const getDomain: Run<'getDomain'> = (context, { params }) => ({
  body: showDomain(findDomain(context, params.domain), context.readBehaviour),
});

function findDomain(context: LookupContext, domain: string): DomainRow {
  const { principal } = context;
  const rows = principal.world.domains.by('domain', domain);
  const row = rows.find(({ workspaceId }) => isInScope(principal, { workspaceId, inboxId: null }));
  if (row) return row;
  throw outOfScope(context, 'domain with this name', (world) => {
    const [owned] = world.domains.by('domain', domain);
    return owned && { workspaceId: owned.workspaceId, inboxId: null };
  });
}

/** Verifies a domain without a DNS query. The name decides the outcome: `fail.acme.example` fails. */
export const verifyDomain: Run<'verifyDomain'> = (context, { params }) => {
  const { principal, environment, readBehaviour } = context;
  const { id, domain, verifiedAt } = findDomain(context, params.domain);
  const status = outcomeOf(domain);
  if (status === 'verified') checkNotVerifiedElsewhere(context, domain);
  const updatedAt = timestampNow(environment);
  const row = principal.world.domains.update(id, {
    status,
    verifiedAt: verifiedAt ?? (status === 'verified' ? updatedAt : null),
    updatedAt,
  });
  return { body: showDomain(row, readBehaviour) };
};

const OUTCOMES = { fail: 'failed', pending: 'pending', verifying: 'verifying', unknown: 'unknown' } as const;

const OUTCOME_IN_NAME = /^(fail|pending|verifying|unknown)\.|\.(fail|pending|verifying|unknown)\.test$/;

function outcomeOf(domain: string): DomainRow['status'] {
  const [, first, last] = OUTCOME_IN_NAME.exec(domain) ?? [];
  const name = (first ?? last) as keyof typeof OUTCOMES | undefined;
  return name === undefined ? 'verified' : OUTCOMES[name];
}

/** Refuses a domain that another tenant has verified, without naming that tenant: its mail already goes there. */
function checkNotVerifiedElsewhere(
  { principal, worlds, readBehaviour }: Context<'verifyDomain'>,
  domain: string,
): void {
  const isTaken = worlds.neighbours().some((world) => world !== principal.world && hasVerifiedDomain(world, domain));
  if (!isTaken || readBehaviour('domains.verify.taken') === 'verified') return;
  throw new ApiError('CONFLICT', `The domain ${domain} cannot be verified: another tenant has verified it.`);
}

export const deleteDomain: Run<'deleteDomain'> = (context, { params }) => {
  const row = findDomain(context, params.domain);
  context.principal.world.domains.remove(row.id);
  return { body: DELETE_BODIES[context.readBehaviour('domains.delete.body')](row) };
};

const DELETE_BODIES = {
  'deleted-and-domain': ({ domain }: DomainRow) => ({ deleted: true as const, domain }),
  'deleted-and-id': ({ id }: DomainRow) => ({ deleted: true as const, id }),
  empty: () => ({}),
};

/** Returns a domain as create, get and verify show it. */
function showDomain(row: DomainRow, readBehaviour: ReadBehaviour) {
  return DOMAIN_BODIES[readBehaviour('domains.shape')](row, readBehaviour);
}

const DOMAIN_BODIES = {
  reference: showFlat,
  wrapped: (row: DomainRow, readBehaviour: ReadBehaviour) => ({ domain: showWrapped(row, readBehaviour) }),
};

const LIST_BODIES = {
  reference: (rows: readonly DomainRow[], readBehaviour: ReadBehaviour) => ({
    domains: rows.map((row) => showFlat(row, readBehaviour)),
  }),
  wrapped: (rows: readonly DomainRow[], readBehaviour: ReadBehaviour) => ({
    domains: rows.map((row) => showWrapped(row, readBehaviour)),
  }),
};

/** Maps a domain's status to the smaller set of the reference. */
const REFERENCE_STATUS = {
  pending: 'pending',
  verifying: 'pending',
  unknown: 'pending',
  verified: 'verified',
  failed: 'failed',
} as const satisfies Record<DomainRow['status'], DomainRow['status']>;

function showFlat(row: DomainRow, readBehaviour: ReadBehaviour) {
  const { id, domain, workspaceId, updatedAt } = row;
  const status = REFERENCE_STATUS[row.status];
  const dnsRecords = recordsOf(row, readBehaviour).map((record) => ({ ...record, status }));
  return { id, domain, status, workspaceId, dnsRecords, ...verificationOf(row), updatedAt };
}

function showWrapped(row: DomainRow, readBehaviour: ReadBehaviour) {
  const records = recordsOf(row, readBehaviour).map(({ type, name, value, priority }) => ({
    type,
    host: name,
    value,
    ...(priority !== null && { priority }),
  }));
  return { domain: row.domain, status: row.status, ...verificationOf(row), records };
}

function recordsOf(row: DomainRow, readBehaviour: ReadBehaviour) {
  return [...mailRecords(row), ...DNS_RECORDS[readBehaviour('domains.dns-records')](row)];
}

function verificationOf({ status, verifiedAt, createdAt }: DomainRow) {
  const isEnabled = status === 'verified';
  return { inboundEnabled: isEnabled, outboundEnabled: isEnabled, verifiedAt, createdAt };
}

/** A DNS record that a domain requires. */
interface DnsRecord {
  readonly type: 'MX' | 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
  readonly priority: number | null;
}

type DomainIdentity = Pick<DomainRow, 'id' | 'domain'>;

/** The DNS records that a domain requires besides those for mail, by the value of `domains.dns-records`. */
const DNS_RECORDS = {
  reference: ({ domain }: DomainIdentity): DnsRecord[] => [
    txtRecord(`_dmarc.${domain}`, 'v=DMARC1; p=none'),
    // Directs bounces back to the service.
    { type: 'CNAME', name: `bounce.${domain}`, value: `bounce.${DEFAULT_DOMAIN}`, priority: null },
  ],
  'mx-spf-dkim': ({ id, domain }: DomainIdentity) => [
    txtRecord(`_mailbox-verification.${domain}`, `mailbox-verification=${tokenOf(id)}`),
  ],
};

function mailRecords({ id, domain }: DomainIdentity): DnsRecord[] {
  return [
    { type: 'MX', name: domain, value: `mx.${DEFAULT_DOMAIN}`, priority: 10 },
    txtRecord(domain, `v=spf1 include:spf.${DEFAULT_DOMAIN} ~all`),
    txtRecord(`mailbox._domainkey.${domain}`, `v=DKIM1; k=ed25519; p=${tokenOf(id)}`),
  ];
}

function tokenOf(id: string): string {
  return id.replaceAll('-', '');
}

function txtRecord(name: string, value: string): DnsRecord {
  return { type: 'TXT', name, value, priority: null };
}
