import { z } from 'zod';
import { durationField } from '../clock/duration.ts';
import type { BehaviourDefinition } from '../contract/behaviour.ts';
import {
  BEHAVIOUR_IDS,
  BEHAVIOURS,
  type BehaviourId,
  type BehaviourValues,
  type ChangeableId,
} from '../contract/behaviours.ts';
import { EVENT_KINDS } from '../contract/events.ts';
import { composedMessage, rawMessage } from '../contract/incoming-message.ts';
import { incomingSample } from '../contract/incoming-sample.ts';
import { lazyList } from '../contract/json-pieces.ts';
import { queryFlag } from '../contract/query.ts';
import { MAX_MAIL_BYTES } from '../contract/size.ts';
import { tenantField } from '../contract/target-fields.ts';
import { deliveryFilter } from '../delivery/delivery-filter.ts';
import { anyFault, faultOptions } from '../faults/fault.ts';
import { createHar } from '../journal/har.ts';
import type { RequestEntry } from '../journal/request-entry.ts';
import { requestQuery } from '../journal/request-filter.ts';
import { VERSION } from '../version.ts';
import { CONTROL_PATH } from './control-path.ts';
import type { ControllableMailbox } from './controllable-mailbox.ts';
import { CORRESPONDENT_ROWS } from './correspondent-rows.ts';
import { releaseOptions } from './delivery-controls.ts';
import { createControlOpenApi } from './describe-control.ts';
import { clearedRequestsReply, feedEventReply, requestReply, requestsReply } from './journal-replies.ts';
import { keyFilter } from './key-controls.ts';
import { mailQuery, waitQuery } from './mail-filter.ts';
import { MAIL_ROWS } from './mail-rows.ts';
import { MOMENT_RULE, parseMoment } from './mailbox-clock.ts';
import { addBaseUrlToSample } from './receive-sample.ts';
import {
  affectedDeliveriesReply,
  behavioursReply,
  callsReply,
  clockReply,
  deliveriesReply,
  deliveryReply,
  exposuresReply,
  faultsReply,
  healthReply,
  mailListReply,
  mailReply,
  openApiReply,
  receivedMessagesReply,
  resetReply,
  sandboxesReply,
  sandboxReply,
  settledReply,
} from './replies.ts';
import { type ControlRow, defineControl } from './row.ts';
import type { SandboxOptions, SandboxSummary } from './sandbox.ts';
import { sandboxOptions } from './sandbox-options.ts';
import { settledOptions } from './settled.ts';
import { STATE_ROWS } from './state-rows.ts';
import { triggerOptions } from './trigger.ts';
import { WEBHOOK_ROWS } from './webhook-rows.ts';

const tenant = tenantField.optional();

/** The time for `freeze`: a moment, or true for the current time. */
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

const deliveryParams = z.object({ id: z.string().describe('The id of a delivery.') });

const sandboxParams = z.object({ id: z.string().describe('The id of a sandbox.') });

