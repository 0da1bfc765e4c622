import { MAX_ADDRESSES } from '../contract/addresses/email-address.ts';
import { MAX_MAIL_BYTES } from '../contract/mail-limits.ts';
import { MAX_BUFFERED_BYTES, MAX_FRAME_BYTES } from '../contract/stream-protocol.ts';
import { KEPT_RESPONSE_BYTES } from '../service/delivery/call-receiver.ts';
import { MAX_DELIVERIES } from '../service/delivery/delivery-log.ts';
import { MAX_COMPARED } from '../service/imap/search-limit.ts';
import { MAX_BODY_BYTES } from '../service/pipeline/parse-input.ts';
import { type Environment, MAX_RECORDS_BYTES, memoryForMail } from '../world/environment.ts';

/** A limit for the clients of a server, or for the receivers that it calls. */
export interface Limit {
  /** Who meets the limit. */
  readonly who: string;
  /** What is limited. */
  readonly of: string;
  readonly value: number;
  readonly unit:
    | 'ms'
    | 'bytes'
    | 'connections'
    | 'commands'
    | 'logins'
    | 'recipients'
    | 'fragments'
    | 'deliveries'
    | 'of the room';
  /** What would be lost without the limit. */
  readonly protects: string;
  /** What a client, or the delivery to a receiver, sees that meets the limit. */
  readonly seen: string;
}

const PLACES = 'the places for connections';
const MEMORY = 'the memory';
const OTHERS = 'the turns of other clients';

/**
 * The limits by which a server stays there for everybody, whatever single clients and receivers do. A limit that a room
 * below enforces has its number there. `src/server/README.md` shows this table.
 */
