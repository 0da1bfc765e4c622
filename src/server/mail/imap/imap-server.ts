import type { MailboxInternals } from '../../../mailbox/mailbox.ts';
import { CLOSE_MS, type Listener } from '../../listener.ts';
import { createMailListener, type MailServerSettings } from '../mail-listener.ts';
import { ImapClient } from './imap-client.ts';
import { createImapContext } from './session.ts';

/** How many clients can be connected. */
const MAX_CLIENTS = 1_000;

/** Creates a server at which IMAP clients read and change the mail of inboxes. */
export function createImapServer(internals: MailboxInternals, settings: MailServerSettings): Listener {
  const context = createImapContext(internals);
  const clients = new Set<ImapClient>();
  const listener = createMailListener(settings.tls, (socket, isSecure) => {
    const client = new ImapClient(context, settings, socket, isSecure);
    clients.add(client);
    socket.once('close', () => clients.delete(client));
    client.greet(clients.size > MAX_CLIENTS ? 'There are too many connections' : undefined);
  });
  const close = () => {
    for (const client of clients) client.end('The server is closed', CLOSE_MS);
    return listener.close();
  };
  return { listen: listener.listen, close };
}
