import { assumed, byReference, defineBehaviours } from '../behaviour.ts';

/** Behaviours of the domains of a tenant. */
export const domainBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'domains.shape': byReference('Which form does a domain have in the replies of create, get, verify and list?', {
      reference:
        '{ id, domain, status, workspaceId, dnsRecords: [{ type, name, value, priority, status }], inboundEnabled, ' +
        'outboundEnabled, verifiedAt, createdAt, updatedAt }; status is pending, verified or failed',
      wrapped:
        '{ domain: { domain, status, inboundEnabled, outboundEnabled, verifiedAt, createdAt, records: [{ type, ' +
        'host, value, priority? }] } }; in the list, each item is the inner object; ' +
        'status can also be verifying or unknown; with the value reference, both are shown as pending',
    }),
    'domains.tiers': byReference('Which keys may call the domain operations?', {
      'tenant-and-workspace': 'tk_, and wk_ for the domains of its workspace',
      'tenant-only': 'tk_ only',
    }),
    'domains.create.workspace': assumed('Which workspace does a domain belong to if a tenant key names no workspace?', {
      tenant: 'none: workspaceId is null, and every workspace of the tenant may use it',
      'default-workspace': 'the default workspace',
    }),
    'domains.create.name': assumed(
      'Which names may a domain have, and in which form is it kept?',
      'at least two labels and at most 253 characters; it is kept in lower case and, if it is international, in its ' +
        'ASCII form (IDNA): München.test becomes xn--mnchen-3ya.test; both forms name it',
      { operations: ['createDomain', 'createInbox'], fields: ['domain'] },
    ),
    'domains.list.order': assumed('In which order are domains listed?', 'by creation, oldest first', {
      operations: ['listDomains'],
    }),
    'domains.create.taken': assumed(
      'What is the reply to registering a domain that the tenant already has, or that belongs to the emulator?',
      '409; mailbox.test, simulator.test, sandbox.test and every domain below sandbox.test belong to the emulator, ' +
        'except that a sandbox may register its own domain and the domains below it; ' +
        'another tenant may register the same domain (see domains.verify.taken)',
      { operations: ['createDomain'], fields: ['domain'] },
    ),
    'domains.dns-records': byReference('Which DNS records does a domain require?', {
      reference:
        'MX, TXT for SPF, DKIM and DMARC, and a CNAME for the subdomain bounce; each has the status of the domain',
      'mx-spf-dkim': 'MX, and TXT for SPF, DKIM and ownership; each has the status of the domain',
    }),
    'domains.verify.outcome': assumed(
      'What is the result of verifying a domain, given that no DNS server is queried?',
      'verified, except for domains with special names: fail.* and *.fail.test become failed, pending.* and ' +
        '*.pending.test become pending; the names for verifying and unknown have the same form',
      {
        operations: ['verifyDomain'],
        observableWith: 'not from outside: a real domain is verified by its DNS records',
      },
    ),
    'domains.verify.taken': assumed(
      'What is the reply to verifying a domain that another tenant has verified?',
      {
        conflict: '409, and the domain is not changed; only the other tenant can have addresses in it',
        verified: 'success: the domain is verified for both tenants',
      },
      { observableWith: 'not from outside: a real domain is verified by its DNS records' },
    ),
    'domains.enabled': assumed(
      'What are the values of inboundEnabled, outboundEnabled and verifiedAt of a domain?',
      'inboundEnabled and outboundEnabled: true while it is verified; verifiedAt: when it was first verified, or null',
      {
        operations: ['createDomain', 'listDomains', 'getDomain', 'verifyDomain'],
        observableWith: 'not from outside: a real domain is verified by its DNS records',
      },
    ),
    'domains.verify.reply': assumed('What does verifying a domain return?', 'the domain', {
      operations: ['verifyDomain'],
      observableWith: 'not from outside: a real domain is verified by its DNS records',
    }),
    'domains.delete.in-use': assumed(
      'What happens to the inboxes of a deleted domain?',
      'they stay and keep their addresses',
      {
        operations: ['deleteDomain'],
        observableWith: 'not from outside: a real domain is verified by its DNS records',
      },
    ),
    'domains.delete.body': assumed('What does deleting a domain return?', {
      'deleted-and-domain': '{ deleted: true, domain }',
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    }),
  },
);