export const LIMITS = {
  share: {
    who: 'every client',
    of: 'what one client may keep in the room for requests, mails, commands and frames that are arriving, if others need it',
    value: 1 / 4,
    unit: 'of the room',
    protects: MEMORY,
    seen: 'its largest and oldest request or mail is refused with `STORAGE_FULL`, 452 or `NO [UNAVAILABLE]`',
  },
  undisturbed: {
    who: 'every client',
    of: 'the time in which a request or mail keeps its room, if its client has no more than its share',
    value: 10_000,
    unit: 'ms',
    protects: 'clients that send without a pause, and others from those that stop in the middle',
    seen: 'the same refusal, as soon as another client needs the room',
  },
  uncountedBody: {
    who: 'every client',
    of: 'the announced size of a request body up to which it takes no room',
    value: 16 * 1024,
    unit: 'bytes',
    protects: MEMORY,
    seen: 'nothing; a larger body is counted as it arrives',
  },
  stalled: {
    who: 'every client',
    of: 'the time in which a client must take some of the bytes that wait for it',
    value: 30_000,
    unit: 'ms',
    protects: MEMORY,
    seen: 'its connection is closed',
  },
  socket: {
    who: 'every client',
    of: 'what is written ahead for a client that does not read; the rest of a reply is produced when it has read that',
    value: 16 * 1024,
    unit: 'bytes',
    protects: MEMORY,
    seen: 'nothing; its reply comes as it reads',
  },
  turn: {
    who: 'every client',
    of: 'the time of long work in one turn of the event loop',
    value: 10,
    unit: 'ms',
    protects: OTHERS,
    seen: 'nothing; the work goes on in the next turn',
  },
  httpRequest: {
    who: 'HTTP',
    of: 'the time in which a request must arrive',
    value: 60_000,
    unit: 'ms',
    protects: PLACES,
    seen: '408 `REQUEST_TIMEOUT`, and its connection is closed',
  },
  httpIdle: {
    who: 'HTTP',
    of: 'the time between two requests of a connection',
    value: 60_000,
    unit: 'ms',
    protects: PLACES,
    seen: 'its connection is closed',
  },
  httpEnd: {
    who: 'HTTP',
    of: 'the time in which a client must end its side of a connection that the server has ended after its last reply',
    value: 2_000,
    unit: 'ms',
    protects: PLACES,
    seen: 'its connection is closed',
  },
  httpBody: {
    who: 'HTTP',
    of: 'the body of a request that is no mail',
    value: MAX_BODY_BYTES,
    unit: 'bytes',
    protects: MEMORY,
    seen: '413 `PAYLOAD_TOO_LARGE`',
  },
  mailConnections: {
    who: 'SMTP and IMAP',
    of: 'connections over SMTP, and as many over IMAP',
    value: 1_000,
    unit: 'connections',
    protects: PLACES,
    seen:
      'the oldest connection ends with 421 or `BYE` that has not logged in and sends no mail; if there is none, the ' +
      'oldest of an inbox that has more than a quarter of the places; otherwise the new one',
  },
  mailLogin: {
    who: 'SMTP and IMAP',
    of: 'the time to log in, or over SMTP to name a recipient',
    value: 60_000,
    unit: 'ms',
    protects: PLACES,
    seen: 'its connection ends with 421 or `BYE`',
  },
  wrongLogins: {
    who: 'SMTP and IMAP',
    of: 'wrong logins of a connection',
    value: 10,
    unit: 'logins',
    protects: 'passwords',
    seen: 'its connection ends with 421 or `BYE`',
  },
  arrival: {
    who: 'SMTP and IMAP',
    of: 'the time in which a mail over SMTP, from MAIL FROM on, or a command of IMAP must arrive',
    value: 5 * 60_000,
    unit: 'ms',
    protects: 'the room and the places for connections',
    seen: 'its connection ends with 421 or `BYE`',
  },
  pace: {
    who: 'SMTP and IMAP',
    of: 'what must arrive, in each interval, of a mail over SMTP, or of a command of IMAP that takes room',
    value: 16 * 1024,
    unit: 'bytes',
    protects: 'the room for what is arriving',
    seen: 'its connection ends with 421 or `BYE`',
  },
  paceInterval: {
    who: 'SMTP and IMAP',
    of: 'the interval in which this must arrive',
    value: 30_000,
    unit: 'ms',
    protects: 'the room for what is arriving',
    seen: 'its connection ends with 421 or `BYE`',
  },
  mailBytes: {
    who: 'SMTP and IMAP',
    of: 'a mail over SMTP or by APPEND',
    value: MAX_MAIL_BYTES,
    unit: 'bytes',
    protects: MEMORY,
    seen: '552, or `NO [TOOBIG]`',
  },
  smtpIdle: {
    who: 'SMTP',
    of: 'the silence of a client over SMTP',
    value: 30_000,
    unit: 'ms',
    protects: PLACES,
    seen: 'its connection ends with 421',
  },
  smtpUnhurried: {
    who: 'SMTP',
    of: 'the time from DATA on in which a mail may arrive at any pace, because a person may type it',
    value: 60_000,
    unit: 'ms',
    protects: 'the room for what is arriving',
    seen: 'nothing; the pace counts from then on',
  },
  smtpRecipients: {
    who: 'SMTP',
    of: 'the recipients of a mail',
    value: MAX_ADDRESSES,
    unit: 'recipients',
    protects: MEMORY,
    seen: '452 for each further recipient',
  },
  imapIdle: {
    who: 'IMAP',
    of: 'the silence of a client over IMAP after its login (RFC 3501, section 5.4)',
    value: 30 * 60_000,
    unit: 'ms',
    protects: PLACES,
    seen: 'its connection ends with `BYE`',
  },
  imapGrace: {
    who: 'IMAP',
    of: 'the time in which a client must take the last reply of a session',
    value: 30_000,
    unit: 'ms',
    protects: PLACES,
    seen: 'its connection is closed',
  },
  imapCommand: {
    who: 'IMAP',
    of: 'a command without its literals, and all literals of a command that stores no mail',
    value: 64 * 1024,
    unit: 'bytes',
    protects: MEMORY,
    seen: '`BAD`',
  },
  imapSmallCommand: {
    who: 'IMAP',
    of: 'the same before the login, except for ID; a command up to this size takes no room and may arrive at any pace',
    value: 8 * 1024,
    unit: 'bytes',
    protects: MEMORY,
    seen: '`BAD`',
  },
  imapWrongCommands: {
    who: 'IMAP',
    of: 'wrong commands before the login',
    value: 20,
    unit: 'commands',
    protects: PLACES,
    seen: 'its connection ends with `BYE`',
  },
  imapSearch: {
    who: 'IMAP',
    of: 'what one SEARCH compares: the texts that it reads, multiplied by the number of different keys that look for something in them',
    value: MAX_COMPARED,
    unit: 'bytes',
    protects: OTHERS,
    seen: '`NO [LIMIT]`',
  },
  streamFrame: {
    who: 'event streams',
    of: 'a frame of a client',
    value: MAX_FRAME_BYTES,
    unit: 'bytes',
    protects: MEMORY,
    seen: 'the stream is closed with 1009',
  },
  streamFragments: {
    who: 'event streams',
    of: 'the fragments of a frame',
    value: 16,
    unit: 'fragments',
    protects: MEMORY,
    seen: 'the stream is closed with 1008',
  },
  streamBuffer: {
    who: 'event streams',
    of: 'the events that wait for a client, which cannot be produced later',
    value: MAX_BUFFERED_BYTES,
    unit: 'bytes',
    protects: MEMORY,
    seen: 'the stream is closed with 4429',
  },
  receiverConnect: {
    who: 'receivers of webhooks',
    of: 'the time in which a receiver must accept a connection',
    value: 10_000,
    unit: 'ms',
    protects: 'the deliveries behind this one',
    seen: 'the attempt fails',
  },
  receiverResponse: {
    who: 'receivers of webhooks',
    of: 'what a receiver may send for one response, with interim responses, heads and the framing of chunks',
    value: 256 * 1024,
    unit: 'bytes',
    protects: MEMORY,
    seen: 'the attempt fails',
  },
  receiverBody: {
    who: 'receivers of webhooks',
    of: 'the body of a response that is read and kept',
    value: KEPT_RESPONSE_BYTES,
    unit: 'bytes',
    protects: MEMORY,
    seen: 'nothing; the rest is not read',
  },
  deliveryLog: {
    who: 'receivers of webhooks',
    of: 'the deliveries that the log of a tenant keeps',
    value: MAX_DELIVERIES,
    unit: 'deliveries',
    protects: MEMORY,
    seen: 'the delivery that ended first is forgotten; if none has ended, the oldest that waits for a further attempt is `dropped`',
  },
  records: {
    who: 'every client',
    of: 'what is kept of what has happened: the log of deliveries of each tenant (in characters); and in the journal of all tenants, the mails and changes, and the requests and attempts',
    value: MAX_RECORDS_BYTES,
    unit: 'bytes',
    protects: MEMORY,
    seen: 'the oldest are no longer kept, which `losses` and `dropped` count; first the journal drops the raw bytes of old mails',
  },
} as const satisfies Readonly<Record<string, Limit>>;

/**
 * Returns the room for what is arriving from all clients together, and the same for what waits until they read it, in
 * bytes: half of the memory for mail, but at least the size of one mail in base64.
 */
export function memoryForClients(environment: Pick<Environment, 'memory'>): number {
  return Math.max(memoryForMail(environment) / 2, 2 * MAX_MAIL_BYTES);
}
