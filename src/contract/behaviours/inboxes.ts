import { defineBehaviours } from '../behaviour.ts';

/** Inboxes and their addresses. */
export const inboxBehaviours = defineBehaviours({
  'inboxes.shape': {
    question: 'What is an inbox in a reply?',
    section: '4.4',
    choices: {
      'with-metadata': 'the fields of the reference, and metadata, which PATCH sets',
      reference: 'the fields of the reference only',
    },
    default: 'with-metadata',
    origin: 'assumed',
  },
  'inboxes.read.tiers': {
    question: 'Who may list and read inboxes?',
    section: '4.4',
    choices: {
      'tenant-workspace-and-inbox': 'tk_, wk_ those of its workspace, ak_ its own',
      'tenant-and-workspace': 'tk_ and wk_',
    },
    default: 'tenant-workspace-and-inbox',
    origin: 'assumed',
  },
  'inboxes.change.tiers': {
    question: 'Who may change and delete an inbox and its addresses?',
    section: '4.4',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ in its workspace',
      'tenant-workspace-and-inbox': 'also ak_, its own',
    },
    default: 'tenant-and-workspace',
    origin: 'assumed',
  },
  'inboxes.list.credentials': {
    question: 'Does the list of inboxes show passwords?',
    section: '4.4',
    choices: {
      omitted: 'no: imapPassword, imap and smtp are left out',
      included: 'yes, each item is as a single inbox',
    },
    default: 'omitted',
    origin: 'assumed',
  },
  'inboxes.list.order': {
    question: 'In which order are inboxes listed?',
    section: '4.4',
    assumption: 'by creation, oldest first',
    origin: 'assumed',
  },
  'inboxes.default-domain': {
    question: 'Which is the default domain?',
    section: '4.4',
    assumption: 'mailbox.test; IMAP and SMTP are imap.mailbox.test and smtp.mailbox.test, where nobody answers',
    origin: 'assumed',
  },
  'inboxes.create.username': {
    question: 'Which user names may an inbox have?',
    section: '4.4',
    assumption:
      '1 to 64 lower-case letters, digits and . - _, starting with a letter or digit, no dot at its end or beside another',
    origin: 'reference',
    shapes: ['body'],
  },
  'inboxes.create.generated-name': {
    question: 'Which user name does an inbox get when none is sent?',
    section: '4.4',
    assumption: 'agent- and eight hexadecimal digits',
    origin: 'assumed',
  },
  'inboxes.create.workspace': {
    question: 'Where does an inbox land when a tenant key names no workspace?',
    section: '4.4',
    assumption: 'in the default workspace',
    origin: 'assumed',
  },
  'inboxes.create.domain': {
    question: 'What answers a domain that is neither the default one nor verified for the workspace?',
    section: '4.4',
    choices: {
      invalid: '400',
      forbidden: '403',
    },
    default: 'invalid',
    origin: 'assumed',
  },
  'inboxes.create.existing': {
    question: 'What answers creating an inbox whose address the tenant has already?',
    section: '4.4',
    choices: {
      returned: '200 with that inbox, existed: true and no credentials',
      conflict: '409',
    },
    default: 'returned',
    origin: 'reference',
  },
  'inboxes.create.taken': {
    question: 'What happens when another tenant has the address, or another inbox a tagged form of it?',
    section: '4.4',
    assumption: 'the inbox gets name1 to name99; 409 when all are taken, or with strict=true',
    origin: 'reference',
  },
  'inboxes.update.reply': {
    question: 'What does changing an inbox answer?',
    section: '4.4',
    assumption: '{ updated: true, id }',
    origin: 'reference',
  },
  'inboxes.delete.kept': {
    question: 'What stays of a deleted inbox?',
    section: '4.4',
    assumption:
      'its messages, which nobody reaches any more; its keys, drafts, lists and addresses end, and the addresses are free again',
    origin: 'reference',
  },
  'inboxes.delete.body': {
    question: 'What does deleting an inbox answer?',
    section: '4.4',
    choices: {
      'deleted-and-id': '{ deleted: true, id }',
      empty: '{}',
    },
    default: 'deleted-and-id',
    origin: 'reference',
  },
  'inboxes.addresses.create.domain': {
    question: 'What answers an address whose domain is neither the default one nor verified for the workspace?',
    section: '4.4',
    choices: {
      invalid: '400',
      forbidden: '403',
    },
    default: 'invalid',
    origin: 'assumed',
  },
  'inboxes.addresses.create.reply': {
    question: 'What does adding an address answer?',
    section: '4.4',
    assumption:
      '201 { ok: true, address, isPrimary }; 409 when any inbox has the address, or another one the address that it is a tagged form of',
    origin: 'reference',
  },
  'inboxes.addresses.delete.canonical': {
    question: 'What answers removing the canonical address, which must not be?',
    section: '4.4',
    choices: {
      conflict: '409',
      invalid: '400',
    },
    default: 'conflict',
    origin: 'assumed',
  },
  'inboxes.addresses.delete.body': {
    question: 'What does removing an address answer?',
    section: '4.4',
    choices: {
      'deleted-and-address': '{ deleted: true, address }',
      empty: '{}',
    },
    default: 'deleted-and-address',
    origin: 'reference',
  },
  'inboxes.create.out-of-reach': {
    question: 'And when another workspace of the tenant has it, out of the reach of the key?',
    section: '4.4',
    assumption: 'the same, as if another tenant had it',
    origin: 'assumed',
  },
  'inboxes.create.again': {
    question: 'What does creating an inbox under a taken name once more answer?',
    section: '4.4',
    choices: {
      'next-number': 'another inbox, with the next number',
      existing: '200 with the numbered inbox that the tenant has already, and existed: true',
    },
    default: 'next-number',
    origin: 'assumed',
  },
  'inboxes.addresses.delete.primary': {
    question: 'Which address becomes primary when the primary one is removed?',
    section: '4.4',
    assumption: 'the canonical one',
    origin: 'reference',
  },
});
