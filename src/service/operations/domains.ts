import { DEFAULT_DOMAIN, isEmulatorDomain, isSandboxDomain } from '../../contract/addresses/email-address.ts';
import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import { newId, timestampNow } from '../../world/environment.ts';
import type { DomainRow } from '../../world/store/rows.ts';
import { defaultWorkspace, hasVerifiedDomain } from '../../world/store/world.ts';
import { type LookupContext, outOfScope, selectWorkspace } from '../access/find-in-scope.ts';
import { isInScope } from '../access/principal.ts';
import type { Context, Run } from './context.ts';

export const createDomain: Run<'createDomain'> = (context, { body }) => {
  const { world, worlds } = context;
  const { domain } = body;
  const workspaceId = workspaceFor(context, body.workspaceId);
  const isReserved = isEmulatorDomain(domain, worlds.sandboxDomain);
  if (isReserved || world.domains.by('domain', domain).length > 0) {
    const isForSandboxes = isReserved && isSandboxDomain(domain);
    const problem = isForSandboxes ? 'is reserved for sandboxes; register another one' : 'is already registered';
    throw new ApiError('ALREADY_EXISTS', `The domain ${domain} ${problem}.`);
  }
  const now = timestampNow(world.environment);
  const state = { status: 'pending' as const, verifiedAt: null, createdAt: now, updatedAt: now };
  const row = world.domains.insert({ id: newId(world.environment), domain, workspaceId, ...state });
  return { body: showDomain(context, row) };
};

function workspaceFor(context: Context<'createDomain'>, workspaceId?: string | null): string | null {
  const { principal, world, readBehaviour } = context;
  const selected = selectWorkspace(context, workspaceId)?.id ?? principal.workspaceId;
  if (selected !== null || readBehaviour('domains.create.workspace') === 'tenant') return selected;
  return defaultWorkspace(world)?.id ?? null;
}

export const listDomains: Run<'listDomains'> = (context, { query }) => {
  const { principal, world, readBehaviour } = context;
  const workspace = selectWorkspace(context, query.workspace);
  const isListed = (row: DomainRow) => isInScope(principal, row) && (!workspace || row.workspaceId === workspace.id);
  const rows = world.domains.all().filter(isListed);
  if (readBehaviour('domains.shape') === 'reference')
    return { body: { domains: rows.map((row) => showFlat(row, readBehaviour)) } };
  return { body: { domains: rows.map((row) => showWrapped(row, readBehaviour)) } };
};

export const getDomain: Run<'getDomain'> = (context, { params }) => ({
  body: showDomain(context, findDomain(context, params.domain)),
});

function findDomain(context: LookupContext, domain: string): DomainRow {
  const row = context.world.domains.by('domain', domain).find((each) => isInScope(context.principal, each));
  if (row) return row;
  throw outOfScope(context, 'domain with this name', (world) => world.domains.by('domain', domain)[0]);
}

/** Verifies a domain without a DNS query. The name decides the status: `fail.acme.example` gets the status `failed`. */
export const verifyDomain: Run<'verifyDomain'> = (context, { params }) => {
  const { id, domain, verifiedAt } = findDomain(context, params.domain);
  const status = statusByName(domain);
  if (status === 'verified') checkNotVerifiedElsewhere(context, domain);
  const updatedAt = timestampNow(context.world.environment);
  const changes = { status, verifiedAt: verifiedAt ?? (status === 'verified' ? updatedAt : null), updatedAt };
  return { body: showDomain(context, context.world.domains.update(id, changes)) };
};

const STATUS_IN_NAME = /^(fail|pending|verifying|unknown)\.|\.(fail|pending|verifying|unknown)\.test$/;

function statusByName(domain: string): DomainRow['status'] {
  const [, prefix, suffix] = STATUS_IN_NAME.exec(domain) ?? [];
  const word = (prefix ?? suffix ?? 'verified') as Exclude<DomainRow['status'], 'failed'> | 'fail';
  return word === 'fail' ? 'failed' : word;
}

/** Refuses a domain that another tenant has verified, because all mail to the domain goes to the other tenant. */
function checkNotVerifiedElsewhere(context: Context<'verifyDomain'>, domain: string): void {
  const { world: ownWorld, worlds, readBehaviour } = context;
  const isTaken = worlds.withoutSandboxes().some((world) => world !== ownWorld && hasVerifiedDomain(world, domain));
  if (!isTaken || readBehaviour('domains.verify.taken') === 'verified') return;
  throw new ApiError('CONFLICT', `The domain ${domain} cannot be verified: another tenant has verified it.`);
}

export const deleteDomain: Run<'deleteDomain'> = (context, { params }) => {
  const row = findDomain(context, params.domain);
  context.world.domains.remove(row.id);
  return { body: DELETED_DOMAIN[context.readBehaviour('domains.delete.body')](row) };
};

const DELETED_DOMAIN = {
  'deleted-and-domain': ({ domain }: DomainRow) => ({ deleted: true as const, domain }),
  'deleted-and-id': ({ id }: DomainRow) => ({ deleted: true as const, id }),
  empty: () => ({}),
};

/** Returns a domain as create, get and verify show it. */
function showDomain({ readBehaviour }: LookupContext, row: DomainRow) {
  const isFlat = readBehaviour('domains.shape') === 'reference';
  return isFlat ? showFlat(row, readBehaviour) : { domain: showWrapped(row, readBehaviour) };
}

function showFlat(row: DomainRow, readBehaviour: ReadBehaviour) {
  const { id, domain, workspaceId, updatedAt } = row;
  // The reference has fewer statuses, so any other status is shown as `pending`.
  const status = row.status === 'verified' || row.status === 'failed' ? row.status : ('pending' as const);
  const dnsRecords = dnsRecordsOf(row, readBehaviour).map((record) => ({ ...record, status }));
  return { id, domain, status, workspaceId, dnsRecords, ...verificationOf(row), updatedAt };
}

function showWrapped(row: DomainRow, readBehaviour: ReadBehaviour) {
  const records = dnsRecordsOf(row, readBehaviour).map(({ type, name, value, priority }) => ({
    type,
    host: name,
    value,
    ...(priority !== null && { priority }),
  }));
  return { domain: row.domain, status: row.status, ...verificationOf(row), records };
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

/** Returns the DNS records that a domain requires. */
function dnsRecordsOf({ id, domain }: DomainRow, readBehaviour: ReadBehaviour): DnsRecord[] {
  const token = id.replaceAll('-', '');
  const txt = (name: string, value: string): DnsRecord => ({ type: 'TXT', name, value, priority: null });
  const mailRecords: DnsRecord[] = [
    { type: 'MX', name: domain, value: `mx.${DEFAULT_DOMAIN}`, priority: 10 },
    txt(domain, `v=spf1 include:spf.${DEFAULT_DOMAIN} ~all`),
    txt(`mailbox._domainkey.${domain}`, `v=DKIM1; k=ed25519; p=${token}`),
  ];
  if (readBehaviour('domains.dns-records') === 'mx-spf-dkim')
    return [...mailRecords, txt(`_mailbox-verification.${domain}`, `mailbox-verification=${token}`)];
  // The CNAME record directs bounces to the service.
  const bounce = { name: `bounce.${domain}`, value: `bounce.${DEFAULT_DOMAIN}` };
  return [...mailRecords, txt(`_dmarc.${domain}`, 'v=DMARC1; p=none'), { type: 'CNAME', ...bounce, priority: null }];
}
