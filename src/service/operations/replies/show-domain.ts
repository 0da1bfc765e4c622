import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import { DEFAULT_DOMAIN } from '../../../contract/email-address.ts';
import type { DomainRow } from '../../../world/store/rows.ts';

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

/** A DNS record that a domain requires. */
interface DnsRecord {
  readonly type: 'MX' | 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
  readonly priority: number | null;
}

type DomainIdentity = Pick<DomainRow, 'id' | 'domain'>;

/** The DNS records that a domain requires, by the value of `domains.dns-records`. */
const DNS_RECORDS = {
  reference: (row: DomainIdentity) => [...mailRecords(row), dmarcRecord(row), bounceRecord(row)],
  'mx-spf-dkim': (row: DomainIdentity) => [...mailRecords(row), ownershipRecord(row)],
};

function mailRecords({ id, domain }: DomainIdentity): DnsRecord[] {
  return [
    { type: 'MX', name: domain, value: `mx.${DEFAULT_DOMAIN}`, priority: 10 },
    txtRecord(domain, `v=spf1 include:spf.${DEFAULT_DOMAIN} ~all`),
    txtRecord(`mailbox._domainkey.${domain}`, `v=DKIM1; k=ed25519; p=${tokenOf(id)}`),
  ];
}

function dmarcRecord({ domain }: DomainIdentity): DnsRecord {
  return txtRecord(`_dmarc.${domain}`, 'v=DMARC1; p=none');
}

/** Directs bounces back to the service. */
function bounceRecord({ domain }: DomainIdentity): DnsRecord {
  return { type: 'CNAME', name: `bounce.${domain}`, value: `bounce.${DEFAULT_DOMAIN}`, priority: null };
}

function ownershipRecord({ id, domain }: DomainIdentity): DnsRecord {
  return txtRecord(`_mailbox-verification.${domain}`, `mailbox-verification=${tokenOf(id)}`);
}

function tokenOf(id: string): string {
  return id.replaceAll('-', '');
}

function txtRecord(name: string, value: string): DnsRecord {
  return { type: 'TXT', name, value, priority: null };
}