/** The control calls, over HTTP. */
export const CONTROL_TABLE: readonly ControlRow[] = [
  defineControl({
    id: 'listControlCalls',
    method: 'GET',
    path: CONTROL_PATH,
    summary: 'Lists the control calls.',
    reply: callsReply,
    replyNeverChanges: true,
    run: () => ({ calls: CONTROL_TABLE.map(({ method, path, summary }) => ({ method, path, summary })) }),
  }),
  defineControl({
    id: 'getControlHealth',
    method: 'GET',
    path: `${CONTROL_PATH}/health`,
    summary: 'Shows that the emulator is running, and its version.',
    reply: healthReply,
    run: () => ({ status: 'ok' as const, version: VERSION }),
  }),
  defineControl({
    id: 'getControlOpenApi',
    method: 'GET',
    path: `${CONTROL_PATH}/control.json`,
    summary: 'Shows the OpenAPI 3.1 document of the control calls.',
    reply: openApiReply,
    replyNeverChanges: true,
    run: () => createControlOpenApi(CONTROL_TABLE),
  }),
  defineControl({
    id: 'getOpenApi',
    method: 'GET',
    path: `${CONTROL_PATH}/openapi.json`,
    summary: 'Shows the OpenAPI 3.1 document of the emulated service.',
    reply: openApiReply,
    replyNeverChanges: true,
    run: (mailbox) => mailbox.openApi(),
  }),
  defineControl({
    id: 'listBehaviours',
    method: 'GET',
    path: `${CONTROL_PATH}/behaviours`,
    summary: 'Lists every behaviour with its possible values and its current value.',
    reply: behavioursReply,
    // The values are fixed when the mailbox is created.
    replyNeverChanges: true,
    run: ({ behaviours }) => ({ behaviours: BEHAVIOUR_IDS.map((id) => showBehaviour(id, behaviours)) }),
  }),
  defineControl({
    id: 'reset',
    method: 'POST',
    path: `${CONTROL_PATH}/reset`,
    summary: 'Restores the initial state.',
    takesSandbox: true,
    reply: resetReply,
    run(mailbox) {
      mailbox.reset();
      return { reset: true as const };
    },
  }),
  ...STATE_ROWS,
  ...CORRESPONDENT_ROWS,
  defineControl({
    id: 'listSandboxes',
    method: 'GET',
    path: `${CONTROL_PATH}/sandboxes`,
    summary: 'Lists the sandboxes. The one that has been unused for the longest time comes first.',
    reply: sandboxesReply,
    run: (_mailbox, _input, { sandboxes }) => ({ sandboxes: sandboxes().map(showSandbox) }),
  }),
  defineControl({
    id: 'createSandbox',
    method: 'POST',
    path: `${CONTROL_PATH}/sandboxes`,
    summary: 'Creates a sandbox: a copy of a tenant with keys, ids and a domain of its own.',
    // The method that `run` calls checks this body, so a call over HTTP gets the same errors as a call in code. Here the
    // schema is only for types and the OpenAPI document.
    bodyCheckedByMailbox: sandboxOptions,
    maxBodyBytes: 2 * MAX_MAIL_BYTES,
    reply: sandboxReply,
    errors: ['CONFLICT', 'STORAGE_FULL'],
    run: (_mailbox, { body }, { createSandbox }) => showSandbox(createSandbox(body as SandboxOptions)),
  }),
  defineControl({
    id: 'getSandbox',
    method: 'GET',
    path: `${CONTROL_PATH}/sandboxes/{id}`,
    summary: 'Shows one sandbox.',
    params: sandboxParams,
    reply: sandboxReply,
    errors: ['NOT_FOUND'],
    run: (_mailbox, { params }, { sandbox }) => showSandbox(sandbox(params.id)),
  }),
  defineControl({
    id: 'closeSandbox',
    method: 'DELETE',
    path: `${CONTROL_PATH}/sandboxes/{id}`,
    summary: 'Closes one sandbox: its keys become invalid, and its streams and deliveries end.',
    params: sandboxParams,
    reply: sandboxReply,
    errors: ['NOT_FOUND'],
    run(_mailbox, { params }, { sandbox }) {
      const closed = sandbox(params.id);
      closed.close();
      return showSandbox(closed);
    },
  }),
  defineControl({
    id: 'getClock',
    method: 'GET',
    path: `${CONTROL_PATH}/clock`,
    summary: 'Shows the time, and whether it is frozen.',
    takesSandbox: true,
    query: z.strictObject({ tenant }),
    reply: clockReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { query }) => showClock(mailbox, query.tenant),
  }),
  defineControl({
    id: 'changeClock',
    method: 'POST',
    path: `${CONTROL_PATH}/clock`,
    summary: 'Freezes, advances or resumes the clock.',
    takesSandbox: true,
    body: clockChange,
    reply: clockReply,
    errors: ['NOT_FOUND'],
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
    id: 'receiveMessage',
    method: 'POST',
    path: `${CONTROL_PATH}/messages`,
    summary: 'Delivers an inbound mail, given as separate fields, as raw text (RFC 5322) or as a sample.',
    takesSandbox: true,
    bodyCheckedByMailbox: z.union([composedMessage, rawMessage, incomingSample]),
    maxBodyBytes: 2 * MAX_MAIL_BYTES,
    reply: receivedMessagesReply,
    errors: ['NOT_FOUND', 'STORAGE_FULL'],
    run: async (mailbox, { body, headers }) => ({
      messages: await mailbox.receiveMessage(addBaseUrlToSample(body, headers.get('host'))),
    }),
  }),
  defineControl({
    id: 'listMail',
    method: 'GET',
    path: `${CONTROL_PATH}/messages`,
    summary:
      'Lists the mail that arrived or was sent since the emulator started or was reset, oldest first. The messages of the fixture are not listed.',
    query: mailQuery,
    takesSandbox: true,
    reply: mailListReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { query }) => ({ messages: mailbox.messages(query) }),
  }),
  defineControl({
    id: 'waitForMessage',
    method: 'GET',
    path: `${CONTROL_PATH}/messages/wait`,
    summary: 'Waits for a mail and shows it.',
    query: waitQuery,
    takesSandbox: true,
    reply: mailReply,
    errors: ['NOT_FOUND', 'CONFLICT'],
    run: (mailbox, { query }) => mailbox.waitForMessage(query),
  }),
  ...MAIL_ROWS,
  defineControl({
    id: 'triggerEvent',
    method: 'POST',
    path: `${CONTROL_PATH}/events`,
    summary: 'Triggers an event and shows the deliveries that it created.',
    takesSandbox: true,
    bodyCheckedByMailbox: triggerOptions.extend({ event: z.enum(EVENT_KINDS) }),
    reply: affectedDeliveriesReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { body: { event, ...options } }) => ({ deliveries: mailbox.trigger(event, options) }),
  }),
  defineControl({
    id: 'listDeliveries',
    method: 'GET',
    path: `${CONTROL_PATH}/deliveries`,
    summary:
      'Lists deliveries, oldest first, with each attempt, and counts those that were removed because the log was full.',
    takesSandbox: true,
    query: deliveryFilter,
    reply: deliveriesReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { query }) => ({ deliveries: mailbox.deliveries(query), losses: mailbox.losses(query) }),
  }),
  defineControl({
    id: 'getDelivery',
    method: 'GET',
    path: `${CONTROL_PATH}/deliveries/{id}`,
    summary: 'Shows one delivery.',
    takesSandbox: true,
    params: deliveryParams,
    reply: deliveryReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.delivery(params.id),
  }),
  defineControl({
    id: 'redeliver',
    method: 'POST',
    path: `${CONTROL_PATH}/deliveries/{id}/redeliver`,
    summary: 'Sends a delivery again, immediately.',
    takesSandbox: true,
    params: deliveryParams,
    reply: deliveryReply,
    errors: ['NOT_FOUND', 'CONFLICT'],
    run: (mailbox, { params }) => mailbox.redeliver(params.id),
  }),
  defineControl({
    id: 'releaseDeliveries',
    method: 'POST',
    path: `${CONTROL_PATH}/deliveries/release`,
    summary: 'Sends deliveries that a fault has held back.',
    takesSandbox: true,
    bodyCheckedByMailbox: releaseOptions,
    reply: affectedDeliveriesReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { body }) => ({ deliveries: mailbox.release(body) }),
  }),
  ...WEBHOOK_ROWS,
  defineControl({
    id: 'listKeys',
    method: 'GET',
    path: `${CONTROL_PATH}/keys`,
    summary: 'Lists the valid keys, or only the given key, each with everything that a leak of it would expose.',
    takesSandbox: true,
    query: keyFilter.extend({ key: z.string().describe('The full text of a key.').optional() }),
    reply: exposuresReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { query: { key, ...filter } }) => ({
      keys:
        key === undefined
          ? inParts(filter.limit, (limit, done) =>
              mailbox.exposures({ ...filter, limit, offset: (filter.offset ?? 0) + done }),
            )
          : [mailbox.exposure(key)],
    }),
  }),
  defineControl({
    id: 'rotateKey',
    method: 'POST',
    path: `${CONTROL_PATH}/keys/{id}/rotate`,
    summary: 'Replaces a key of a tenant, workspace or inbox, and closes the streams that the old key opened.',
    takesSandbox: true,
    params: z.object({ id: z.string().describe('The id of a key, as GET /__mock/keys shows it.') }),
    reply: z.strictObject({ id: z.string(), key: z.string().describe('The whole new key.') }),
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.rotateKey(params.id),
  }),
  defineControl({
    id: 'listFaults',
    method: 'GET',
    path: `${CONTROL_PATH}/faults`,
    summary: 'Lists the faults that still apply.',
    takesSandbox: true,
    reply: faultsReply,
    run: (mailbox) => ({ faults: mailbox.faults() }),
  }),
  defineControl({
    id: 'addFault',
    method: 'POST',
    path: `${CONTROL_PATH}/faults`,
    summary: 'Adds a fault of requests, deliveries, streams or SMTP.',
    takesSandbox: true,
    bodyCheckedByMailbox: faultOptions,
    reply: anyFault,
    errors: ['NOT_FOUND'],
    run: (mailbox, { body }) => mailbox.addFault(body),
  }),
  defineControl({
    id: 'clearFaults',
    method: 'DELETE',
    path: `${CONTROL_PATH}/faults`,
    summary: 'Removes every fault.',
    takesSandbox: true,
    reply: faultsReply,
    run(mailbox) {
      mailbox.clearFaults();
      return { faults: mailbox.faults() };
    },
  }),
  defineControl({
    id: 'removeFault',
    method: 'DELETE',
    path: `${CONTROL_PATH}/faults/{id}`,
    summary: 'Removes one fault.',
    takesSandbox: true,
    params: z.object({ id: z.string() }),
    reply: anyFault,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.removeFault(params.id),
  }),
  defineControl({
    id: 'listRequests',
    method: 'GET',
    path: `${CONTROL_PATH}/requests`,
    summary: 'Lists the requests that the service has handled, oldest first; also as a HAR document.',
    takesSandbox: true,
    query: requestQuery,
    reply: requestsReply,
    run(mailbox, { query: { format, ...filter } }) {
      const requests = inParts<RequestEntry>(filter.limit, (limit, _, last) =>
        mailbox.requests({ ...filter, limit, after: last?.id ?? filter.after }),
      );
      return format === 'har' ? createHar(requests, mailbox.baseUrl) : { requests };
    },
  }),
  defineControl({
    id: 'getRequest',
    method: 'GET',
    path: `${CONTROL_PATH}/requests/{id}`,
    summary: 'Shows one request.',
    takesSandbox: true,
    params: z.object({ id: z.string().describe('The id of a request.') }),
    reply: requestReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, { params }) => mailbox.request(params.id),
  }),
  defineControl({
    id: 'clearRequests',
    method: 'DELETE',
    path: `${CONTROL_PATH}/requests`,
    summary: 'Removes every request from the journal.',
    takesSandbox: true,
    reply: clearedRequestsReply,
    run(mailbox) {
      mailbox.clearRequests();
      return { requests: mailbox.requests() };
    },
  }),
  defineControl({
    id: 'restoreRequests',
    method: 'POST',
    path: `${CONTROL_PATH}/requests/restore`,
    summary: 'Brings back the requests that the latest DELETE of all requests has removed.',
    takesSandbox: true,
    reply: clearedRequestsReply,
    run(mailbox) {
      mailbox.restoreRequests();
      return { requests: mailbox.requests() };
    },
  }),
  defineControl({
    id: 'readFeed',
    method: 'GET',
    path: `${CONTROL_PATH}/feed`,
    summary: 'Streams what happens in the emulator, as server-sent events.',
    takesSandbox: true,
    content: 'text/event-stream',
    query: z.strictObject({ follow: queryFlag.optional(), lastEventId: z.string().optional() }),
    reply: feedEventReply,
    run: (mailbox, { query, headers }) =>
      mailbox.feed({ ...query, lastEventId: headers.get('last-event-id') ?? query.lastEventId }),
  }),
  defineControl({
    id: 'settle',
    method: 'POST',
    path: `${CONTROL_PATH}/settle`,
    summary: 'Waits until no work is due or running.',
    takesSandbox: true,
    body: settledOptions,
    reply: settledReply,
    errors: ['CONFLICT'],
    async run(mailbox, { body }) {
      return { settled: true as const, ...(await mailbox.settled(body)) };
    },
  }),
];

/** How many items of a long list are made at a time. */
const PART_SIZE = 500;

/** Returns a list that is read in parts, each with at most `size` items behind the last one. */
function inParts<Item>(
  limit = Number.POSITIVE_INFINITY,
  read: (size: number, done: number, last: Item | undefined) => Item[],
): Item[] {
  return lazyList(function* () {
    let last: Item | undefined;
    for (let done = 0; done < limit; ) {
      const size = Math.min(PART_SIZE, limit - done);
      const part = read(size, done, last);
      yield* part;
      if (part.length < size) return;
      done += size;
      last = part.at(-1);
    }
  });
}

function showBehaviour(id: BehaviourId, values: BehaviourValues) {
  const entry: BehaviourDefinition = BEHAVIOURS[id];
  return 'choices' in entry ? { id, ...entry, value: values[id as ChangeableId] } : { id, ...entry };
}

function showSandbox({ id, name, domain, keys, ids }: SandboxSummary): SandboxSummary {
  return { id, name, domain, keys, ids };
}

function showClock({ clock }: ControllableMailbox, tenantId: string | undefined) {
  const options = { tenant: tenantId };
  return { now: clock.now(options).toISOString(), frozen: clock.isFrozen(options) };
}
