import type { z } from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import type { ReadonlyDeep } from '../contract/input-of.ts';
import type { Routable } from '../pipeline/router.ts';
import type { MailboxFaults } from './mailbox-faults.ts';
import type { Mailbox } from './mailbox-interface.ts';
import type { WebhookLab } from './webhook-lab.ts';

/** What the control plane needs of a mailbox. */
export type Controlled = Pick<
  Mailbox,
  'behaviours' | 'clock' | 'receiveMessage' | 'settled' | 'reset' | 'openApi' | keyof WebhookLab | keyof MailboxFaults
>;

/** The media types of replies. An event stream is a reply that goes on: each item is sent when there is one. */
export type ContentType = 'application/json' | 'text/plain' | 'text/html' | 'text/event-stream';

/** What a control call was sent, parsed. */
interface ControlInput<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

interface RowBase<Params, Query, Body, UncheckedBody, Reply> extends Routable {
  /** The name of the call, as the `operationId` of the document. */
  readonly id: string;
  /** What the call does, in a sentence. */
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  /** The body; a call without one reads none. */
  readonly body?: Body;
  /** The body where the mailbox's own function checks it, to say what is wrong as it does in code. */
  readonly uncheckedBody?: UncheckedBody;
  /** The largest body that is read; 1 MiB if left out. */
  readonly maxBodyBytes?: number;
  /** The body of a reply, or each item of an event stream. */
  readonly reply: Reply;
  /** The errors of its own, besides those that any call of its kind can meet. */
  readonly errors?: readonly ErrorCode[];
  /** Says that a mailbox always answers the same, which is then made once. */
  readonly isFixed?: true;
}

/** One call of the control plane. */
export interface ControlRow extends RowBase<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType, z.ZodType> {
  /** JSON if left out. */
  readonly content?: ContentType;
  run(mailbox: Controlled, input: ControlInput<never, never, never>): unknown;
}

type NoFields = z.ZodObject<Record<never, never>>;

type ReplyOf<Reply extends z.ZodType, Content> = Content extends 'text/event-stream'
  ? AsyncIterable<ReadonlyDeep<z.input<Reply>>>
  : ReadonlyDeep<z.input<Reply>>;

/** Types a row of the control table by its schemas: what it is sent, and what it replies. */
export function defineControl<
  Reply extends z.ZodType,
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  Body extends z.ZodObject = NoFields,
  UncheckedBody extends z.ZodType = z.ZodNever,
  Content extends ContentType = 'application/json',
>(
  row: RowBase<Params, Query, Body, UncheckedBody, Reply> & {
    readonly content?: Content;
    run(
      mailbox: Controlled,
      input: ControlInput<z.output<Params>, z.output<Query>, BodyOf<Body, UncheckedBody>>,
    ): ReplyOf<Reply, Content> | Promise<ReplyOf<Reply, Content>>;
  },
): ControlRow {
  return row as ControlRow;
}

type BodyOf<Body extends z.ZodType, UncheckedBody extends z.ZodType> = [z.input<UncheckedBody>] extends [never]
  ? z.output<Body>
  : ReadonlyDeep<z.input<UncheckedBody>>;
