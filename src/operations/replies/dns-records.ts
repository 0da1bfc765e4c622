import { DEFAULT_DOMAIN } from '../../contract/emulator-domains.ts';
import type { DomainRow } from '../../store/rows.ts';

/** A DNS record that a domain requires. */
interface DnsRecord {
  readonly type: 'MX' | 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
  readonly priority: number | null;
}

type DomainIdentity = Pick<DomainRow, 'id' | 'domain'>;

/** The DNS records that a domain requires, by the value of `domains.dns-records`. */
export const DNS_RECORDS = {
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
