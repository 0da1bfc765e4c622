import type { z } from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import type { HeaderReader } from '../contract/header-reader.ts';
import type { ReadonlyDeep } from '../contract/input-of.ts';
import type { Routable } from '../pipeline/router.ts';
import type { DeliveryControls } from './delivery-controls.ts';
import type { JournalControls } from './journal-controls.ts';
import type { KeyControls } from './key-controls.ts';
import type { MailboxFaults } from './mailbox-faults.ts';
import type { Mailbox } from './mailbox-interface.ts';
import type { MessageControls } from './message-controls.ts';

/** The part of a mailbox that the control plane uses. */
export type ControllableMailbox = Pick<
  Mailbox,
  | 'baseUrl'
  | 'behaviours'
  | 'clock'
  | 'receiveMessage'
  | 'settled'
  | 'reset'
  | 'openApi'
  | keyof DeliveryControls
  | keyof KeyControls
  | keyof MailboxFaults
  | keyof MessageControls
  | keyof JournalControls
>;

/** The media types of replies. In an event stream, each item is sent as soon as it exists. */
export type ContentType = 'application/json' | 'text/plain' | 'text/html' | 'text/event-stream';

/** The parsed input of a control call. */
interface ControlInput<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly headers: HeaderReader;
}

interface RowBase<Params, Query, Body, BodyCheckedByMailbox, Reply> extends Routable {
  /** The `operationId` in the OpenAPI document. */
  readonly id: string;
  /** One sentence that describes the call. */
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  /** The schema of the body; without one, the body is not read. */
  readonly body?: Body;
  /** The schema of a body that the mailbox itself validates, so that its errors are the same as in code. */
  readonly bodyCheckedByMailbox?: BodyCheckedByMailbox;
  /** Maximum size of the body. Default: 1 MiB. */
  readonly maxBodyBytes?: number;
  /** The schema of the reply body, or of each item of an event stream. */
  readonly reply: Reply;
  /** The errors that are specific to this call. */
  readonly errors?: readonly ErrorCode[];
  /** Whether the reply never changes as long as the mailbox exists, so that it can be cached. */
  readonly isConstantReply?: true;
}

/** One call of the control plane. */
export interface ControlRow extends RowBase<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType, z.ZodType> {
  /** Default: JSON. */
  readonly content?: ContentType;
  run(mailbox: ControllableMailbox, input: ControlInput<never, never, never>): unknown;
}

type NoFields = z.ZodObject<Record<never, never>>;

type ReplyOf<Reply extends z.ZodType, Content> = Content extends 'text/event-stream'
  ? AsyncIterable<ReadonlyDeep<z.input<Reply>>>
  : ReadonlyDeep<z.input<Reply>>;

/** Types a row of the control table by its schemas. */
export function defineControl<
  Reply extends z.ZodType,
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  Body extends z.ZodObject = NoFields,
  BodyCheckedByMailbox extends z.ZodType = z.ZodNever,
  Content extends ContentType = 'application/json',
>(
  row: RowBase<Params, Query, Body, BodyCheckedByMailbox, Reply> & {
    readonly content?: Content;
    run(
      mailbox: ControllableMailbox,
      input: ControlInput<z.output<Params>, z.output<Query>, BodyOf<Body, BodyCheckedByMailbox>>,
    ): ReplyOf<Reply, Content> | Promise<ReplyOf<Reply, Content>>;
  },
): ControlRow {
  return row as ControlRow;
}

type BodyOf<Body extends z.ZodType, BodyCheckedByMailbox extends z.ZodType> = [z.input<BodyCheckedByMailbox>] extends [
  never,
]
  ? z.output<Body>
  : ReadonlyDeep<z.input<BodyCheckedByMailbox>>;
