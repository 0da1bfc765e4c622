import { z } from 'zod';
import { createListInParts } from '../../basics/json-pieces.ts';
import { parseOrRefuse } from '../../contract/errors.ts';
import { timestamp } from '../../contract/schemas.ts';
import { durationField, tenantField } from '../call-fields.ts';
import type { ControllableMailbox } from '../controllable-mailbox.ts';
import { anyFault, faultForms } from '../faults/fault-options.ts';
import { exposureReply, keyFilter, rotatedReply } from '../key-controls.ts';
import { MOMENT_RULE, parseMoment } from '../mailbox-clock.ts';
import { settledOptions, settledReply } from '../settled.ts';
import { checkpointName, checkpointOptions, checkpointReply } from '../state/checkpoints.ts';
import { defineControl, idInPath, object } from './row.ts';

/** The time for `freeze`: a moment, or true for the current time. */
const moment = z
  .union([z.literal(true), z.string()], `must be true or ${MOMENT_RULE}`)
  .refine((at) => at === true || parseMoment(at) !== undefined, `must be true or ${MOMENT_RULE}`);

const clockChange = z
  .strictObject({
    /** Stops the clock at this time or, with true, at its present time. */
    freeze: moment.optional(),
    /** Advances the clock by this duration. */
    advance: durationField().optional(),
    /** Lets the clock run. */
    resume: z.literal(true, 'must be true').optional(),
    /** The id of the only tenant whose clock is changed. Default: all tenants. */
    tenant: tenantField().optional(),
  })
  .refine(
    ({ tenant: _, ...changes }) => Object.keys(changes).length === 1,
    'must have one of freeze, advance and resume',
  );

const clockReply = z.strictObject({ now: timestamp(), frozen: z.boolean() });

const checkpoint = z.object({
  /** The name of the checkpoint. */
  name: checkpointName(),
});

const byKindAndId = <Value extends z.ZodType>(value: Value) => z.record(z.string(), z.record(z.string(), value));

const diffReply = z.strictObject({
  added: byKindAndId(object).describe('What only the second state has, by kind and id.'),
  removed: byKindAndId(object).describe('What only the first state has, by kind and id.'),
  changed: byKindAndId(z.record(z.string(), z.strictObject({ from: z.unknown(), to: z.unknown() }))).describe(
    'What both states have, but with different fields: by kind, id and field.',
  ),
});

const faultsReply = z.strictObject({ faults: z.array(anyFault()) });

/** The calls for the state, the time, the faults and the keys. */
export const STATE_ROWS = {
  reset: defineControl(
    'Restores the initial state.',
    { reply: z.strictObject({ reset: z.literal(true) }) },
    (mailbox) => {
      mailbox.reset();
      return { reset: true as const };
    },
  ),
  exportState: defineControl(
    'Shows all data as a fixture; a mailbox with this fixture has the same data.',
    { reply: z.strictObject({ operator: object.optional(), tenants: z.record(z.string(), object) }) },
    (mailbox) =>
      mailbox.export() as { operator?: Record<string, unknown>; tenants: Record<string, Record<string, unknown>> },
  ),
  listCheckpoints: defineControl(
    'Lists the checkpoints, oldest first.',
    { reply: z.strictObject({ checkpoints: z.array(checkpointReply()) }) },
    (mailbox) => ({ checkpoints: mailbox.checkpoints() }),
  ),
  addCheckpoint: defineControl(
    'Saves the present state under a name.',
    { body: checkpointOptions(), reply: checkpointReply(), errors: ['CONFLICT'] },
    (mailbox, { body }) => mailbox.checkpoint(body.name),
  ),
  restoreCheckpoint: defineControl(
    'Restores the state of a checkpoint.',
    { params: checkpoint, reply: checkpointReply() },
    (mailbox, { params }) => mailbox.restore(params.name),
  ),
  removeCheckpoint: defineControl(
    'Removes a checkpoint.',
    { params: checkpoint, reply: checkpointReply() },
    (mailbox, { params }) => mailbox.removeCheckpoint(params.name),
  ),
  diffCheckpoints: defineControl(
    'Shows what differs between two checkpoints; `now` is the present state.',
    { params: z.object({ from: checkpointName(), to: checkpointName() }), reply: diffReply },
    (mailbox, { params }) => mailbox.diff(params.from, params.to),
  ),
  getClock: defineControl(
    'Shows the time, and whether it is frozen.',
    { query: z.strictObject({ tenant: tenantField().optional() }), reply: clockReply },
    (mailbox, { query }) => showClock(mailbox, query.tenant),
  ),
  changeClock: defineControl(
    'Freezes, advances or resumes the clock. If the client disconnects, an advance stops.',
    { body: clockChange, reply: clockReply },
    async (mailbox, input) => {
      const { clock } = mailbox;
      const body = parseOrRefuse('The body', clockChange, input.body);
      const options = { tenant: body.tenant };
      if (body.freeze !== undefined) clock.freeze(body.freeze === true ? undefined : body.freeze, options);
      if (body.advance !== undefined) await clock.advance(body.advance, { ...options, signal: input.signal });
      if (body.resume) clock.resume(options);
      return showClock(mailbox, body.tenant);
    },
  ),
  settle: defineControl(
    'Waits until no work is due or running.',
    { body: settledOptions(), reply: settledReply(), errors: ['CONFLICT'] },
    async (mailbox, { body }) => {
      return { settled: true as const, ...(await mailbox.settled(parseOrRefuse('The body', settledOptions(), body))) };
    },
  ),
  listKeys: defineControl(
    'Lists the valid keys, or only the given key, each with everything that a leak of it would expose.',
    {
      query: keyFilter().extend({ key: z.string().describe('The full text of a key.').optional() }),
      reply: z.strictObject({ keys: z.array(exposureReply()) }),
    },
    (mailbox, { query: { key, ...filter } }) => ({
      keys:
        key === undefined
          ? createListInParts(filter.limit, (limit, listed) =>
              mailbox.exposures({ ...filter, limit, offset: (filter.offset ?? 0) + listed }),
            )
          : [mailbox.exposure(key)],
    }),
  ),
  rotateKey: defineControl(
    'Replaces a key of a tenant, workspace or inbox, and closes the streams that the old key opened.',
    {
      params: z.object({
        /** The id of the key. */
        id: z.string().describe('The id of a key, as GET /__mock/keys shows it.'),
      }),
      reply: rotatedReply(),
    },
    (mailbox, { params }) => mailbox.rotateKey(params.id),
  ),
  listFaults: defineControl('Lists the faults that still apply, oldest first.', { reply: faultsReply }, (mailbox) => ({
    faults: mailbox.faults(),
  })),
  addFault: defineControl(
    'Adds a fault of requests, deliveries, streams, SMTP or IMAP, in its full form or by its name.',
    { body: faultForms(), reply: anyFault() },
    (mailbox, { body }) => mailbox.addFault(body),
  ),
  clearFaults: defineControl('Removes every fault.', { reply: faultsReply }, (mailbox) => {
    mailbox.clearFaults();
    return { faults: mailbox.faults() };
  }),
  removeFault: defineControl(
    'Removes one fault.',
    { params: idInPath('fault'), reply: anyFault() },
    (mailbox, { params }) => mailbox.removeFault(params.id),
  ),
};

function showClock({ clock }: ControllableMailbox, tenantId: string | undefined) {
  const options = { tenant: tenantId };
  return { now: clock.now(options).toISOString(), frozen: clock.isFrozen(options) };
}
