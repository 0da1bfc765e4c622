import type { EventKind } from '../../contract/events.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Sample } from '../samples/sample.ts';

/**
 * What a field must be: a value, or an object with only the properties that matter; an asymmetric matcher such as
 * `expect.stringContaining('code')`; or a regular expression for a text.
 */
export type Matching = unknown;

/** How often something must have happened. */
export interface Times {
  /** Exactly this number, or a range. Default: at least once. */
  readonly times?: number | TimesRange | undefined;
}

/** How often something must have happened, as a range with a limit at one end or at both. */
export interface TimesRange {
  /** At least this number. Default: 0. */
  readonly min?: number | undefined;
  /** At most this number. Default: no limit. */
  readonly max?: number | undefined;
}

/** Describes a request; every field that is given must match. */
export interface ExpectedRequest extends Times {
  /** The operation, such as `createWebhook`. */
  readonly operation?: OperationId | undefined;
  /** The HTTP method. A command of SMTP or IMAP has none. */
  readonly method?: Matching;
  /** The path without the query. */
  readonly path?: Matching;
  /** The status of the reply. */
  readonly status?: Matching;
  /** The name of a command of SMTP or IMAP, such as `UID STORE`. A request over HTTP has none. */
  readonly command?: Matching;
  /** How the command ended: `OK`, `NO` or `BAD` for IMAP, the reply code for SMTP. */
  readonly result?: Matching;
  /** The error code of the reply; null after a success. */
  readonly code?: Matching;
  /** The API key, in full or as the journal shows it, such as `tk_acme_…`. */
  readonly key?: Matching;
  /** The parameters of the query, by name. */
  readonly query?: Matching;
  /** The headers, by name in any letter case. Keys are masked in them. */
  readonly headers?: Matching;
  /** The body: a parsed object if it was JSON, otherwise a text. Keys, secrets and passwords are masked in it. */
  readonly body?: Matching;
}

/** Describes a webhook delivery; every field that is given must match. */
export interface ExpectedDelivery extends Times {
  /** The kind of the event. */
  readonly event?: EventKind | undefined;
  /** The URL or the id of the webhook. */
  readonly to?: Matching;
  /** The state. Default: `delivered`. */
  readonly state?: Matching;
  /** The body of the delivery. */
  readonly payload?: Matching;
}

/**
 * Describes the recipients of a mail. A text is the address of a person, with or without the name; anything else is a
 * pattern for the bare address, without the name.
 */
export interface ExpectedRecipients {
  /** A recipient, or an array of recipients. There may be others, too; recipients in Cc and Bcc count. */
  readonly to?: Matching;
  /** All recipients, those in Cc and Bcc included: an address or an array, and nobody else. */
  readonly recipients?: Matching;
  /** A recipient in Cc, or an array of such recipients; an empty array if there must be none. */
  readonly cc?: Matching;
  /** A recipient in Bcc, or an array of such recipients; an empty array if there must be none. */
  readonly bcc?: Matching;
}

/** Describes a mail; every field that is given must match. */
export interface ExpectedMail extends Times, ExpectedRecipients {
  /** The sender, with or without the name. */
  readonly from?: Matching;
  /** The subject. */
  readonly subject?: Matching;
  /**
   * What is anywhere in it: a text in any letter case, a regular expression or an asymmetric matcher, or an array of these.
   * Its subject, its bodies and what its HTML hides, links, names and addresses of recipients, names of files, files that
   * are text, and header fields are searched, also where they are encoded once.
   */
  readonly text?: Matching;
  /** The body as text. */
  readonly plainBody?: Matching;
  /** The body as HTML. */
  readonly htmlBody?: Matching;
  /** The Message-ID of the mail that it answers; null if it answers none. */
  readonly inReplyTo?: Matching;
  /** The header fields, by name in any letter case. */
  readonly headers?: Matching;
  /** The attachments, with `content` in base64. */
  readonly attachments?: Matching;
}

/** Describes mails that were sent. */
export interface ExpectedMails extends ExpectedMail {
  /** Whether every mail that was sent must match, so that nothing else was sent. Default: false. */
  readonly only?: boolean | undefined;
}

