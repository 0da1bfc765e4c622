import { defineBehaviours } from '../behaviour.ts';

/** Domains. */
export const domainBehaviours = defineBehaviours({
  'domains.shape': {
    question: 'What is a domain in a reply?',
    section: '4.4',
    choices: {
      reference: '{ id, domain, status, workspaceId, dnsRecords, createdAt, updatedAt }',
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
    choices: {
      conflict: '409; another tenant may have the same domain',
    },
    default: 'conflict',
    origin: 'assumed',
  },
  'domains.dns-records': {
    question: 'Which DNS records does a domain ask for?',
    section: '4.4',
    choices: {
      'mx-spf-dkim': 'MX, and TXT for SPF, DKIM and ownership; each has the status of the domain',
    },
    default: 'mx-spf-dkim',
    origin: 'assumed',
  },
  'domains.verify.outcome': {
    question: 'What does verifying a domain find, without asking any DNS?',
    section: '4.4',
    choices: {
      'by-name': 'verified; failed for fail.* and *.fail.test, still pending for pending.* and *.pending.test',
    },
    default: 'by-name',
    origin: 'assumed',
  },
  'domains.verify.reply': {
    question: 'What does verifying a domain answer?',
    section: '4.4',
    choices: {
      domain: 'the domain',
    },
    default: 'domain',
    origin: 'assumed',
  },
  'domains.delete.in-use': {
    question: 'What happens to the inboxes of a domain that is deleted?',
    section: '4.4',
    choices: {
      kept: 'they stay, with their addresses',
    },
    default: 'kept',
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
