import { defineBehaviours } from '../behaviour.ts';

/** Inboxes and their addresses. */
export const inboxBehaviours = defineBehaviours('4.4', 'key', {
  'inboxes.shape': {
    question: 'Which fields does an inbox have in a reply?',
    choices: {
      'with-metadata': 'the fields of the reference plus metadata, which PATCH sets',
      reference: 'the fields of the reference only',
    },
  },
  'inboxes.display-name.unset': {
    question: 'What is the displayName of an inbox that has none?',
    choices: { null: 'null', absent: 'the field is absent' },
  },
  'inboxes.read.tiers': {
    question: 'Which keys may list and read inboxes?',
    choices: {
      'tenant-workspace-and-inbox': 'tk_, wk_ for the inboxes of its workspace, ak_ for its own inbox',
      'tenant-and-workspace': 'tk_ and wk_',
    },
  },
  'inboxes.change.tiers': {
    question: 'Which keys may change and delete an inbox and its addresses?',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ for the inboxes of its workspace',
      'tenant-workspace-and-inbox': 'also ak_ for its own inbox',
    },
  },
  'inboxes.list.credentials': {
    question: 'Does the list of inboxes contain passwords?',
    choices: {
      omitted: 'no: imapPassword, imap and smtp are omitted',
      included: 'yes, each item has the same fields as a single inbox',
    },
  },
  'inboxes.list.order': { question: 'In which order are inboxes listed?', assumption: 'by creation, oldest first' },
  'inboxes.default-domain': {
    told: 'not from outside: each service has a default domain of its own',
    question: 'What is the default domain?',
    assumption: 'mailbox.test',
  },
  'inboxes.create.username': {
    question: 'Which user names may an inbox have?',
    assumption:
      '1 to 64 lower-case letters, digits and . - _, starting with a letter or digit, with no dot at the end or ' +
      'next to another dot',
    origin: 'reference',
    affects: ['body'],
  },
  'inboxes.create.generated-name': {
    question: 'Which user name does an inbox get when the request has none?',
    assumption:
      'the name of the tenant in the form of a slug, cut to what fits, or agent if it has no ASCII letters or ' +
      'digits; then - and eight hexadecimal digits: acme-0f3a91c2',
    origin: 'reference',
  },
  'inboxes.create.workspace': {
    question: 'Which workspace does an inbox belong to when a tenant key names none?',
    assumption: 'the default workspace',
  },
  'inboxes.create.domain': {
    question: 'What is the reply to a domain that is neither the default domain nor verified for the workspace?',
    choices: { invalid: '400', forbidden: '403' },
  },
  'inboxes.create.existing': {
    question: 'What is the reply to creating an inbox whose address the tenant already has?',
    choices: { returned: '200 with that inbox and existed: true, without credentials', conflict: '409' },
    origin: 'reference',
  },
  'inboxes.create.taken': {
    told: 'two tenants',
    question: 'What happens when another tenant has the address, or another inbox has a tagged form of it?',
    assumption:
      'a number from 1 to 99 is added to the user name; the reply is 409 when all are taken, or with strict=true',
    origin: 'reference',
  },
  'inboxes.update.reply': {
    question: 'What does updating an inbox return?',
    assumption: '{ updated: true, id }',
    origin: 'reference',
  },
  'inboxes.delete.kept': {
    question: 'What remains of a deleted inbox?',
    assumption:
      'its messages, which no operation returns; its keys, drafts, lists and addresses are deleted, and the ' +
      'addresses can be used again',
    origin: 'reference',
  },
  'inboxes.delete.body': {
    question: 'What does deleting an inbox return?',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
    origin: 'reference',
  },
  'inboxes.addresses.create.domain': {
    question:
      'What is the reply to adding an address whose domain is neither the default domain nor verified for the ' +
      'workspace?',
    choices: { invalid: '400', forbidden: '403' },
  },
  'inboxes.addresses.create.reply': {
    question: 'What does adding an address return?',
    assumption:
      '201 { ok: true, address, isPrimary }; 409 when an inbox already has the address, or another inbox has the ' +
      'address without its tag',
    origin: 'reference',
  },
  'inboxes.addresses.delete.canonical': {
    question: 'What is the reply to removing the canonical address, which is not allowed?',
    choices: { conflict: '409', invalid: '400' },
  },
  'inboxes.addresses.delete.body': {
    question: 'What does removing an address return?',
    choices: { 'deleted-and-address': '{ deleted: true, address }', empty: '{}' },
    origin: 'reference',
  },
  'inboxes.create.out-of-reach': {
    question: 'What happens when another workspace of the tenant, outside the scope of the key, has the address?',
    assumption: 'the same as if another tenant had it',
  },
  'inboxes.create.again': {
    told: 'two tenants',
    question: 'What does a second request to create an inbox with the same taken name return?',
    choices: {
      'next-number': 'another inbox, with the next number',
      existing: '200 with the numbered inbox that the tenant already has, and existed: true',
    },
  },
  'inboxes.addresses.delete.primary': {
    question: 'Which address becomes primary when the primary one is removed?',
    assumption: 'the canonical address',
    origin: 'reference',
  },
});
