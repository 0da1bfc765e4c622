import { type Choose, parseBehaviours } from '../contract/behaviours.ts';
import { ApiError } from '../contract/errors.ts';
import type { Environment } from '../environment.ts';
import { toErrorReply } from '../pipeline/error-reply.ts';
import { findRow } from '../pipeline/find-row.ts';
import { type ApiReply, type ApiRequest, bodyAsAsked, jsonReply, optionsReply } from '../pipeline/http.ts';
import { parseBody, parseQuery } from '../pipeline/parse-input.ts';
import { MAX_BODY_BYTES, readBody } from '../pipeline/read-body.ts';
import { createRouter } from '../pipeline/router.ts';
import type { Controlled } from './controlled.ts';
import type { ControlInput, ControlRow } from './row.ts';
import { CONTROL_TABLE } from './table.ts';

const route = createRouter(CONTROL_TABLE);

/** The control plane is ours, so how the service is to be read does not change it: it answers under the defaults. */
const CHOICES = parseBehaviours();
const choose: Choose = (id) => CHOICES[id];

/** Answers a request to the control plane. It never rejects. */
export async function answerControl(
  mailbox: Controlled,
  request: ApiRequest,
  report: Environment['report'],
): Promise<ApiReply> {
  return bodyAsAsked(request.method, await answerOrFail(mailbox, request, report));
}

async function answerOrFail(
  mailbox: Controlled,
  request: ApiRequest,
  report: Environment['report'],
): Promise<ApiReply> {
  try {
    const found = findRow(route, request, choose);
    if ('allow' in found) return optionsReply(found.allow);
    const input = { params: found.params, ...(await parseInput(found.row, request)) };
    return jsonReply(200, await found.row.run(mailbox, input as ControlInput<never, never>));
  } catch (error) {
    return toErrorReply(error, choose, report);
  }
}

async function parseInput({ query, body, maxBodyBytes }: ControlRow, request: ApiRequest) {
  const resolve = (schema: NonNullable<typeof query>) => ({ schema, fixedChoices: [], others: [] });
  if (query) refuseUnknown(query, request.query);
  return {
    query: parseQuery(query && resolve(query), request.query, choose),
    body: body && parseBody(resolve(body), await receive(request, maxBodyBytes), contentTypeOf(request), choose),
  };
}

/** A filter that is misspelt would let everything through. */
function refuseUnknown({ shape }: NonNullable<ControlRow['query']>, query: URLSearchParams): void {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(shape, name));
  if (unknown === undefined) return;
  const known = Object.keys(shape).join(', ');
  throw new ApiError(
    'VALIDATION_ERROR',
    `The query has ${JSON.stringify(unknown.slice(0, 100))}, which is not known here; it takes ${known}.`,
  );
}

async function receive(request: ApiRequest, limitBytes = MAX_BODY_BYTES) {
  const received = await readBody(request, limitBytes);
  if (received !== 'too-large') return received;
  throw new ApiError('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes / 1024 / 1024} MiB.`);
}

function contentTypeOf({ headers }: ApiRequest): string | null {
  return headers.get('content-type');
}
