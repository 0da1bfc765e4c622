import { defineBehaviours } from '../behaviour.ts';

export const domainBehaviours = defineBehaviours({
  'domains.shape': {
    question: 'Which form does a domain have in the replies of create, get, verify and list?',
    section: '4.4',
    choices: {
      reference:
        '{ id, domain, status, workspaceId, dnsRecords: [{ type, name, value, priority, status }], inboundEnabled, outboundEnabled, verifiedAt, createdAt, updatedAt }; status is pending, verified or failed',
      wrapped:
        '{ domain: { domain, status, inboundEnabled, outboundEnabled, verifiedAt, createdAt, records: [{ type, host, value, priority? }] } }; in the list, each item is the inner object; status can also be verifying or unknown, which the other value shows as pending',
    },
    default: 'reference',
    origin: 'reference',
  },
  'domains.tiers': {
    question: 'Which keys may call the domain operations?',
    section: '4.4',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ for the domains of its workspace',
      'tenant-only': 'tk_ only',
    },
    default: 'tenant-and-workspace',
    origin: 'reference',
  },
  'domains.create.workspace': {
    question: 'Which workspace does a domain belong to when a tenant key names none?',
    section: '4.4',
    choices: {
      tenant: 'none: workspaceId is null, and every workspace of the tenant may use it',
      'default-workspace': 'the default workspace',
    },
    default: 'tenant',
    origin: 'assumed',
  },
  'domains.create.taken': {
    question: 'What is the reply to registering a domain that the tenant already has, or that belongs to the emulator?',
    section: '4.4',
    assumption:
      '409; mailbox.test, simulator.test, sandbox.test and every domain below sandbox.test belong to the emulator, except that a sandbox may register its own domain and those below it; another tenant may register the same domain (see domains.verify.taken)',
    origin: 'assumed',
  },
  'domains.dns-records': {
    question: 'Which DNS records does a domain require?',
    section: '4.4',
    choices: {
      reference:
        'MX, TXT for SPF, DKIM and DMARC, and a CNAME for the subdomain bounce; each has the status of the domain',
      'mx-spf-dkim': 'MX, and TXT for SPF, DKIM and ownership; each has the status of the domain',
    },
    default: 'reference',
    origin: 'reference',
  },
  'domains.verify.outcome': {
    question: 'What is the result of verifying a domain, given that no DNS server is queried?',
    section: '4.4',
    assumption:
      'verified, except for domains with special names: fail.* and *.fail.test become failed, pending.* and *.pending.test become pending, and in the same way verifying and unknown',
    origin: 'assumed',
  },
  'domains.verify.taken': {
    question: 'What is the reply to verifying a domain that another tenant has verified?',
    section: '4.4',
    choices: {
      conflict: '409, and the domain is not changed; only the other tenant can have addresses in it',
      verified: 'success: the domain is verified for both tenants',
    },
    default: 'conflict',
    origin: 'assumed',
  },
  'domains.enabled': {
    question: 'What are the values of inboundEnabled, outboundEnabled and verifiedAt of a domain?',
    section: '4.4',
    assumption:
      'the first two are true while the domain is verified; verifiedAt is the time of its first verification, or null',
    origin: 'assumed',
  },
  'domains.verify.reply': {
    question: 'What does verifying a domain return?',
    section: '4.4',
    assumption: 'the domain',
    origin: 'assumed',
  },
  'domains.delete.in-use': {
    question: 'What happens to the inboxes of a deleted domain?',
    section: '4.4',
    assumption: 'they stay and keep their addresses',
    origin: 'assumed',
  },
  'domains.delete.body': {
    question: 'What does deleting a domain return?',
    section: '4.4',
    choices: {
      'deleted-and-domain': '{ deleted: true, domain }',
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-domain',
    origin: 'assumed',
  },
});