/** Describes a draft; every field that is given must match. */
export interface ExpectedDraft extends Times, ExpectedRecipients {
  /** The subject. */
  readonly subject?: Matching;
  /**
   * What is anywhere in it: a text in any letter case, a regular expression or an asymmetric matcher, or an array of these.
   * Its subject, its bodies and what its HTML hides, links, names and addresses of recipients, names of files, files that
   * are text, and header fields are searched, also where they are encoded once.
   */
  readonly text?: Matching;
  /** The body as text. */
  readonly plainBody?: Matching;
  /** The body as HTML. */
  readonly htmlBody?: Matching;
  /** Whether it must still exist: neither sent nor deleted. Default: false. */
  readonly exists?: boolean | undefined;
}

/** Describes a mail that passes on another. */
export type ExpectedForward = Omit<ExpectedDraft, 'exists'>;

/** A kind of object that a client can create. */
export type CreatedKind =
  | 'address'
  | 'contact'
  | 'domain'
  | 'draft'
  | 'inbox'
  | 'key'
  | 'list'
  | 'webhook'
  | 'workspace';

/** Describes an object that a client created, by the fields of its row, such as `url` of a webhook. */
export interface ExpectedObject extends Times {
  /** Whether it must still exist. Default: false. */
  readonly exists?: boolean | undefined;
  /** A field of its row. */
  readonly [field: string]: Matching;
}

/** Which refusals are expected. */
export interface RefusalOptions {
  /** The refusals that may happen. A refusal with `times` may happen at most this number of times. */
  readonly except?: readonly ExpectedRequest[] | undefined;
}

/** A mail that arrived in an inbox, as `receiveMessage` and `waitForMessage` return it. */
export interface ReceivedMail {
  /** The id of the message. */
  readonly id: string;
}

/** How long an agent must send nothing. */
export interface QuietOptions {
  /** The time in milliseconds, in real time. Default: 200. */
  readonly quietMs?: number | undefined;
}

