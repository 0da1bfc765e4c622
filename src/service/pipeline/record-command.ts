import type { Principal } from './access/principal.ts';
import { createExchange, finishExchange, type Protocol, type Service } from './exchange.ts';

/** A command of SMTP or IMAP that the journal shows. */
export interface MailCommand {
  readonly protocol: Exclude<Protocol, 'http'>;
  /** Who is logged in; `undefined` for nobody. */
  readonly principal: Principal | undefined;
  /** The name of the command, such as `UID FETCH`. */
  readonly name: string;
  /** The folder, or the recipients. */
  readonly path: string;
  /** The command without passwords and without the bytes of a mail. */
  readonly text: string;
  /** An HTTP status that has the same meaning as the reply. */
  readonly status: number;
  readonly reply: string;
  /** The ids of the messages that it read or changed. */
  readonly messageIds: readonly string[];
}

/** Tells the observers of exchanges of a command. */
export function recordCommand({ behaviours, observers }: Service, command: MailCommand): void {
  const { protocol, principal, name: method, path, text, status, reply, messageIds } = command;
  const request = { method, path, query: new URLSearchParams(), headers: new Headers(), body: null };
  const exchange = createExchange(request, behaviours, protocol);
  exchange.principal = principal;
  exchange.received = new TextEncoder().encode(text);
  exchange.refusal = status < 400 ? undefined : reply;
  finishExchange(exchange, { status, headers: {}, body: [reply, ...messageIds].join('\n') }, observers);
}
