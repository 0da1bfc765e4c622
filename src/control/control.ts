import { BEHAVIOUR_IDS, BEHAVIOURS, type Choose } from '../contract/behaviours.ts';
import type { Mailbox } from '../mailbox.ts';
import { toErrorReply } from '../pipeline/error-reply.ts';
import { findRow } from '../pipeline/find-row.ts';
import { type ApiReply, type ApiRequest, jsonReply } from '../pipeline/http.ts';
import { createRouter, type Routable } from '../pipeline/router.ts';
import { VERSION } from '../version.ts';

/** The path under which the control plane lives. */
export const CONTROL_PATH = '/__mock';

/** What the control plane may do with a mailbox; whose keys they are is of no concern to it. */
export type Controlled = Pick<Mailbox<unknown>, 'reset' | 'behaviours' | 'openApi'>;

interface ControlRow extends Routable {
  run(mailbox: Controlled): unknown;
}

/** What a test may do that a client may not, over HTTP. */
const CONTROL_TABLE: readonly ControlRow[] = [
  { method: 'GET', path: `${CONTROL_PATH}/health`, run: () => ({ status: 'ok', version: VERSION }) },
  { method: 'POST', path: `${CONTROL_PATH}/reset`, run: reset },
  { method: 'GET', path: `${CONTROL_PATH}/behaviours`, run: listBehaviours },
  { method: 'GET', path: `${CONTROL_PATH}/openapi.json`, run: (mailbox) => mailbox.openApi() },
];

const route = createRouter(CONTROL_TABLE);

/** Answers a request to the control plane. It never throws. */
export function answerControl(mailbox: Controlled, request: ApiRequest): ApiReply {
  const choose: Choose = (id) => mailbox.behaviours[id];
  const reply = answerOrFail(mailbox, request, choose);
  return request.method === 'HEAD' ? { ...reply, body: null } : reply;
}

function answerOrFail(mailbox: Controlled, request: ApiRequest, choose: Choose): ApiReply {
  try {
    const found = findRow(route, request, choose);
    if ('allow' in found) return { status: 204, headers: { allow: found.allow }, body: null };
    return jsonReply(200, found.row.run(mailbox));
  } catch (error) {
    return toErrorReply(error, choose);
  }
}

function reset(mailbox: Controlled): unknown {
  mailbox.reset();
  return { reset: true };
}

/** The whole ledger with the values that this mailbox runs with. */
function listBehaviours(mailbox: Controlled): unknown {
  return { behaviours: BEHAVIOUR_IDS.map((id) => ({ id, ...BEHAVIOURS[id], value: mailbox.behaviours[id] })) };
}
