import type { Mailbox } from 'agent-mailbox-mock';
import type { ReadBehaviour } from '../../src/contract/behaviours.ts';
import { buildOnce } from '../../src/contract/build-once.ts';
import { ERRORS, type ErrorCode } from '../../src/contract/errors.ts';
import { errorsOf } from '../../src/contract/openapi/create-openapi.ts';
import type { OperationDefinition } from '../../src/contract/operation.ts';
import type { OperationId } from '../../src/contract/operations.ts';
import { OPERATION_ROWS } from '../../src/contract/operations.ts';
import { errorBody } from '../../src/contract/schemas.ts';
import { createRouter, splitPath } from '../../src/service/pipeline/router.ts';
import type { Reply } from './send.ts';

const route = createRouter(OPERATION_ROWS);

type Behaviours = Pick<Mailbox, 'behaviours'>;

type DefinitionWithId = OperationDefinition & { readonly id: OperationId };

/** A reply as far as it is checked; that of a raw connection has no bytes. */
type CheckedReply = Pick<Reply, 'status' | 'headers' | 'text' | 'json'> & Partial<Pick<Reply, 'bytes'>>;

/**
 * Throws unless a reply matches the contract: a success in its operation's schema, or a well-formed error.
 * Returns the operation that succeeded, if one did.
 */
export function checkReply(
  mailbox: Behaviours,
  method: string,
  path: string,
  reply: CheckedReply,
): OperationId | undefined {
  if (method === 'HEAD' || reply.status === 204) expectNoBody(reply);
  else if (reply.status >= 400) checkError(mailbox, method, path, reply);
  else return checkSuccess(mailbox, method, path, reply);
  return undefined;
}

function checkSuccess(mailbox: Behaviours, method: string, path: string, reply: CheckedReply): OperationId {
  const row = findOperation(method, path, mailbox);
  if (!row) throw new Error(`${method} ${path} answered ${reply.status}, but is no operation.`);
  const schema = buildOnce(schemaOf(row, reply.status), behaviourReader(mailbox)).value;
  if (!schema) expectNoBody(reply);
  else if (row.content) schema.parse(bytesOf(reply, row.content));
  else schema.parse(jsonOf(reply));
  return row.id;
}

/** The status decides which kind of success it is. */
function schemaOf({ method, path, status, reply, otherStatus, otherReply }: DefinitionWithId, actual: number) {
  const found = actual === status ? reply : actual === otherStatus ? otherReply : undefined;
  if (found) return found;
  throw new Error(`${method} ${path} answered ${actual}, not ${[status, otherStatus].filter(Boolean).join(' or ')}.`);
}

function jsonOf({ headers, json }: CheckedReply): unknown {
  const type = headers.get('content-type');
  if (type !== 'application/json') throw new Error(`A reply that is JSON is sent as ${type}.`);
  return json;
}

function bytesOf({ headers, bytes }: CheckedReply, content: string): unknown {
  const type = headers.get('content-type') ?? '';
  const [essence = ''] = type.split(';');
  const fits = content === '*/*' ? /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(essence.trim()) : essence.trim() === content;
  if (!fits) throw new Error(`A reply that is ${content} is sent as ${type || 'nothing'}.`);
  if (headers.get('content-length') !== String(bytes?.byteLength))
    throw new Error('A reply is not as long as it says.');
  return bytes;
}

function findOperation(method: string, path: string, mailbox: Behaviours): DefinitionWithId | undefined {
  const [pathname = ''] = path.split('?');
  const trimmed = mailbox.behaviours['requests.trailing-slash'] === 'ignored' ? pathname.replace(/\/$/, '') : pathname;
  return route(splitPath(trimmed))?.get(method);
}

function checkError(mailbox: Behaviours, method: string, path: string, reply: CheckedReply): void {
  const { error, code } = errorBody().parse(jsonOf(reply));
  if (/\n|\bat .+:\d+:\d+/.test(error)) throw new Error(`An error shows a stack: ${error}`);
  const isCodeExpected = mailbox.behaviours['errors.shape'] === 'error-and-code';
  if ((code !== undefined) !== isCodeExpected) throw new Error(`An error has the code ${code}.`);
  if (!isCodeExpected) return;
  const status = ERRORS[code as ErrorCode]?.status;
  if (status !== reply.status) throw new Error(`The code ${code} does not belong to the status ${reply.status}.`);
  const row = findOperation(method, path, mailbox);
  if (row && !codesOf(row, mailbox).includes(code as ErrorCode)) throw new Error(`${row.id} does not list ${code}.`);
}

/** The errors that the OpenAPI document describes for an operation, and those that any request can get. */
function codesOf(row: OperationDefinition, mailbox: Behaviours): ErrorCode[] {
  return [...errorsOf(row, behaviourReader(mailbox)), 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE'];
}

function expectNoBody(reply: CheckedReply): void {
  if (reply.text !== '') throw new Error(`A reply without content has the body ${reply.text}`);
}

function behaviourReader(mailbox: Behaviours): ReadBehaviour {
  return (id) => mailbox.behaviours[id];
}
