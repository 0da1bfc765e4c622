import { z } from 'zod';
import { durationField } from '../clock/duration.ts';
import { BEHAVIOUR_IDS, BEHAVIOURS, isChoice } from '../contract/behaviours.ts';
import type { EventKind } from '../contract/events.ts';
import { type IncomingMessage, MAX_MAIL_BYTES } from '../contract/incoming-message.ts';
import { tenantField } from '../contract/target-fields.ts';
import { faultOptions } from '../faults/fault.ts';
import { VERSION } from '../version.ts';
import { CONTROL_PATH } from './control-path.ts';
import type { Controlled } from './controlled.ts';
import { MOMENT_RULE, parseMoment } from './mailbox-clock.ts';
import { type ControlRow, defineControl } from './row.ts';
import { deliveryFilter, releaseOptions } from './webhook-lab.ts';

const tenant = tenantField.optional();

const moment = z
  .union([z.literal(true), z.string()], `must be true or ${MOMENT_RULE}`)
  .refine((at) => at === true || parseMoment(at) !== undefined, `must be true or ${MOMENT_RULE}`);

const clockChange = z
  .strictObject({
    freeze: moment.optional(),
    advance: durationField.optional(),
    resume: z.literal(true, 'must be true').optional(),
    tenant,
  })
  .refine(
    ({ tenant: _, ...changes }) => Object.keys(changes).length === 1,
    'must have one of freeze, advance and resume',
  );

/** What a test may do that a client may not, over HTTP. */
export const CONTROL_TABLE: readonly ControlRow[] = [
  defineControl({
    method: 'GET',
    path: `${CONTROL_PATH}/health`,
    run: () => ({ status: 'ok', version: VERSION }),
  }),
  defineControl({
    method: 'POST',
    path: `${CONTROL_PATH}/reset`,
    run(mailbox) {
      mailbox.reset();
      return { reset: true };
    },
  }),
  defineControl({
    method: 'GET',
    path: `${CONTROL_PATH}/behaviours`,
    isFixed: true,
    run: ({ behaviours }) => ({
      behaviours: BEHAVIOUR_IDS.map((id) => ({
        id,
        ...BEHAVIOURS[id],
        ...(isChoice(id) && { value: behaviours[id] }),
      })),
    }),
  }),
  defineControl({
    method: 'GET',
    path: `${CONTROL_PATH}/openapi.json`,
    isFixed: true,
    run: (mailbox) => mailbox.openApi(),
  }),
  defineControl({
    method: 'GET',
    path: `${CONTROL_PATH}/clock`,
    query: z.strictObject({ tenant }),
    run: (mailbox, { query }) => showClock(mailbox, query.tenant),
  }),
  defineControl({
    method: 'POST',
    path: `${CONTROL_PATH}/clock`,
    body: clockChange,
    async run(mailbox, { body }) {
      const { clock } = mailbox;
      const options = { tenant: body.tenant };
      if (body.freeze !== undefined) clock.freeze(body.freeze === true ? undefined : body.freeze, options);
      if (body.advance !== undefined) await clock.advance(body.advance, options);
      if (body.resume) clock.resume(options);
      return showClock(mailbox, body.tenant);
    },
  }),
  defineControl({
    method: 'POST',
    path: `${CONTROL_PATH}/messages`,
    // What a message may be is said where it is taken in, for every way in.
    body: z.looseObject({}),
    maxBodyBytes: 2 * MAX_MAIL_BYTES,
    run: async (mailbox, { body }) => ({ messages: await mailbox.receiveMessage(body as unknown as IncomingMessage) }),
  }),
  defineControl({
    method: 'GET',
    path: `${CONTROL_PATH}/deliveries`,
    query: deliveryFilter,
    run: (mailbox, { query }) => ({ deliveries: mailbox.deliveries(query), losses: mailbox.losses(query) }),
  }),
  defineControl({
    method: 'GET',
    path: `${CONTROL_PATH}/deliveries/{id}`,
    run: (mailbox, { params: { id = '' } }) => mailbox.delivery(id),
  }),
  defineControl({
    method: 'POST',
    path: `${CONTROL_PATH}/deliveries/{id}/redeliver`,
    run: (mailbox, { params: { id = '' } }) => mailbox.redeliver(id),
  }),
  defineControl({
    method: 'POST',
    path: `${CONTROL_PATH}/deliveries/release`,
    body: releaseOptions,
    run: (mailbox, { body }) => ({ deliveries: mailbox.release(body) }),
  }),
  defineControl({
    method: 'POST',
    path: `${CONTROL_PATH}/events`,
    body: z.looseObject({}),
    run: (mailbox, { body: { event, ...options } }) => ({ deliveries: mailbox.trigger(event as EventKind, options) }),
  }),
  defineControl({
    method: 'GET',
    path: `${CONTROL_PATH}/faults`,
    run: (mailbox) => ({ faults: mailbox.faults() }),
  }),
  defineControl({
    method: 'POST',
    path: `${CONTROL_PATH}/faults`,
    body: faultOptions,
    run: (mailbox, { body }) => mailbox.addFault(body),
  }),
  defineControl({
    method: 'DELETE',
    path: `${CONTROL_PATH}/faults`,
    run(mailbox) {
      mailbox.clearFaults();
      return { faults: mailbox.faults() };
    },
  }),
  defineControl({
    method: 'DELETE',
    path: `${CONTROL_PATH}/faults/{id}`,
    run: (mailbox, { params: { id = '' } }) => mailbox.removeFault(id),
  }),
  defineControl({
    method: 'POST',
    path: `${CONTROL_PATH}/settle`,
    body: z.strictObject({ timeout: durationField.optional() }),
    async run(mailbox, { body }) {
      return { settled: true, ...(await mailbox.settled(body)) };
    },
  }),
];

function showClock({ clock }: Controlled, tenantId: string | undefined) {
  const options = { tenant: tenantId };
  return { now: clock.now(options).toISOString(), frozen: clock.isFrozen(options) };
}
