import type { MailboxInternals } from '../../../mailbox/mailbox.ts';
import { type ImapInbox, ImapInboxes } from '../../../service/imap/imap-inbox.ts';
import type { InboxPrincipal } from '../../../service/pipeline/access/principal.ts';
import type { ImapFault, ImapFaultKind } from '../../../world/imap-fault.ts';
import { canonicalAddress, type World } from '../../../world/store/world.ts';

/** What the sessions of a server share. */
export interface ImapContext extends Pick<MailboxInternals, 'service' | 'environment' | 'report'> {
  openInbox(principal: InboxPrincipal): ImapInbox;
  takeFault(kind: ImapFaultKind, principal: InboxPrincipal): ImapFault | undefined;
  /** Returns a number that no UIDVALIDITY had. */
  nextUidValidity(): number;
}

/** Creates what the sessions of a server share. */
export function createImapContext({ service, environment, report }: MailboxInternals): ImapContext {
  const { worlds, faults } = service;
  let lastValidity = 0;
  const nextUidValidity = () => {
    lastValidity = Math.max(lastValidity + 1, Math.floor(environment.now().getTime() / 1000));
    return lastValidity;
  };
  const inboxesOf = worlds.addPart('imap', (world: World) => new ImapInboxes(world, nextUidValidity()));
  return {
    ...{ service, environment, report, nextUidValidity },
    openInbox: ({ world, inboxId }) => inboxesOf(world).open(inboxId),
    takeFault(kind, { world, inboxId }) {
      const row = world.inboxes.get(inboxId);
      return faults.take({ on: 'imap', world, inbox: row && canonicalAddress(row), kinds: [kind] });
    },
  };
}
