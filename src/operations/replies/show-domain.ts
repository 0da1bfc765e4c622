import type { ReadBehaviour } from '../../contract/behaviours.ts';
import type { DomainRow } from '../../store/rows.ts';
import { DNS_RECORDS } from './dns-records.ts';

/** Returns a domain as create, get and verify show it. */
export function showDomain(row: DomainRow, readBehaviour: ReadBehaviour) {
  return DOMAIN_BODIES[readBehaviour('domains.shape')](row, readBehaviour);
}

/** Returns domains as the list shows them. */
export function showDomains(rows: readonly DomainRow[], readBehaviour: ReadBehaviour) {
  return LIST_BODIES[readBehaviour('domains.shape')](rows, readBehaviour);
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
  return DNS_RECORDS[readBehaviour('domains.dns-records')](row);
}

function verificationOf({ status, verifiedAt, createdAt }: DomainRow) {
  const isEnabled = status === 'verified';
  return { inboundEnabled: isEnabled, outboundEnabled: isEnabled, verifiedAt, createdAt };
}
