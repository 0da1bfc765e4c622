import { DEFAULT_DOMAIN } from '../../contract/emulator-domains.ts';
import type { DomainRow } from '../../store/rows.ts';

/** A DNS record that a domain asks for. */
interface DnsRecord {
  readonly type: 'MX' | 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
  readonly priority: number | null;
}

type Named = Pick<DomainRow, 'id' | 'domain'>;

/** The DNS records that a domain asks for, for each choice of `domains.dns-records`. */
export const DNS_RECORDS = {
  reference: (row: Named) => [...forMail(row), dmarc(row), bounces(row)],
  'mx-spf-dkim': (row: Named) => [...forMail(row), ownership(row)],
};

/** To receive and to send. */
function forMail({ id, domain }: Named): DnsRecord[] {
  return [
    { type: 'MX', name: domain, value: `mx.${DEFAULT_DOMAIN}`, priority: 10 },
    txt(domain, `v=spf1 include:spf.${DEFAULT_DOMAIN} ~all`),
    txt(`mailbox._domainkey.${domain}`, `v=DKIM1; k=ed25519; p=${tokenOf(id)}`),
  ];
}

function dmarc({ domain }: Named): DnsRecord {
  return txt(`_dmarc.${domain}`, 'v=DMARC1; p=none');
}

/** So that what bounces comes back to the service. */
function bounces({ domain }: Named): DnsRecord {
  return { type: 'CNAME', name: `bounce.${domain}`, value: `bounce.${DEFAULT_DOMAIN}`, priority: null };
}

function ownership({ id, domain }: Named): DnsRecord {
  return txt(`_mailbox-verification.${domain}`, `mailbox-verification=${tokenOf(id)}`);
}

function tokenOf(id: string): string {
  return id.replaceAll('-', '');
}

function txt(name: string, value: string): DnsRecord {
  return { type: 'TXT', name, value, priority: null };
}
