import { DEFAULT_DOMAIN } from '../../contract/domains.ts';
import type { DomainRow } from '../../store/rows.ts';

/** The DNS records that a domain asks for: to receive, to send, and to prove whose it is. */
export function dnsRecordsOf({ id, domain, status }: DomainRow) {
  const token = id.replaceAll('-', '');
  return [
    { type: 'MX' as const, name: domain, value: `mx.${DEFAULT_DOMAIN}`, priority: 10, status },
    txt(domain, `v=spf1 include:spf.${DEFAULT_DOMAIN} ~all`, status),
    txt(`mailbox._domainkey.${domain}`, `v=DKIM1; k=ed25519; p=${token}`, status),
    txt(`_mailbox-verification.${domain}`, `mailbox-verification=${token}`, status),
  ];
}

function txt(name: string, value: string, status: DomainRow['status']) {
  return { type: 'TXT' as const, name, value, priority: null, status };
}
