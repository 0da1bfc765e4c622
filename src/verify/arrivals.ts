import type { Recording, RoleKey } from './recording.ts';
import { ALL } from './scene.ts';
import type { Reply } from './verify-session.ts';

/** An inbox of this run that sends or receives mail. */
export interface MailInbox {
  /** What is printed in place of its id. */
  readonly name: string;
  readonly id: string | undefined;
  readonly email: string;
  /** A key that may read the inbox. */
  readonly reader: RoleKey;
}

/** A received message, with what identifies it. */
export type Arrived = Reply['body'] & { readonly id: string; readonly threadId: string };

/** Waits for the mail of a run, and names the roles of what has arrived. */
export class Arrivals {
  readonly #recording: Recording;
  #count = 0;

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  /** Runs `send`, and returns the one message that each inbox has received since then; `undefined` if none has come. */
  async during<T>(
    inboxes: readonly MailInbox[],
    send: () => Promise<T | undefined>,
  ): Promise<{ readonly sent: T | undefined; readonly arrived: (Arrived | undefined)[] }> {
    const before = await Promise.all(inboxes.map((inbox) => this.#inboundOf(inbox)));
    const sent = await send();
    const arrived: (Arrived | undefined)[] = [];
    for (const [index, inbox] of inboxes.entries()) {
      const old = before[index] ?? [];
      const found = sent === undefined ? [] : await this.#waitFor(inbox, old.length + 1);
      const message = found.find(({ id }) => !old.some((each) => each.id === id));
      arrived.push(message);
      // A mail that is lost has a number too, so that the later ones have the same on each target.
      this.#count += 1;
      if (!message) continue;
      this.#recording.name(message.id, `received message ${this.#count} of ${inbox.name}`);
      this.#recording.describe(message.threadId, `the thread of received message ${this.#count} of ${inbox.name}`);
    }
    return { sent, arrived };
  }

  /**
   * The messages that an inbox has received, by one of two operations, so that a wrong reply of one does not look like a
   * lost mail. The requests are not compared, because a target may need more of them than another.
   */
  async #inboundOf({ id, reader }: MailInbox): Promise<Arrived[]> {
    if (id === undefined) return [];
    const found = new Map<string, Arrived>();
    for (const path of [`/v1/inboxes/${id}/messages?${ALL}`, `/v1/messages?inboxId=${id}&${ALL}`]) {
      const { body } = await this.#recording.session.get(path, { key: reader.text });
      const messages: Reply['body'][] = Array.isArray(body.messages) ? body.messages : [];
      for (const message of messages) {
        if (message?.direction === 'inbound' && typeof message.id === 'string' && !found.has(message.id)) {
          found.set(message.id, message);
        }
      }
    }
    return [...found.values()];
  }

  async #waitFor(inbox: MailInbox, count: number): Promise<Arrived[]> {
    const find = async () => {
      const found = await this.#inboundOf(inbox);
      return found.length >= count ? found : undefined;
    };
    return (await this.#recording.session.waitOnce('mail', `${count} mails`, find).catch(() => undefined)) ?? [];
  }
}
