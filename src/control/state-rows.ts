import { z } from 'zod';
import { checkpointName, checkpointOptions } from '../state/checkpoints.ts';
import { CONTROL_PATH } from './control-path.ts';
import { type ControlRow, defineControl } from './row.ts';

const CHECKPOINTS_PATH = `${CONTROL_PATH}/checkpoints`;

const checkpointReply = z.strictObject({
  name: z.string(),
  createdAt: z.iso.datetime({ precision: 3 }).describe('By the clock of the mailbox or the sandbox.'),
});

const byKindAndId = <Value extends z.ZodType>(value: Value) => z.record(z.string(), z.record(z.string(), value));
const item = z.record(z.string(), z.unknown());

const diffReply = z.strictObject({
  added: byKindAndId(item).describe('What only the second state has, by kind and id.'),
  removed: byKindAndId(item).describe('What only the first state has, by kind and id.'),
  changed: byKindAndId(z.record(z.string(), z.strictObject({ from: z.unknown(), to: z.unknown() }))).describe(
    'What both have with different fields: by kind, id and field.',
  ),
});

const name = z.object({ name: checkpointName });

/** The control calls for the state: export and checkpoints. */
export const STATE_ROWS: readonly ControlRow[] = [
  defineControl({
    id: 'exportState',
    method: 'GET',
    path: `${CONTROL_PATH}/export`,
    summary: 'Shows all data as a fixture, which loads again to the same data.',
    takesSandbox: true,
    reply: z.strictObject({ operator: item.optional(), tenants: z.record(z.string(), item) }),
    run: (mailbox) =>
      mailbox.export() as { operator?: Record<string, unknown>; tenants: Record<string, Record<string, unknown>> },
  }),
  defineControl({
    id: 'listCheckpoints',
    method: 'GET',
    path: CHECKPOINTS_PATH,
    summary: 'Lists the checkpoints, oldest first.',
    takesSandbox: true,
    reply: z.strictObject({ checkpoints: z.array(checkpointReply) }),
    run: (mailbox) => ({ checkpoints: mailbox.checkpoints() }),
  }),
  defineControl({
    id: 'addCheckpoint',
    method: 'POST',
    path: CHECKPOINTS_PATH,
    summary: 'Saves the present state under a name.',
    takesSandbox: true,
    bodyCheckedByMailbox: checkpointOptions,
    reply: checkpointReply,
    errors: ['CONFLICT'],
    run: (mailbox, { body }) => mailbox.checkpoint(body.name),
  }),
  defineControl({
    id: 'restoreCheckpoint',
    method: 'POST',
    path: `${CHECKPOINTS_PATH}/{name}/restore`,
    summary: 'Restores the state of a checkpoint.',
    takesSandbox: true,
    params: name,
    reply: checkpointReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.restore(params.name),
  }),
  defineControl({
    id: 'removeCheckpoint',
    method: 'DELETE',
    path: `${CHECKPOINTS_PATH}/{name}`,
    summary: 'Removes a checkpoint.',
    takesSandbox: true,
    params: name,
    reply: checkpointReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.removeCheckpoint(params.name),
  }),
  defineControl({
    id: 'diffCheckpoints',
    method: 'GET',
    path: `${CHECKPOINTS_PATH}/{from}/diff/{to}`,
    summary: 'Shows what differs between two checkpoints; `now` is the present state.',
    takesSandbox: true,
    params: z.object({ from: checkpointName, to: checkpointName }),
    reply: diffReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.diff(params.from, params.to),
  }),
];
