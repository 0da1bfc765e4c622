import { z } from 'zod';
import type { ReadonlyDeep } from '../../basics/lazy-schema.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { HeaderReader } from '../../contract/header-fields.ts';
import type { Routable } from '../../service/pipeline/router.ts';
import type { BehaviourControls } from '../behaviour-controls.ts';
import type { ControllableMailbox, SandboxControls } from '../controllable-mailbox.ts';
import { CONTROL_PATH } from './control-path.ts';

/** The media types of replies. In an event stream, each item is sent as soon as it exists. */
export type ContentType =
  | 'application/json'
  | 'text/html'
  | 'text/x-python'
  | 'application/octet-stream'
  | 'text/event-stream';

type NoFields = z.ZodObject<Record<never, never>>;

/** The process that answers a control call. */
export interface OwnProcess {
  /**
   * The URL at which other machines call this process. Without it, a reply names the URL to which the call was sent.
   */
  readonly publicUrl?: string | undefined;
  /** Whether the process has begun to end. */
  isEnding?: boolean;
  /**
   * Reads the JSON Schema of scenarios, which only a server has. @throws {ApiError} NOT_FOUND if it was not built.
   */
  readonly readScenarioSchema?: (() => Promise<Readonly<Record<string, unknown>>>) | undefined;
}

/** What a control call gets: the parts of its request, and the process that answers. */
export interface ControlInput<Params = unknown, Query = unknown, Body = unknown> {
  /** As they stand in the path; the schema only describes them. */
  readonly params: Params;
  /** Checked by the schema. */
  readonly query: Query;
  /** A JSON object that is not checked yet: see `ControlDefinition.body`. */
  readonly body: Body;
  readonly headers: HeaderReader;
  /** Is aborted when the client disconnects. */
  readonly signal: AbortSignal | undefined;
  readonly process: Required<OwnProcess>;
}

/** The schemas of one control call, and what it does. */
export interface ControlDefinition<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Reply extends z.ZodType = z.ZodType,
  Content extends ContentType = ContentType,
> {
  /** One sentence that describes the call. */
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  /**
   * The schema of the body. Without a schema, the body is not read. `run` checks the body, mostly by a method of the
   * mailbox, so that its errors are the same as in code.
   */
  readonly body?: Body;
  /** Maximum size of the body. Default: 1 MiB. */
  readonly maxBodyBytes?: number;
  /** The schema of the reply body, or of each item of an event stream. */
  readonly reply: Reply;
  /** Default: JSON. */
  readonly content?: Content;
  /** The errors that are specific to this call. If a call can apply to a sandbox, NOT_FOUND is added. */
  readonly errors?: readonly ErrorCode[];
  /** False for a call that always applies to the whole mailbox. Otherwise `?sandbox=<id>` selects a sandbox. */
  readonly takesSandbox?: false;
  /** Whether the reply never changes as long as the mailbox exists, so that it can be cached. */
  readonly replyNeverChanges?: true;
  run(
    mailbox: ControllableMailbox,
    input: ControlInput<z.output<Params>, z.output<Query>, ReadonlyDeep<z.input<Body>>>,
    wholeMailbox: SandboxControls & BehaviourControls,
  ): ReplyOf<Reply, Content> | Promise<ReplyOf<Reply, Content>>;
}

/** One call of the control plane. */
export interface ControlRow extends ControlDefinition, Routable {
  /** The `operationId` in the OpenAPI document. */
  readonly id: string;
}

type ReplyOf<Reply extends z.ZodType, Content> = Content extends 'text/event-stream'
  ? AsyncIterable<ReadonlyDeep<z.output<Reply>>>
  : ReadonlyDeep<z.output<Reply>>;

/** Returns the definition of a control call, with types that follow from its schemas. */
export function defineControl<
  Reply extends z.ZodType,
  Params extends z.ZodObject = NoFields,
  Query extends z.ZodObject = NoFields,
  Body extends z.ZodType = z.ZodNever,
  Content extends ContentType = 'application/json',
>(
  summary: string,
  schemas: Omit<ControlDefinition<Params, Query, Body, Reply, Content>, 'summary' | 'run'>,
  run: ControlDefinition<Params, Query, Body, Reply, Content>['run'],
): ControlDefinition<Params, Query, Body, Reply, Content> {
  return { summary, ...schemas, run };
}

/** The schema of the id in the path of a call. */
export const idInPath = (noun: string) =>
  z.object({
    /** The id. */
    id: z.string().describe(`The id of a ${noun}.`),
  });

/** The schema of a file that a browser saves. A client gets its bytes, with its name in a header. */
export const fileReply = z
  .custom<{ readonly filename: string; readonly content: Uint8Array }>()
  .meta({ type: 'string', description: 'The bytes.' });

/** The schema of an object with any fields. */
export const object = z.record(z.string(), z.unknown());

const sandbox = z
  .guid('must be the id of a sandbox')
  .describe('The id of the sandbox to which the call applies. Default: the whole mailbox.')
  .optional();

/** Rows by id. The type of each is that of its definition, from which the types of clients follow. */
type Rows<Definitions> = {
  readonly [Id in keyof Definitions]: Definitions[Id] & Routable & { readonly id: Id };
};

/**
 * Creates the rows: joins the definitions with their routes, such as `GET /clock`, and adds the parameter `sandbox` to the
 * calls that can apply to a sandbox. The rows are in the order of the routes. Each route needs a definition, and each
 * definition needs a route.
 */
export function createRows<Id extends string, Definitions extends Readonly<Record<Id, ControlDefinition>>>(
  routes: Readonly<Record<Id, string>>,
  definitions: Definitions & Readonly<Record<Exclude<keyof Definitions, Id>, never>>,
): Rows<Definitions> {
  const ids = Object.keys(routes) as Id[];
  const rows = ids.map((id): [Id, ControlRow] => {
    const [method = '', path = ''] = routes[id].split(' ');
    const definition: ControlDefinition = definitions[id];
    const row = { ...definition, id, method, path: CONTROL_PATH + path };
    if (row.takesSandbox === false) return [id, row];
    const query = (row.query ?? z.strictObject({})).extend({ sandbox });
    return [id, { ...row, query, errors: [...(row.errors ?? []), 'NOT_FOUND'] }];
  });
  return Object.fromEntries(rows) as Rows<Definitions>;
}
