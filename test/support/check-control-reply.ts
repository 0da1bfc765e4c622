import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../src/contract/errors.ts';
import { errorBody } from '../../src/contract/schemas.ts';
import { CONTROL_TABLE, controlErrors } from '../../src/control/table/table.ts';
import { createRouter, splitPath } from '../../src/service/pipeline/router.ts';
import type { Reply } from './send.ts';

const route = createRouter(CONTROL_TABLE);

/** Throws unless a reply of the control plane matches its row: a success of its schema, or an error that it lists. */
export function checkControlReply(method: string, url: string, { status, text, json }: Reply): void {
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
function replySchemaOf({ content, reply }: (typeof CONTROL_TABLE)[number]) {
  return content === undefined ? reply : z.undefined();
}
