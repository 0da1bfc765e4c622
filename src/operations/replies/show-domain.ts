import type { Choose } from '../../contract/behaviours.ts';
import type { DomainRow } from '../../store/rows.ts';
import { DNS_RECORDS } from './dns-records.ts';

/** Returns a domain as create, get and verify show it. */
export function showDomain(row: DomainRow, choose: Choose) {
  return DOMAIN_BODIES[choose('domains.shape')](row, choose);
}

/** Returns domains as the list shows them. */
export function showDomains(rows: readonly DomainRow[], choose: Choose) {
  return LIST_BODIES[choose('domains.shape')](rows, choose);
}

const DOMAIN_BODIES = {
  reference: showFlat,
  wrapped: (row: DomainRow, choose: Choose) => ({ domain: showWrapped(row, choose) }),
};

const LIST_BODIES = {
  reference: (rows: readonly DomainRow[], choose: Choose) => ({ domains: rows.map((row) => showFlat(row, choose)) }),
  wrapped: (rows: readonly DomainRow[], choose: Choose) => ({ domains: rows.map((row) => showWrapped(row, choose)) }),
};

/** Maps a domain's status to the smaller set of the reference. */
const REFERENCE_STATUS = {
  pending: 'pending',
  verifying: 'pending',
  unknown: 'pending',
  verified: 'verified',
  failed: 'failed',
} as const satisfies Record<DomainRow['status'], DomainRow['status']>;

function showFlat(row: DomainRow, choose: Choose) {
  const { id, domain, workspaceId, updatedAt } = row;
  const status = REFERENCE_STATUS[row.status];
  const dnsRecords = recordsOf(row, choose).map((record) => ({ ...record, status }));
  return { id, domain, status, workspaceId, dnsRecords, ...verificationOf(row), updatedAt };
}

function showWrapped(row: DomainRow, choose: Choose) {
  const records = recordsOf(row, choose).map(({ type, name, value, priority }) => ({
    type,
    host: name,
    value,
    ...(priority !== null && { priority }),
  }));
  return { domain: row.domain, status: row.status, ...verificationOf(row), records };
}

function recordsOf(row: DomainRow, choose: Choose) {
  return DNS_RECORDS[choose('domains.dns-records')](row);
}

function verificationOf({ status, verifiedAt, createdAt }: DomainRow) {
  const isEnabled = status === 'verified';
  return { inboundEnabled: isEnabled, outboundEnabled: isEnabled, verifiedAt, createdAt };
}
