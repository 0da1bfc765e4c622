import { defineBehaviours } from '../behaviour.ts';

/** Domains. */
export const domainBehaviours = defineBehaviours({
  'domains.shape': {
    question: 'What is a domain in the replies of create, get, verify and list?',
    section: '4.4',
    choices: {
      reference:
        '{ id, domain, status, workspaceId, dnsRecords: [{ type, name, value, priority, status }], inboundEnabled, outboundEnabled, verifiedAt, createdAt, updatedAt }; status is pending, verified or failed',
      wrapped:
        '{ domain: { domain, status, inboundEnabled, outboundEnabled, verifiedAt, createdAt, records: [{ type, host, value, priority? }] } }, in the list without the outer domain; status may be verifying or unknown too, which the other choice shows as pending',
    },
    default: 'reference',
    origin: 'reference',
  },
  'domains.tiers': {
    question: 'Who may call the domain operations?',
    section: '4.4',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ for those of its workspace',
      'tenant-only': 'tk_',
    },
    default: 'tenant-and-workspace',
    origin: 'reference',
  },
  'domains.create.workspace': {
    question: 'To what does a domain belong when a tenant key names no workspace?',
    section: '4.4',
    choices: {
      tenant: 'to the whole tenant: workspaceId is null and every workspace may use it',
      'default-workspace': 'to the default workspace',
    },
    default: 'tenant',
    origin: 'assumed',
  },
  'domains.create.taken': {
    question: 'What answers a domain that the tenant has already, or that belongs to the emulator itself?',
    section: '4.4',
    assumption: '409; another tenant may register the same domain, see domains.verify.taken',
    origin: 'assumed',
  },
  'domains.dns-records': {
    question: 'Which DNS records does a domain ask for?',
    section: '4.4',
    choices: {
      reference:
        'MX, TXT for SPF, DKIM and DMARC, and a CNAME of bounce below the domain; each has the status of the domain',
      'mx-spf-dkim': 'MX, and TXT for SPF, DKIM and ownership; each has the status of the domain',
    },
    default: 'reference',
    origin: 'reference',
  },
  'domains.verify.outcome': {
    question: 'What does verifying a domain find, without asking any DNS?',
    section: '4.4',
    assumption:
      'verified; failed for fail.* and *.fail.test, and likewise pending, verifying and unknown for domains so named',
    origin: 'assumed',
  },
  'domains.verify.taken': {
    question: 'What answers verifying a domain that another tenant has verified?',
    section: '4.4',
    choices: {
      conflict: '409, and the domain stays as it is; nobody may have an address there but in the other tenant',
      verified: 'it is verified for both',
    },
    default: 'conflict',
    origin: 'assumed',
  },
  'domains.enabled': {
    question: 'What are inboundEnabled, outboundEnabled and verifiedAt of a domain?',
    section: '4.4',
    assumption: 'true while it is verified; verifiedAt is when it first was, or null',
    origin: 'assumed',
  },
  'domains.verify.reply': {
    question: 'What does verifying a domain answer?',
    section: '4.4',
    assumption: 'the domain',
    origin: 'assumed',
  },
  'domains.delete.in-use': {
    question: 'What happens to the inboxes of a domain that is deleted?',
    section: '4.4',
    assumption: 'they stay, with their addresses',
    origin: 'assumed',
  },
  'domains.delete.body': {
    question: 'What does deleting a domain answer?',
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
