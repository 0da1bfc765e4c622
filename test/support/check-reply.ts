import type { Mailbox } from 'agent-mailbox-mock';
import type { Choose } from '../../src/contract/behaviours.ts';
import { ERRORS, type ErrorCode } from '../../src/contract/errors.ts';
import type { OperationDefinition } from '../../src/contract/operation.ts';
import { errorBody } from '../../src/contract/schemas.ts';
import { createRouter, splitPath } from '../../src/pipeline/router.ts';
import { OPERATION_ROWS } from '../../src/pipeline/service.ts';
import type { Reply } from './everywhere.ts';

const route = createRouter(OPERATION_ROWS);

/** Throws unless a reply is what the contract says: a success in its operation's schema, or a well-formed error. */
export function checkReply(mailbox: Pick<Mailbox, 'behaviours'>, method: string, path: string, reply: Reply): void {
  if (method === 'HEAD' || reply.status === 204) expectNoBody(reply);
  else if (reply.status >= 400) checkError(mailbox, reply);
  else checkSuccess(mailbox, method, path, reply);
}

function checkSuccess(mailbox: Pick<Mailbox, 'behaviours'>, method: string, path: string, reply: Reply): void {
  const row = findOperation(method, path, mailbox);
  if (!row) throw new Error(`${method} ${path} answered ${reply.status}, but is no operation.`);
  if (reply.status !== row.status) throw new Error(`${method} ${path} answered ${reply.status}, not ${row.status}.`);
  const schema = row.reply(chooser(mailbox));
  if (schema) schema.parse(reply.json);
  else expectNoBody(reply);
}

function findOperation(method: string, path: string, mailbox: Pick<Mailbox, 'behaviours'>) {
  const [pathname = ''] = path.split('?');
  const trimmed = mailbox.behaviours['requests.trailing-slash'] === 'ignored' ? pathname.replace(/\/$/, '') : pathname;
  const row: OperationDefinition | undefined = route(splitPath(trimmed).map(decodeURIComponent))?.get(method);
  return row;
}

function checkError(mailbox: Pick<Mailbox, 'behaviours'>, reply: Reply): void {
  const { error, code } = errorBody.parse(reply.json);
  if (reply.headers.get('content-type') !== 'application/json') throw new Error('An error is not sent as JSON.');
  if (/\n|\bat .+:\d+:\d+/.test(error)) throw new Error(`An error shows a stack: ${error}`);
  if (mailbox.behaviours['errors.shape'] === 'error-only') return;
  const status = ERRORS[code as ErrorCode]?.status;
  if (status !== reply.status) throw new Error(`The code ${code} does not belong to the status ${reply.status}.`);
}

function expectNoBody(reply: Reply): void {
  if (reply.text !== '') throw new Error(`A reply without content has the body ${reply.text}`);
}

function chooser(mailbox: Pick<Mailbox, 'behaviours'>): Choose {
  return (id) => mailbox.behaviours[id];
}
