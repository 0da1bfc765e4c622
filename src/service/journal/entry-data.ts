import type { BehaviourValues, ChangeableId } from '../../contract/behaviours.ts';
import type { ApiError } from '../../contract/errors.ts';
import type { EventKind } from '../../contract/events.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import type { OperationId, OperationRow } from '../../contract/operations.ts';
import type { Tier } from '../../contract/tiers.ts';
import type { RequestFault } from '../../world/fault.ts';
import type { FaultChange } from '../../world/faults.ts';
import type { AttachmentRow, MessageRow } from '../../world/store/rows.ts';

/** What a delivery report says about a mail that bounced. */
export interface BounceDetails {
  /** The bare addresses of the recipients that did not get the mail, separated by commas. */
  readonly recipient: string;
  /** The status code (RFC 3463) of each recipient, such as `5.1.1`, separated by commas, in the same order. */
  readonly statusCode: string;
}

/** Where a sent mail goes for one of its recipients: to an inbox here, to a correspondent, nowhere, or back. */
export interface RecipientRoute {
  /** The bare address. */
  readonly recipient: string;
  /** Where the mail goes. */
  readonly route: 'inbox' | 'correspondent' | 'bounced' | 'external';
}

/**
 * What caused a mail: a request of the API that sends it at once, a draft, a program that submits it over SMTP,
 * somebody outside who sends it over SMTP, a correspondent, a command of IMAP, the emulator itself (a delivery report),
 * a test, or the fixture.
 */
export type MailSource =
  | 'request'
  | 'draft'
  | 'submission'
  | 'smtp'
  | 'correspondent'
  | 'imap'
  | 'emulator'
  | 'test'
  | 'fixture';

/** An event about a mail, such as its arrival, with the mail as it was at that moment. */
export interface MailEvent {
  /** `evt_` and a UUID. */
  readonly id: string;
  /** The kind of the event. */
  readonly event: EventKind;
  /** The id of the workspace of the inbox. */
  readonly workspaceId: string;
  /** The id of the inbox. */
  readonly inboxId: string;
  /** The canonical address of the inbox; an empty text if there is no such inbox. */
  readonly inbox: string;
  /** The message at the time of the event. Its bytes are null after the journal has removed them to free memory. */
  readonly message: MessageRow;
  /** The files of the message. */
  readonly attachments: readonly AttachmentRow[];
  /** What caused the mail. */
  readonly source: MailSource;
  /** Only for a sent mail: where it goes for each recipient. */
  readonly routes?: readonly RecipientRoute[];
  /** Only for a sent mail that forwards another: the Message-ID of that mail. */
  readonly forwardOf?: string;
  /** Only for a bounce with a report in the inbox. */
  readonly bounce?: BounceDetails;
  /** Only for an event that a test triggers: fields that replace fields of the payload. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  /** Only for an event that a test triggers: deliver only to this webhook. */
  readonly webhookId?: string;
  /** Whether the journal has removed the bytes of the mail to free memory. */
  readonly lacksBytes?: true;
}

/**
 * What a client can be shown of a mail:
 * - `headers`: its subject and its addresses;
 * - `snippet`: a piece of its text;
 * - `plainBody` and `htmlBody`: this body, whole;
 * - `fileNames`: the names of its files;
 * - `attachment`: the bytes of a file;
 * - `raw`: the whole mail as it was sent (RFC 5322).
 */
export const SHOWN_PARTS = ['headers', 'snippet', 'plainBody', 'htmlBody', 'fileNames', 'attachment', 'raw'] as const;

/** A part in `SHOWN_PARTS`. */
export type ShownPart = (typeof SHOWN_PARTS)[number];

/** Some mails, and what one reply shows of each of them. */
export interface ShownMails {
  /** What the reply shows; empty if the request only names the mails. */
  readonly parts: readonly ShownPart[];
  readonly messageIds: Iterable<string>;
  /** Only with `attachment`: the ids of the files whose bytes the reply shows. */
  readonly attachmentIds?: readonly string[];
}

/** What a request is in the words of HTTP. */
export interface HttpPart {
  /** Always `http`. */
  readonly protocol: 'http';
  /** The HTTP method. */
  readonly method: string;
  /** The status of the reply; 0 if a fault cut the connection. */
  readonly status: number;
  /** Only a command has a name. */
  readonly command?: never;
  /** Only a command has a result; a request has a status. */
  readonly result?: never;
}

/** What a command is in the words of IMAP. */
export interface ImapPart {
  /** Always `imap`. */
  readonly protocol: 'imap';
  /** The name of the command, such as `UID FETCH`. */
  readonly command: string;
  /** How the command ended (RFC 3501, section 7.1). */
  readonly result: 'OK' | 'NO' | 'BAD';
  /** Only a request over HTTP has a method. */
  readonly method?: never;
  /** Only a request over HTTP has a status. */
  readonly status?: never;
}

