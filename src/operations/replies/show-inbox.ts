import type { BehaviourReader } from '../../contract/behaviour-reader.ts';
import { DEFAULT_DOMAIN } from '../../contract/emulator-domains.ts';
import { canonicalAddress, primaryAddress } from '../../store/inbox-address.ts';
import type { InboxRow } from '../../store/rows.ts';
import type { World } from '../../store/world.ts';

/** Returns an inbox as clients see it, without passwords. */
export function showInboxWithoutCredentials(
  world: World,
  inbox: InboxRow,
  { readBehaviour }: Pick<BehaviourReader, 'readBehaviour'>,
) {
  const { id, username, domain, displayName, workspaceId, metadata, createdAt } = inbox;
  const addresses = world.addresses.by('inboxId', id).map(({ address, isPrimary }) => ({ address, isPrimary }));
  return {
    id,
    email: primaryAddress(world, inbox),
    canonicalEmail: canonicalAddress(inbox),
    username,
    domain,
    ...(displayName === null ? UNSET[readBehaviour('inboxes.display-name.unset')] : { displayName }),
    workspaceId,
    addresses,
    ...EXTRA_FIELDS[readBehaviour('inboxes.shape')](metadata),
    createdAt,
  };
}

/** The field of an inbox without a display name. */
const UNSET = { null: { displayName: null }, absent: {} };

const EXTRA_FIELDS = { 'with-metadata': (metadata: InboxRow['metadata']) => ({ metadata }), reference: () => ({}) };

/** Returns an inbox as clients see it, with its IMAP and SMTP credentials. */
export function showInbox(world: World, inbox: InboxRow, reader: BehaviourReader) {
  reader.assume('inboxes.default-domain');
  const login = { username: canonicalAddress(inbox), password: inbox.imapPassword };
  return {
    ...showInboxWithoutCredentials(world, inbox, reader),
    imapPassword: inbox.imapPassword,
    imap: { host: `imap.${DEFAULT_DOMAIN}`, port: 993, tls: true, ...login },
    smtp: { host: `smtp.${DEFAULT_DOMAIN}`, port: 587, starttls: true, ...login },
  };
}
