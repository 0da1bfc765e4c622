import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../src/contract/errors.ts';
import { errorBody } from '../../src/contract/schemas.ts';
import { controlErrors } from '../../src/control/table/control-openapi.ts';
import type { ControlRow } from '../../src/control/table/row.ts';
import { listControlRows } from '../../src/control/table/table.ts';
import { createRouter, splitPath } from '../../src/service/pipeline/router.ts';
import { type Service, send } from './everywhere.ts';
import type { Reply, SendOptions } from './send.ts';

const route = createRouter(listControlRows());

/** Throws unless a reply of the control plane matches its row: a success of its schema, or an error that it lists. */
function checkControlReply(method: string, url: string, { status, text, json }: Reply): void {
  const { pathname } = new URL(url);
  const row = route(splitPath(pathname === '/__mock/' ? '/__mock' : pathname))?.get(method);
  if (method === 'HEAD' || status === 204) {
    if (text !== '') throw new Error(`${method} ${pathname} has the body ${text}.`);
  } else if (status < 400) {
    if (!row) throw new Error(`${method} ${pathname} answered ${status}, but is no control call.`);
    replySchemaOf(row).parse(json);
  } else {
    const code = errorBody().parse(json).code as ErrorCode;
    if (ERRORS[code]?.status !== status) throw new Error(`The code ${code} does not belong to the status ${status}.`);
    if (row && !controlErrors(row).has(code)) throw new Error(`${row.id} does not list ${code}.`);
  }
}

/** The schema of a reply in JSON. A page and a file are not JSON. */
function replySchemaOf({ content, reply }: ControlRow) {
  return content === undefined ? reply : z.undefined();
}

/** Returns whether a test runs against intercepted requests, and not against a server. */
export const isInProcess = ({ mailbox, url }: Service) => url === mailbox.baseUrl;

/** Sends a request to the control plane, and checks its reply by the schema of its row. */
export async function sendControl(url: string, method: string, options: SendOptions = {}): Promise<Reply> {
  const reply = await send(url, method, options);
  checkControlReply(method, url, reply);
  return reply;
}

/** The result of a control call, in either runtime. */
export interface ControlAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into replies of every shape.
  readonly json: any;
}

/**
 * Runs a control call: by the mailbox's method in process, where an error becomes the reply with its message, and by
 * a request such as `POST /events` to the control plane over HTTP.
 */
export async function control(
  service: Service,
  request: `${'GET' | 'POST' | 'DELETE'} ${string}`,
  json: unknown,
  run: () => unknown,
): Promise<ControlAnswer> {
  const [method = '', path] = request.split(' ');
  if (!isInProcess(service)) return sendControl(`${service.url}/__mock${path}`, method, { json });
  try {
    return { status: 200, json: JSON.parse(JSON.stringify((await run()) ?? null)) };
  } catch (error) {
    const { status, code, message } = error as Error & { status: number; code: string };
    return { status, json: { error: message, code } };
  }
}
