import type { BehaviourReader } from '../../../contract/behaviours.ts';
import { DEFAULT_DOMAIN } from '../../../contract/email-address.ts';
import type { ReachableWorlds } from '../../../world/store/reachable-worlds.ts';
import type { InboxRow } from '../../../world/store/rows.ts';
import { canonicalAddress, primaryAddress, type World } from '../../../world/store/world.ts';

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

type ShownServers = ReachableWorlds['mailServers'];

const SHOWN_SERVERS = { listening: (servers: ShownServers) => servers, service: (): ShownServers => ({}) };

/** Returns an inbox as clients see it, with its IMAP and SMTP credentials. */
export function showInbox(
  world: World,
  inbox: InboxRow,
  reader: BehaviourReader & { readonly worlds: Pick<ReachableWorlds, 'mailServers'> },
) {
  reader.assume('inboxes.default-domain');
  const { imap, smtp } = SHOWN_SERVERS[reader.readBehaviour('inboxes.mail-servers')](reader.worlds.mailServers);
  const login = { username: canonicalAddress(inbox), password: inbox.imapPassword };
  return {
    ...showInboxWithoutCredentials(world, inbox, reader),
    imapPassword: inbox.imapPassword,
    imap: {
      host: imap?.host ?? `imap.${DEFAULT_DOMAIN}`,
      port: imap?.port ?? 993,
      tls: imap?.hasTls ?? true,
      ...login,
    },
    smtp: {
      ...{ host: smtp?.host ?? `smtp.${DEFAULT_DOMAIN}`, port: smtp?.port ?? 587 },
      ...{ starttls: smtp?.hasTls ?? true, ...login },
    },
  };
}