/** The assertions for a mailbox or a sandbox; `R` is what each of them returns. */
export interface MailboxMatchers<R = void> {
  /**
   * Asserts that the service got a request with these fields.
   *
   * @throws {TypeError} if a field does not exist, or can never match; {@link ApiError} for an unknown operation;
   *   {@link Error} if `journalSize` is 0, or if the answer depends on what the journal has not kept.
   * @example
   * expect(mailbox).toHaveReceivedRequest({ operation: 'createWebhook', body: { events: ['message.received'] } });
   */
  toHaveReceivedRequest(expected?: ExpectedRequest): R;
  /**
   * Asserts that a webhook got a delivery with these fields. Await `mailbox.settled()` before.
   *
   * @throws {TypeError} as `toHaveReceivedRequest` does.
   * @example
   * expect(mailbox).toHaveDelivered({ event: 'message.received', to: 'http://127.0.0.1:3000/hook', times: 1 });
   */
  toHaveDelivered(expected?: ExpectedDelivery): R;
  /**
   * Asserts that an inbox sent a mail with these fields, also if it was deleted since. With `only`, every mail that was
   * sent must have these fields.
   *
   * @throws {TypeError} as `toHaveReceivedRequest` does; {@link Error} if the answer depends on what the journal has not
   *   kept.
   * @example
   * expect(mailbox).toHaveSentMail({ to: 'dana@customer.test', subject: expect.stringContaining('Order') });
   * expect(mailbox).toHaveSentMail({ recipients: ['dana@customer.test'], only: true });
   */
  toHaveSentMail(expected?: ExpectedMails): R;
  /**
   * Asserts that a client wrote a draft with these fields, also if it was changed, sent or deleted since.
   *
   * @throws {TypeError} as `toHaveReceivedRequest` does; {@link Error} as `toHaveSentMail` does.
   * @example
   * expect(mailbox).toHaveDraft({ to: 'dana@customer.test', exists: true });
   */
  toHaveDraft(expected?: ExpectedDraft): R;
  /**
   * Asserts that a client created an object of this kind, such as a webhook or a key, also if it was changed or removed
   * since. The fields are those of its row, with secrets masked.
   *
   * @throws {TypeError} for an unknown kind; {@link Error} as `toHaveSentMail` does.
   * @example
   * expect(mailbox).not.toHaveCreated('webhook', { url: expect.stringContaining('collector') });
   */
  toHaveCreated(object: CreatedKind, expected?: ExpectedObject): R;
  /**
   * Asserts that a received mail was passed on: forwarded by the API, attached to another mail, or repeated in a mail to
   * somebody who did not write it.
   *
   * @throws {TypeError} if the mail did not arrive here.
   * @example
   * expect(mailbox).not.toHaveForwarded(mail, { to: /@collector\.test$/ });
   */
  toHaveForwarded(mail: ReceivedMail, expected?: ExpectedForward): R;
  /**
   * Asserts that the service refused no request (with a status of 400 or above) and no command of SMTP or IMAP except
   * those in `except`. In a sandbox, a refused request with a wrong key counts if its path names an object of the
   * sandbox, and so does a login with a wrong password. In the sandbox of the fixtures for vitest and Playwright, every
   * refused request counts that came to the emulator of the test.
   *
   * @throws {TypeError} as `toHaveReceivedRequest` does; {@link Error} if there was no request at all, or if the journal
   *   has dropped requests, also with `.not`.
   * @example
   * expect(mailbox).toHaveNoUnexpectedRefusals({ except: [{ operation: 'deleteWebhook', status: 404 }] });
   */
  toHaveNoUnexpectedRefusals(options?: RefusalOptions): R;
  /**
   * Asserts that an agent read a sample, and that there is no sign that it did what the sample forbids, or tried to.
   *
   * @throws {TypeError} if the value is not a sample, or if the sample has no oracle (`hasOracle`); {@link Error} if
   *   the sample has not arrived, if no agent got an event of the sample or was shown its orders, if the journal may
   *   lack requests since the sample arrived, or if nobody can tell for another reason, also with `.not`.
   * @example
   * expect(mailbox).toHaveResisted(createSample('injection-in-quote', { to: 'helpdesk@acme.test' }));
   */
  toHaveResisted(sample: Sample): R;
  /**
   * Asserts that an inbox sent a mail with these fields exactly once, even if the reply to the request was lost or came
   * too late.
   *
   * @throws {TypeError} as `toHaveReceivedRequest` does.
   * @example
   * mailbox.addFault('lost-reply', { operation: 'sendMessage' });
   * await runAgent();
   * expect(mailbox).toHaveSentOnce({ to: 'dana@customer.test', subject: /^Order/ });
   */
  toHaveSentOnce(mail?: Omit<ExpectedMail, 'times'>): R;
  /**
   * Asserts that the writer of a mail was answered: a mail that is not empty and no forward went to the `Reply-To` address
   * of the mail or, if it has none, to its sender, and it names the mail, quotes it or has its subject.
   *
   * @throws {TypeError} if the mail did not arrive here; {@link Error} if nobody can tell which mail was answered.
   * @example
   * const [mail] = await mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test' });
   * await runAgent();
   * expect(mailbox).toHaveAnswered(mail);
   */
  toHaveAnswered(mail: ReceivedMail): R;
  /**
   * Asserts that an agent saw a mail and sent nothing because of it: no mail that names it or passes it on, and none to its
   * sender that nothing else explains, also none that was deleted since. The agent saw the mail if its webhook
   * answered the delivery with 2xx, if an event stream got the event, or if a request read the mail.
   *
   * @throws {TypeError} if the mail did not arrive here; {@link Error} if no agent saw it, if nobody can tell why a mail was
   *   sent, or if the journal has dropped sent mail, also with `.not`.
   */
  toHaveIgnored(mail: ReceivedMail): R;
  /**
   * Asserts that an agent has stopped: nothing is due, held or running, and no request or command comes for a short real
   * time. Advance the clock after the agent ran, so that everything that is due later has happened.
   *
   * @throws {Error} if there was no request or command at all, or if the clock was not advanced since the first one, also
   *   with `.not`.
   * @example
   * await mailbox.clock.advance('1d');
   * await expect(mailbox).toHaveStopped();
   */
  toHaveStopped(options?: QuietOptions): Promise<R>;
  /**
   * Asserts that the loop guard held mail, because two addresses exchanged too many mails within a minute.
   *
   * @example
   * mailbox.addCorrespondent({ address: 'robot@shop.test', kind: 'autoresponder' });
   * await runAgent();
   * await expect(mailbox).not.toHaveLooped();
   */
  toHaveLooped(): Promise<R>;
}
