import type { Choices } from '../contract/behaviours.ts';
import type { IncomingMessage } from '../contract/incoming-message.ts';
import type { OpenApiDocument } from '../contract/openapi.ts';
import type { ReceivedMessage } from '../mail/take-in.ts';
import type { MailboxClock } from './clock.ts';

/** What the control plane needs of a mailbox. */
export interface Controlled {
  readonly behaviours: Choices;
  readonly clock: MailboxClock;
  receiveMessage(message: IncomingMessage): Promise<ReceivedMessage[]>;
  reset(): void;
  openApi(): OpenApiDocument;
}
