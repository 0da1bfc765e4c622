import type { Choices } from '../contract/behaviours.ts';
import type { IncomingMessage } from '../contract/incoming-message.ts';
import type { ReceivedMessage } from '../mail/take-in.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import type { MailboxClock } from './mailbox-clock.ts';
import type { Settled, SettledOptions } from './settled.ts';
import type { WebhookLab } from './webhook-lab.ts';

/** What the control plane needs of a mailbox. */
export interface Controlled extends WebhookLab {
  readonly behaviours: Choices;
  readonly clock: MailboxClock;
  receiveMessage(message: IncomingMessage): Promise<ReceivedMessage[]>;
  settled(options?: SettledOptions): Promise<Settled>;
  reset(): void;
  openApi(): OpenApiDocument;
}