/** What a command is in the words of SMTP. */
export interface SmtpPart {
  /** Always `smtp`. */
  readonly protocol: 'smtp';
  /** The name of the command, such as `RCPT TO`. */
  readonly command: string;
  /** The reply code (RFC 5321, section 4.2), such as 250. */
  readonly result: number;
  /** Only a request over HTTP has a method. */
  readonly method?: never;
  /** Only a request over HTTP has a status. */
  readonly status?: never;
}

/** What a request or a command was, and how it ended, in the words of its protocol. */
export type ProtocolPart = HttpPart | ImapPart | SmtpPart;

/** What the journal keeps of the body of a request. */
export type KeptBody = {
  /** The start of the body; undefined if it is empty or was not received. */
  readonly start: Uint8Array | undefined;
  /** The size of the whole body; null if it is unknown. */
  readonly bytes: number | null;
};

/** The caller that a key identifies. */
export interface KeptPrincipal {
  readonly tier: Tier;
  readonly tenantId: string | null;
  readonly workspaceId: string | null;
  readonly inboxId: string | null;
}

/** A finished request, or a command of SMTP or IMAP. It is formatted and masked only when it is read. */
export interface KeptRequest {
  /** Its position among the requests of all tenants since the last reset of the mailbox. */
  readonly number: number;
  /** Its position among the requests of its own tenant since the last reset of this tenant. */
  readonly numberInSandbox: number;
  readonly call: ProtocolPart;
  /** How a request came, if not directly over HTTP: by a tool of the Model Context Protocol. */
  readonly via: 'mcp' | undefined;
  /** The path without the query. For a command: the folder, the recipients, or the user of a login. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Pick<HeaderReader, 'get' | 'forEach'>;
  /** The row of the requested operation; undefined for a command, and if the service has no such operation. */
  readonly row: OperationRow | undefined;
  /** The error of a refused request; undefined after a success, and for a command. */
  readonly error: ApiError | undefined;
  /** The names of unknown fields and query parameters in the request, each with the known names that are similar. */
  readonly ignored: readonly string[];
  /** The behaviours that were read for the reply. */
  readonly behavioursRead: ReadonlySet<ChangeableId>;
  /** The values of behaviours at the time of the request. */
  readonly behaviours: BehaviourValues;
  /** The faults that shaped the reply. */
  readonly faults: readonly RequestFault[];
  /** How long it took, in milliseconds of real time. */
  readonly durationMs: number;
  /** When it was finished, by the clock of its tenant. */
  readonly atMs: number;
  /** When it was finished, in real time. */
  readonly realTimeMs: number;
  /** The key that was sent, valid or not: in a header, or in the query of a request for a stream. */
  readonly key: string | undefined;
  /** The id of this key; null without a valid key. */
  readonly keyId: string | null;
  /** The caller; null if nobody was identified. */
  readonly principal: KeptPrincipal | null;
  /**
   * Why the request was refused, with details that the reply omits. The reason is determined at once, because it
   * depends on the data at the time of the request.
   */
  readonly reason: string | null;
  readonly requestBody: KeptBody;
  /** The headers and the body of the reply; a large body is truncated. A command has no headers. */
  readonly reply: {
    readonly headers: Record<string, string>;
    readonly body: string | Uint8Array<ArrayBuffer> | null;
  };
  /** The size of the whole body of the reply, if the body is truncated. */
  readonly replyBytes: number | undefined;
  /** The ids of the messages that the request has sent or received, or that have bounced because of it. */
  readonly messages: readonly string[];
  /** The ids of the deliveries that it has caused. */
  readonly deliveries: readonly string[];
  /** The ids of the messages that a command of IMAP has read or changed. */
  readonly read: readonly string[];
}

/** The fields of all entries about a delivery: the delivery and its current state. */
export interface DeliveryActivity {
  /** The id of the delivery. */
  readonly deliveryId: string;
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The id of the webhook. */
  readonly webhookId: string;
  /**
   * The URL of the webhook or, for an attempt, the URL that was called, without login and query. Null if the webhook
   * was deleted.
   */
  readonly url: string | null;
  /** The kind of the event that is delivered. */
  readonly event: EventKind;
  /** The state of the delivery. */
  readonly state: string;
  /** Why the delivery is held or has ended without success, in a sentence; otherwise null. */
  readonly reason: string | null;
}

