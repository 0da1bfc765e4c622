import { BEHAVIOUR_IDS, BEHAVIOURS, type Choices, type Choose, parseBehaviours } from '../contract/behaviours.ts';
import type { OpenApiDocument } from '../contract/openapi.ts';
import { toErrorReply } from '../pipeline/error-reply.ts';
import { findRow } from '../pipeline/find-row.ts';
import { type ApiReply, type ApiRequest, bodyAsAsked, jsonReply, optionsReply } from '../pipeline/http.ts';
import { createRouter, type Routable } from '../pipeline/router.ts';
import { VERSION } from '../version.ts';

/** The path under which the control plane lives. */
export const CONTROL_PATH = '/__mock';

/** What the control plane needs of a mailbox. */
export interface Controlled {
  readonly behaviours: Choices;
  reset(): void;
  openApi(): OpenApiDocument;
}

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

/** The control plane is ours, so how the service is to be read does not change it: it answers under the defaults. */
const CHOICES = parseBehaviours();
const choose: Choose = (id) => CHOICES[id];

/** Answers a request to the control plane. It never throws. */
export function answerControl(mailbox: Controlled, request: ApiRequest): ApiReply {
  return bodyAsAsked(request.method, answerOrFail(mailbox, request));
}

function answerOrFail(mailbox: Controlled, request: ApiRequest): ApiReply {
  try {
    const found = findRow(route, request, choose);
    if ('allow' in found) return optionsReply(found.allow);
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
