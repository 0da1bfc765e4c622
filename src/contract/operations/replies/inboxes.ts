import { z } from 'zod';
import type { ReadBehaviour } from '../../behaviours.ts';
import { defineReplies } from '../../operation.ts';
import { metadata, timestamp, uuid } from '../../schemas.ts';
import { deleteReplies, emptyReply, updatedReply } from './common.ts';

const login = () => ({ host: z.string(), port: z.int(), username: z.string(), password: z.string() });

const referenceInbox = () =>
  z.strictObject({
    id: uuid(),
    email: z.string().describe('The current primary address.'),
    canonicalEmail: z.string().describe('The first address, which never changes; it is the IMAP and SMTP login.'),
    username: z.string(),
    domain: z.string(),
    displayName: z.string().nullable(),
    workspaceId: uuid(),
    addresses: z.array(z.strictObject({ address: z.string(), isPrimary: z.boolean() })),
    createdAt: timestamp(),
  });

const credentials = () => ({
  imapPassword: z.string(),
  imap: z.strictObject({ ...login(), tls: z.boolean() }),
  smtp: z.strictObject({ ...login(), starttls: z.boolean() }),
});

const fieldsByShape = () => ({ 'with-metadata': { metadata: metadata().nullable() }, reference: {} });

/** The displayName under each value of `inboxes.display-name.unset`. */
const displayName = () => ({
  null: { displayName: z.string().nullable() },
  absent: { displayName: z.string().optional() },
});

/** An inbox without its credentials. */
const inboxWithoutCredentials = (readBehaviour: ReadBehaviour) =>
  referenceInbox()
    .extend(displayName()[readBehaviour('inboxes.display-name.unset')])
    .extend(fieldsByShape()[readBehaviour('inboxes.shape')]);

/** An inbox with its credentials (reference, "Inbox"). */
const inboxWithCredentials = (readBehaviour: ReadBehaviour) =>
  inboxWithoutCredentials(readBehaviour).extend(credentials());

const LISTED = { omitted: inboxWithoutCredentials, included: inboxWithCredentials };

const deleteAddressReplies = () => ({
  'deleted-and-address': z.strictObject({ deleted: z.literal(true), address: z.string() }),
  empty: emptyReply(),
});

/** The bodies of the successful replies of these operations. */
export const inboxReplies = defineReplies({
  createInbox: (readBehaviour) =>
    inboxWithCredentials(readBehaviour).extend({
      apiKey: z.string().describe('Its ak_ key; no other reply shows it.'),
    }),
  listInboxes: (readBehaviour) =>
    z.strictObject({ inboxes: z.array(LISTED[readBehaviour('inboxes.list.credentials')](readBehaviour)) }),
  getInbox: inboxWithCredentials,
  updateInbox: updatedReply,
  deleteInbox: (readBehaviour) => deleteReplies()[readBehaviour('inboxes.delete.body')],
  addInboxAddress: () => z.strictObject({ ok: z.literal(true), address: z.string(), isPrimary: z.boolean() }),
  deleteInboxAddress: (readBehaviour) => deleteAddressReplies()[readBehaviour('inboxes.addresses.delete.body')],
});

/** The bodies of the second kind of success. */
export const otherInboxReplies = defineReplies({
  createInbox: (readBehaviour) => inboxWithoutCredentials(readBehaviour).extend({ existed: z.literal(true) }),
});