/** An attempt to send a delivery, even if it was refused. */
export interface AttemptActivity extends DeliveryActivity {
  /** The number of the attempt; the first attempt of a delivery is 1. */
  readonly attempt: number;
  /** The HTTP status of the response; null if there was no response. */
  readonly status: number | null;
  /** Why the attempt failed, in a sentence; null if it succeeded. */
  readonly error: string | null;
  /** How long the attempt took, in milliseconds of real time. */
  readonly durationMs: number;
  /** The time until the next attempt, by the tenant's clock; null if this was the last attempt. */
  readonly retryInMs: number | null;
  /** The id of the fault that applied to the attempt; null if none did. */
  readonly faultId: string | null;
}

/** The event that a delivery delivers. */
export interface DeliveredEvent {
  /** The id of the event. */
  readonly eventId: string;
  /** The id of the message that the event is about. */
  readonly messageId: string;
}

/** What an event that was sent shows of its mail. */
export interface EventContent {
  /** The parts of the mail that the payload or the frame contains. */
  readonly parts: readonly ShownPart[];
}

/** What the receiver of an attempt answered, and what was sent to it. */
export interface AttemptExchange {
  /** The `webhook-timestamp` that was sent. */
  readonly sentTimestamp: string;
  /** The headers of the response, by lower-case name; empty if there was no response. */
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The body of the response, at most its first 16 KiB. */
  readonly responseBody: string;
  /**
   * The stack of the error that a receiver in the same process threw, with the name and the message of the error; null
   * if it threw none. An error thrown by an msw handler counts.
   */
  readonly thrown: string | null;
}

/** A mail that did not arrive, because its sender and its recipient exchange too many mails. */
export interface HeldMailActivity {
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The bare address of the sender. */
  readonly from: string;
  /** The bare address of the recipient. */
  readonly to: string;
  /** The subject of the mail. */
  readonly subject: string;
  /** Why the mail is held, in a sentence. */
  readonly reason: string;
}

/** A stream that was opened or closed. */
export interface StreamActivity {
  /** The id of the tenant. */
  readonly tenantId: string;
  /** The tier of the key that opened the stream. */
  readonly tier: Tier;
  /** The key that opened the stream; masked when it is shown. */
  readonly key: string;
}

/** The kinds of object that a client can create, change or remove, in the words of the service. */
export const CHANGED_KINDS = [
  'address',
  'contact',
  'domain',
  'draft',
  'inbox',
  'key',
  'list',
  'message',
  'tenant',
  'webhook',
  'workspace',
] as const;

/** A kind of object that a client can create, change or remove. */
export type ChangedKind = (typeof CHANGED_KINDS)[number];

/** What a client created, changed or removed. */
export interface Change {
  /** What happened to the object. */
  readonly action: 'created' | 'changed' | 'removed';
  /** What kind of object it is. */
  readonly object: ChangedKind;
  /** The id of the object. */
  readonly id: string;
  /** The id of the inbox that the object belongs to, if it belongs to one. */
  readonly inboxId: string | null;
  /** The operation, such as `createWebhook`, or the command of IMAP. */
  readonly by: string;
  /** The row after the change; for a removed object, the row before it. Undefined if the row is not known. */
  readonly row: object | undefined;
}

/** A change of the time by a test. */
export interface ClockChange {
  /** What the test did. */
  readonly action: 'freeze' | 'resume' | 'advance';
  /** The id of the tenant; null for all tenants. */
  readonly tenantId: string | null;
  /** The time after the change: ISO 8601 UTC. */
  readonly now: string;
}

/** A change that a test made, except changes of the time and of the faults. */
export interface TestChange {
  /**
   * What the test did. A key and behaviours are `replaced`; the journal is `cleared` or `restored`. When a sandbox
   * expires, the action is also `removed`.
   */
  readonly action: 'added' | 'removed' | 'replaced' | 'cleared' | 'restored';
  /** For mail, the id of its tenant. Otherwise, the id of the sandbox, or null for the whole mailbox. */
  readonly tenantId: string | null;
  /** The name of the sandbox or the checkpoint; null if it has none. */
  readonly name: string | null;
}

/**
 * A refused request, for those whose key it did not have: for the sandbox that it names, for the sandboxes that are told
 * of every refusal, or for the mailbox if nothing shows whose it was.
 */
export type Refusal = ProtocolPart & {
  /** The operation; null for an unknown path, and for a command of SMTP or IMAP. */
  readonly operation: OperationId | null;
  /** The path without the query; for a command, what it is about. */
  readonly path: string;
  /** Why it was refused, as the client was told. */
  readonly reason: string;
};

/** An event that was sent to streams. */
export interface SentFrame extends DeliveredEvent, EventContent {
  /** How many streams got it. */
  readonly streams: number;
}

