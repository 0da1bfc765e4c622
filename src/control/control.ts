import { z } from 'zod';
import { createSilentReader } from '../contract/behaviour-reader.ts';
import { parseBehaviours } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { Environment } from '../environment.ts';
import { toApiError, toErrorReply } from '../pipeline/error-reply.ts';
import { findRow } from '../pipeline/find-row.ts';
import { type AnyReply, type ApiRequest, type ApiResult, optionsReply, stripBodyForHead } from '../pipeline/http.ts';
import { parseBody, parseQuery } from '../pipeline/parse-input.ts';
import { MAX_BODY_BYTES, readBody } from '../pipeline/read-body.ts';
import { createRouter } from '../pipeline/router.ts';
import { CONTROL_PATH } from './control-path.ts';
import type { ControllableMailbox } from './controllable-mailbox.ts';
import type { ControlRow } from './row.ts';
import type { SandboxControls } from './sandbox.ts';
import { CONTROL_TABLE } from './table.ts';
import { writeReply } from './write-reply.ts';

/**
 * The control plane is not part of the emulated service, so changed behaviours do not affect it: it uses the default
 * values.
 */
const DEFAULT_READER = createSilentReader(parseBehaviours());

/** Creates the handler for requests to the control plane of a mailbox. The handler never rejects. */
export function createControl(
  mailbox: ControllableMailbox & SandboxControls,
  report: Environment['report'],
  table: readonly ControlRow[] = CONTROL_TABLE,
): (request: ApiRequest) => Promise<ApiResult> {
  const route = createRouter(table);
  const constantReplies = new Map<ControlRow, AnyReply>();

  async function runRow(row: ControlRow, params: Record<string, string>, request: ApiRequest): Promise<AnyReply> {
    const { query, body } = await parseInput(row, request);
    const known = constantReplies.get(row);
    if (known) return known;
    const { sandbox, ...rest } = query;
    const target = sandbox === undefined ? mailbox : mailbox.sandbox(String(sandbox));
    const input = { params, headers: request.headers, query: rest, body };
    const reply = writeReply(row, await row.run(target, input as never, mailbox));
    if (row.replyNeverChanges) constantReplies.set(row, reply);
    return reply;
  }

  async function handle(request: ApiRequest): Promise<ApiResult> {
    try {
      const found = findRow(route, withoutSlash(request), DEFAULT_READER);
      return {
        reply: 'allow' in found ? optionsReply(found.allow) : await runRow(found.row, found.params, request),
      };
    } catch (thrown) {
      const error = toApiError(thrown, report);
      return { reply: toErrorReply(error, DEFAULT_READER), error };
    }
  }

  return async (request) => {
    const { reply, error } = await handle(request);
    return { reply: stripBodyForHead(request.method, reply), error };
  };
}

/** Also accepts the path of the list of calls with a trailing slash. */
function withoutSlash({ method, path }: ApiRequest) {
  return { method, path: path === `${CONTROL_PATH}/` ? CONTROL_PATH : path };
}

const ANY_OBJECT = z.looseObject({});

async function parseInput({ query, body, bodyCheckedByMailbox, maxBodyBytes }: ControlRow, request: ApiRequest) {
  const resolve = (schema: z.ZodObject) => ({ schema, assumes: [], alternatives: [] });
  if (query) refuseUnknownParameters(query, request.query);
  const bodySchema = bodyCheckedByMailbox ? ANY_OBJECT : body;
  return {
    query: parseQuery(query && resolve(query), request.query, DEFAULT_READER),
    body:
      bodySchema &&
      parseBody(
        resolve(bodySchema),
        await readBodyOrRefuse(request, maxBodyBytes),
        contentTypeOf(request),
        DEFAULT_READER,
      ),
  };
}

/** Refuses unknown parameters, because a misspelt filter would select everything. */
function refuseUnknownParameters({ shape }: NonNullable<ControlRow['query']>, query: URLSearchParams): void {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(shape, name));
  if (unknown === undefined) return;
  const known = Object.keys(shape).join(', ');
  throw new ApiError(
    'VALIDATION_ERROR',
    `The query has the unknown parameter ${JSON.stringify(unknown.slice(0, 100))}; it takes ${known}.`,
  );
}

async function readBodyOrRefuse(request: ApiRequest, limitBytes = MAX_BODY_BYTES) {
  const received = await readBody(request, limitBytes);
  if (received !== 'too-large') return received;
  throw new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes / 1024 / 1024} MiB.`);
}

function contentTypeOf({ headers }: ApiRequest): string | null {
  return headers.get('content-type');
}
