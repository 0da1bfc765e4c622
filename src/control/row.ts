import { z } from 'zod';
import type { ErrorCode } from '../contract/errors.ts';
import type { HeaderReader } from '../contract/header-reader.ts';
import type { ReadonlyDeep } from '../contract/input-of.ts';
import type { Routable } from '../pipeline/router.ts';
import type { ControllableMailbox } from './controllable-mailbox.ts';
import type { SandboxControls } from './sandbox.ts';

/** The media types of replies. In an event stream, each item is sent as soon as it exists. */
export type ContentType = 'application/json' | 'text/html' | 'application/octet-stream' | 'text/event-stream';

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
  /** Whether `?sandbox=<id>` selects the sandbox to which the call applies. */
  readonly takesSandbox?: true;
  /** Whether the reply never changes as long as the mailbox exists, so that it can be cached. */
  readonly replyNeverChanges?: true;
}

/** One call of the control plane. */
export interface ControlRow extends RowBase<z.ZodObject, z.ZodObject, z.ZodObject, z.ZodType, z.ZodType> {
  /** Default: JSON. */
  readonly content?: ContentType;
  run(mailbox: ControllableMailbox, input: ControlInput<never, never, never>, wholeMailbox: SandboxControls): unknown;
}

const sandbox = z
  .guid('must be the id of a sandbox')
  .describe('The id of the sandbox to which the call applies. Default: the whole mailbox.')
  .optional();

type NoFields = z.ZodObject<Record<never, never>>;

type ReplyOf<Reply extends z.ZodType, Content> = Content extends 'text/event-stream'
  ? AsyncIterable<ReadonlyDeep<z.input<Reply>>>
  : ReadonlyDeep<z.input<Reply>>;

/** Types a row of the control table by its schemas, and adds the parameter `sandbox` to its query. */
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
      wholeMailbox: SandboxControls,
    ): ReplyOf<Reply, Content> | Promise<ReplyOf<Reply, Content>>;
  },
): ControlRow {
  if (!row.takesSandbox) return row as ControlRow;
  const query = (row.query ?? z.strictObject({})).extend({ sandbox });
  return { ...row, query, errors: [...new Set<ErrorCode>([...(row.errors ?? []), 'NOT_FOUND'])] } as ControlRow;
}

type BodyOf<Body extends z.ZodType, BodyCheckedByMailbox extends z.ZodType> = [z.input<BodyCheckedByMailbox>] extends [
  never,
]
  ? z.output<Body>
  : ReadonlyDeep<z.input<BodyCheckedByMailbox>>;
