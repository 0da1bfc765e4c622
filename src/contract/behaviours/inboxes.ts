import { assumed, byReference, DELETED, defineBehaviours } from '../behaviour.ts';

/** Behaviours of inboxes and their addresses. */
export const inboxBehaviours = defineBehaviours(
  { section: '4.4', observableWith: 'key' },
  {
    'inboxes.shape': assumed('Which fields does an inbox have in a reply?', {
      'with-metadata': 'the fields of the reference plus metadata, which PATCH sets',
      reference: 'the fields of the reference only',
    }),
    'inboxes.display-name.unset': assumed('What is the displayName of an inbox that has none?', {
      null: 'null',
      absent: 'the field is absent',
    }),
    'inboxes.read.tiers': assumed('Which keys may list and read inboxes?', {
      'tenant-workspace-and-inbox': 'tk_, wk_ for the inboxes of its workspace, ak_ for its own inbox',
      'tenant-and-workspace': 'tk_ and wk_',
    }),
    'inboxes.change.tiers': assumed('Which keys may change and delete an inbox and its addresses?', {
      'tenant-and-workspace': 'tk_, and wk_ for the inboxes of its workspace',
      'tenant-workspace-and-inbox': 'also ak_ for its own inbox',
    }),
    'inboxes.list.credentials': assumed('Does the list of inboxes contain passwords?', {
      omitted: 'no: imapPassword, imap and smtp are omitted',
      included: 'yes, each item has the same fields as a single inbox',
    }),
    'inboxes.list.order': assumed('In which order are inboxes listed?', 'by creation, oldest first', {
      operations: ['listInboxes'],
    }),
    'inboxes.default-domain': assumed('What is the default domain?', 'mailbox.test', {
      operations: ['createInbox'],
      fields: ['domain'],
      observableWith: 'not from outside: each service has a default domain of its own',
    }),
    'inboxes.create.username': byReference(
      'Which user names may an inbox have?',
      '1 to 64 lower-case letters, digits and . - _, starting with a letter or digit, with no dot at the end or ' +
        'next to another dot',
      { operations: ['createInbox'], fields: ['username'] },
    ),
    'inboxes.create.generated-name': byReference(
      'Which user name does an inbox get when the request has none?',
      'the name of the tenant in the form of a slug, cut to the maximum length, or agent if it has no ASCII letters or ' +
        'digits; then - and eight hexadecimal digits: acme-0f3a91c2',
      { operations: ['createInbox'], fields: ['username'] },
    ),
    'inboxes.create.workspace': assumed(
      'Which workspace does an inbox belong to if a tenant key names no workspace?',
      'the default workspace',
      { operations: ['createInbox'], fields: ['workspaceId'] },
    ),
    'inboxes.create.domain': assumed(
      'What is the reply to a domain that is neither the default domain nor verified for the workspace?',
      { invalid: '400', forbidden: '403' },
    ),
    'inboxes.create.existing': byReference(
      'What is the reply to creating an inbox whose address the tenant already has?',
      { returned: '200 with that inbox and existed: true, without credentials', conflict: '409' },
    ),
    'inboxes.create.taken': byReference(
      'What happens when another tenant has the address, or another inbox has a tagged form of the address?',
      'a number from 1 to 99 is added to the user name; the reply is 409 if all numbers are taken, or with strict=true',
      { operations: ['createInbox'], fields: ['username', 'strict'], observableWith: 'two tenants' },
    ),
    'inboxes.update.reply': byReference('What does updating an inbox return?', '{ updated: true, id }', {
      operations: ['updateInbox'],
    }),
    'inboxes.update.metadata': assumed('What does updating the metadata of an inbox change?', {
      replaced: 'the whole metadata is replaced',
      merged: 'each field of the request is set, and the other fields stay',
    }),
    'inboxes.delete.kept': byReference(
      'What remains of a deleted inbox?',
      'its messages, which no operation returns; its keys, drafts, lists and addresses are deleted, and the ' +
        'addresses can be used again',
      { operations: ['deleteInbox'] },
    ),
    'inboxes.delete.body': byReference('What does deleting an inbox return?', DELETED),
    'inboxes.addresses.create.domain': assumed(
      'What is the reply to adding an address whose domain is neither the default domain nor verified for the ' +
        'workspace?',
      { invalid: '400', forbidden: '403' },
    ),
    'inboxes.addresses.create.reply': byReference(
      'What does adding an address return?',
      '201 { ok: true, address, isPrimary }; 409 when an inbox already has the address, or another inbox has the ' +
        'address without its tag',
      { operations: ['addInboxAddress'], fields: ['email'] },
    ),
    'inboxes.addresses.delete.canonical': assumed(
      'What is the reply to removing the canonical address, which is not allowed?',
      { conflict: '409', invalid: '400' },
    ),
    'inboxes.addresses.delete.body': byReference('What does removing an address return?', {
      'deleted-and-address': '{ deleted: true, address }',
      empty: '{}',
    }),
    'inboxes.create.out-of-reach': assumed(
      'What happens when another workspace of the tenant, outside the scope of the key, has the address?',
      'the same as if another tenant had it',
      { operations: ['createInbox'], fields: ['username'] },
    ),
    'inboxes.create.again': assumed(
      'What does a second request to create an inbox with the same taken name return?',
      {
        'next-number': 'another inbox, with the next number',
        existing: '200 with the numbered inbox that the tenant already has, and existed: true',
      },
      { observableWith: 'two tenants' },
    ),
    'inboxes.addresses.delete.primary': byReference(
      'Which address becomes primary when the primary address is removed?',
      'the canonical address',
      { operations: ['deleteInboxAddress'] },
    ),
  },
);