/** A mail that reached a correspondent. */
export interface CorrespondentMail {
  /** The bare address of the correspondent. */
  readonly address: string;
  /** The `Message-ID` of the mail, with its angle brackets. */
  readonly messageIdHeader: string;
  /** Whether the correspondent answers this mail. */
  readonly willAnswer: boolean;
}

/** A sample that a test delivered. */
export interface SampleDelivery {
  /** Its name. */
  readonly name: string;
  /** The ids of the messages that its mails created. */
  readonly messageIds: readonly string[];
}

/** Mail that a test removed for good. */
export interface RemovedMail extends TestChange {
  /** The ids of the messages. */
  readonly messageIds: readonly string[];
}

/** That an agent said that it is done. */
export interface AgentDone {
  /** The id of the tenant or the sandbox of the agent; null for the whole mailbox. */
  readonly tenantId: string | null;
}

/** A reset, or a restore of a checkpoint. */
export interface Reset {
  /** The id of the sandbox; null for the whole mailbox. */
  readonly tenantId: string | null;
}

/** The data of the entries that are shown as they are, by their kind. */
export interface PlainEntryData {
  /** A mail that was held because of a loop. */
  'mail-held': HeldMailActivity;
  /** See `Refusal`. */
  refusal: Refusal;
  /** What a client created, changed or removed. */
  change: Change;
  /** A new delivery, before its first attempt. */
  'delivery-created': DeliveryActivity & DeliveredEvent;
  /** A delivery that was held, or that a person sends again: its next attempt comes as soon as its queue allows it. */
  'delivery-released': DeliveryActivity & DeliveredEvent;
  /** An attempt to send a delivery, with the response or the error. */
  attempt: AttemptActivity & DeliveredEvent & EventContent & AttemptExchange;
  /** A delivery that has ended, but not by an attempt: for example, its webhook was deleted. */
  'delivery-ended': DeliveryActivity & DeliveredEvent;
  /** A client opened an event stream. */
  'stream-opened': StreamActivity;
  /** An event stream has ended. */
  'stream-closed': StreamActivity;
  /** An event that was sent to streams. */
  frame: SentFrame;
  /** An agent said, by `POST /trial/done`, that it is done with everything that it knows of. */
  'agent-done': AgentDone;
  /** A mail that reached a correspondent. */
  correspondent: CorrespondentMail;
  /** A sample that a test delivered. */
  sample: SampleDelivery;
  /** A fault that a test added or removed, or that has happened. */
  fault: FaultChange;
  /** A change of the time by a test. */
  clock: ClockChange;
  /** A sandbox that a test added, or that was closed. */
  sandbox: TestChange;
  /** A checkpoint that a test added or removed. */
  checkpoint: TestChange;
  /** A key that a test replaced. */
  key: TestChange;
  /** The list of requests that a test cleared or restored. */
  journal: TestChange;
  /** Mail that a test removed. */
  messages: RemovedMail;
  /** Behaviours that a test changed. */
  behaviours: TestChange;
  /** A reset, or a restore of a checkpoint. It begins an epoch. */
  reset: Reset;
}

/**
 * A request or command that named some mails, or whose reply showed parts of them. Later ones that show no further part
 * have no such entry.
 */
export interface FirstRead {
  /** The numbers of the request, as those of `KeptRequest`. */
  readonly number: number;
  readonly numberInSandbox: number;
  readonly call: ProtocolPart;
  readonly path: string;
  /** What the reply showed of each mail; empty if the request only named the mails. */
  readonly parts: readonly ShownPart[];
  readonly messageIds: readonly string[];
  /** The ids of the files whose bytes the reply showed. */
  readonly attachmentIds: readonly string[];
}

/** The data of an entry, by its kind. */
export interface EntryData extends PlainEntryData {
  /** A mail that was there when the epoch began, such as a mail of the fixture. It is read from the rows of that time. */
  'mail-at-start': MailEvent;
  /** A mail that arrived in an inbox. */
  'mail-received': MailEvent;
  /** A mail that an inbox sent. */
  'mail-sent': MailEvent;
  /** A mail of an inbox that bounced. */
  'mail-bounced': MailEvent;
  /** An event that a test triggered. There may be no such mail. */
  'mail-triggered': MailEvent;
  /** A request of the API. */
  request: KeptRequest;
  /** A command of SMTP or IMAP. */
  'mail-command': KeptRequest;
  /** A request or a command that was to change something and that the service or a fault refused, once more. */
  'refused-request': KeptRequest;
  /** The first request or command that named some mails, or whose reply showed a part of them. */
  read: FirstRead;
  /** A failure of the emulator itself. */
  failure: { readonly error: unknown };
}
