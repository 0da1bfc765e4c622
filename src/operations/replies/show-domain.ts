import type { Choose } from '../../contract/behaviours.ts';
import type { DomainRow } from '../../store/rows.ts';
import { DNS_RECORDS } from './dns-records.ts';

/** A domain as create, get and verify show it. */
export function showDomain(row: DomainRow, choose: Choose) {
  return SHOWN[choose('domains.shape')](row, choose);
}

/** Domains as the list shows them. */
export function showDomains(rows: readonly DomainRow[], choose: Choose) {
  return LISTED[choose('domains.shape')](rows, choose);
}

const SHOWN = {
  reference: flat,
  wrapped: (row: DomainRow, choose: Choose) => ({ domain: plain(row, choose) }),
};

const LISTED = {
  reference: (rows: readonly DomainRow[], choose: Choose) => ({ domains: rows.map((row) => flat(row, choose)) }),
  wrapped: (rows: readonly DomainRow[], choose: Choose) => ({ domains: rows.map((row) => plain(row, choose)) }),
};

/** The states of a domain in the reference's vocabulary, which has fewer. */
const FLAT_STATUS = {
  pending: 'pending',
  verifying: 'pending',
  unknown: 'pending',
  verified: 'verified',
  failed: 'failed',
} as const satisfies Record<DomainRow['status'], DomainRow['status']>;

function flat(row: DomainRow, choose: Choose) {
  const { id, domain, workspaceId, updatedAt } = row;
  const status = FLAT_STATUS[row.status];
  const dnsRecords = recordsOf(row, choose).map((record) => ({ ...record, status }));
  return { id, domain, status, workspaceId, dnsRecords, ...factsOf(row), updatedAt };
}

function plain(row: DomainRow, choose: Choose) {
  const records = recordsOf(row, choose).map(({ type, name, value, priority }) => ({
    type,
    host: name,
    value,
    ...(priority !== null && { priority }),
  }));
  return { domain: row.domain, status: row.status, ...factsOf(row), records };
}

function recordsOf(row: DomainRow, choose: Choose) {
  return DNS_RECORDS[choose('domains.dns-records')](row);
}

function factsOf({ status, verifiedAt, createdAt }: DomainRow) {
  const isEnabled = status === 'verified';
  return { inboundEnabled: isEnabled, outboundEnabled: isEnabled, verifiedAt, createdAt };
}
