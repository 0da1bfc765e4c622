import type { z } from 'zod';
import type { Routable } from '../pipeline/router.ts';
import type { Controlled } from './controlled.ts';

/** What a control call was sent, parsed. */
export interface ControlInput<Query = unknown, Body = unknown> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

/** One call of the control plane. */
export interface ControlRow extends Routable {
  readonly query?: z.ZodObject;
  /** The body; a call without one reads none. */
  readonly body?: z.ZodObject;
  readonly maxBodyBytes?: number;
  /** Says that a mailbox always answers the same, which is then made once. */
  readonly isFixed?: true;
  run(mailbox: Controlled, input: ControlInput<never, never>): unknown;
}

/** Types a row of the control table by its schemas. */
export function defineControl<Query extends z.ZodObject, Body extends z.ZodObject>(row: {
  readonly method: string;
  readonly path: string;
  readonly query?: Query;
  readonly body?: Body;
  /** The largest body that is read; 1 MiB where it says nothing. */
  readonly maxBodyBytes?: number;
  /** Says that a mailbox always answers the same, which is then made once. */
  readonly isFixed?: true;
  run(mailbox: Controlled, input: ControlInput<z.output<Query>, z.output<Body>>): unknown;
}): ControlRow {
  return row as ControlRow;
}
