import { parseOrRefuse } from '../../contract/errors.ts';
import type { BehaviourControls } from '../behaviour-controls.ts';
import type { ControllableMailbox, SandboxControls } from '../controllable-mailbox.ts';
import type { InboxControls } from '../inbox-controls.ts';
import { type ControlCallId, splitFields } from './routes.ts';
import type { ControlInput, ControlRow } from './row.ts';
import { CONTROL_ROWS } from './table.ts';

/** What a call in code applies to. */
export interface CallTarget {
  /** The mailbox or the sandbox. */
  readonly mailbox: ControllableMailbox;
  /** The whole mailbox. */
  readonly whole: SandboxControls & BehaviourControls & InboxControls;
  /** The URL of the process. */
  readonly url: string;
  /** Stops the call when it is aborted. */
  readonly signal: AbortSignal;
}

/**
 * Runs a control call without a request, and resolves with its reply. `fields` has the fields of its path, and of its
 * query or body. Unlike a request, they may contain what only code can express, such as a regular expression.
 *
 * @throws {ApiError} as the call does, and VALIDATION_ERROR for an invalid query.
 */
export async function runCall(id: ControlCallId, fields: object, target: CallTarget): Promise<unknown> {
  const row: ControlRow = CONTROL_ROWS[id];
  const { params, query, body } = splitFields(id, fields);
  const input: ControlInput = {
    params,
    query: row.query ? parseOrRefuse('The query', row.query, query) : {},
    body: row.body && body,
    headers: new Headers(),
    signal: target.signal,
    process: { publicUrl: target.url, isEnding: false, readEvaluateSchema: undefined },
  };
  return row.run(target.mailbox, input as never, target.whole);
}
