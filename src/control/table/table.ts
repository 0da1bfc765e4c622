import { z } from 'zod';
import { fromBase64 } from '../../basics/base64.ts';
import { inParts } from '../../basics/json-pieces.ts';
import { MAX_MAIL_BYTES } from '../../basics/size.ts';
import { VERSION } from '../../basics/version.ts';
import { ApiError } from '../../contract/errors.ts';
import { EVENT_KINDS } from '../../contract/events.ts';
import { composedMessage, rawMessage } from '../../contract/incoming-message.ts';
import { queryFlag } from '../../contract/query.ts';
import { deliveryFilter } from '../../service/delivery/delivery.ts';
import {
  anyCorrespondent,
  type CorrespondentOptions,
  correspondentBody,
} from '../../service/mail/correspondents/correspondent.ts';
import { inlineImages } from '../../service/mail/html.ts';
import type { Mail } from '../../service/mail/show-mail.ts';
import { durationField } from '../../world/clock.ts';
import { anyFault, faultOptions } from '../../world/fault.ts';
import { tenantField } from '../../world/target-fields.ts';
import { addedWebhook } from '../add-webhook.ts';
import { type BehaviourChanges, behaviourChanges, showBehaviours } from '../behaviour-controls.ts';
import type { ControllableMailbox } from '../controllable-mailbox.ts';
import { redeliverOptions, releaseOptions } from '../delivery-controls.ts';
import { createHar } from '../journal/har.ts';
import { mailQuery, waitQuery } from '../journal/mail-filter.ts';
import { draftFilter, draftsReply, mailSearchQuery, mailSelection } from '../journal/mail-search.ts';
import type { RequestEntry } from '../journal/request-entry.ts';
import { requestQuery } from '../journal/request-filter.ts';
import { exposuresReply, keyFilter } from '../key-controls.ts';
import { MOMENT_RULE, parseMoment } from '../mailbox-clock.ts';
import { samplesReply, showSamples } from '../samples/delivered-samples.ts';
import { incomingSample } from '../samples/incoming-sample.ts';
import { addBaseUrlToSample } from '../samples/receive-sample.ts';
import { type SandboxOptions, type SandboxSummary, sandboxOptions } from '../sandbox.ts';
import { settledOptions } from '../settled.ts';
import { checkpointName, checkpointOptions } from '../state/checkpoints.ts';
import { triggerOptions } from '../trigger.ts';
import { CONTROL_CALLS } from './calls.ts';
import { createControlOpenApi } from './describe-control.ts';
import * as replies from './replies.ts';
import { type ControlRow, createRows, defineControl, type OwnProcess } from './row.ts';

const tenant = tenantField().optional();

/** The time for `freeze`: a moment, or true for the current time. */
const moment = z
  .union([z.literal(true), z.string()], `must be true or ${MOMENT_RULE}`)
  .refine((at) => at === true || parseMoment(at) !== undefined, `must be true or ${MOMENT_RULE}`);

const clockChange = z
  .strictObject({
    freeze: moment.optional(),
    advance: durationField().optional(),
    resume: z.literal(true, 'must be true').optional(),
    tenant,
  })
  .refine(
    ({ tenant: _, ...changes }) => Object.keys(changes).length === 1,
    'must have one of freeze, advance and resume',
  );

const idOf = (noun: string) => z.object({ id: z.string().describe(`The id of a ${noun}.`) });

const checkpoint = z.object({ name: checkpointName() });

/** The elements that can make a browser connect to a server although the policy of the page forbids every request. */
const CONNECTING_ELEMENT = /<(?=(?:link|meta|i?frame|object|embed|portal)[\s/>])/gi;

/** Returns the page that shows a mail: its HTML with the images that it contains, or else its text. */
function pageOf(
  mailbox: ControllableMailbox,
  { id, htmlBody, plainBody }: Pick<Mail, 'id' | 'htmlBody' | 'plainBody'>,
) {
  if (htmlBody) return inlineImages(htmlBody, mailbox.mailSource(id)).replace(CONNECTING_ELEMENT, '<x-');
  return htmlBody ?? `<!doctype html><pre>${plainBody.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</pre>`;
}

/** The control calls by id: the schemas of each, and what it does. */
export const CONTROL_ROWS = {
  listControlCalls: defineControl('Lists the control calls.', {
    takesNoSandbox: true,
    reply: replies.callsReply,
    replyNeverChanges: true,
    run: () => ({ calls: CONTROL_TABLE.map(({ method, path, summary }) => ({ method, path, summary })) }),
  }),
  getControlHealth: defineControl('Shows that the emulator is running, its version, its URL and its mail ports.', {
    takesNoSandbox: true,
    reply: replies.healthReply,
    run: (mailbox, input) => ({ status: 'ok' as const, version: VERSION, ...showProcess(mailbox, input) }),
  }),
  getReadiness: defineControl('Shows that the emulator was not told to end. It needs no token.', {
    takesNoSandbox: true,
    reply: replies.readyReply,
    errors: ['SERVER_UNAVAILABLE'],
    run(_mailbox, input) {
      refuseAtEnd(input);
      return { ready: true as const };
    },
  }),
  getControlOpenApi: defineControl('Shows the OpenAPI 3.1 document of the control calls.', {
    takesNoSandbox: true,
    reply: replies.openApiReply,
    replyNeverChanges: true,
    run: () => createControlOpenApi(CONTROL_TABLE),
  }),
  getPythonClient: defineControl('Sends a client of the control calls for Python: one file, without packages.', {
    takesNoSandbox: true,
    content: 'text/x-python',
    reply: z.string(),
    replyNeverChanges: true,
    // Few tests are in Python, so it is loaded for the first one.
    run: async () => (await import('./python-client.ts')).writePythonClient(CONTROL_TABLE),
  }),
  getOpenApi: defineControl('Shows the OpenAPI 3.1 document of the emulated service.', {
    takesNoSandbox: true,
    reply: replies.openApiReply,
    run: (mailbox) => mailbox.openApi(),
  }),
  getAsyncApi: defineControl('Shows the AsyncAPI 3.0 document of the event streams.', {
    takesNoSandbox: true,
    reply: replies.asyncApiReply,
    run: async ({ behaviours }) =>
      (await import('../../contract/openapi/create-asyncapi.ts')).createAsyncApi(behaviours),
  }),
  listBehaviours: defineControl(
    'Lists every behaviour with its possible values, its current value, and where that comes from.',
    {
      takesNoSandbox: true,
      reply: replies.behavioursReply,
      run: ({ behaviours }, _, { behaviourStates }) => ({ behaviours: showBehaviours(behaviours, behaviourStates()) }),
    },
  ),
  changeBehaviours: defineControl(
    'Changes behaviours while the mailbox runs, by their ids; null returns one to its value at the start.',
    {
      takesNoSandbox: true,
      bodyCheckedByMailbox: behaviourChanges(),
      reply: replies.behavioursReply,
      run({ behaviours }, { body }, { changeBehaviours, behaviourStates }) {
        changeBehaviours(body as BehaviourChanges);
        return { behaviours: showBehaviours(behaviours, behaviourStates()) };
      },
    },
  ),
  reset: defineControl('Restores the initial state.', {
    reply: replies.resetReply,
    run(mailbox) {
      mailbox.reset();
      return { reset: true as const };
    },
  }),
  exportState: defineControl('Shows all data as a fixture, which loads again to the same data.', {
    reply: z.strictObject({ operator: replies.item.optional(), tenants: z.record(z.string(), replies.item) }),
    run: (mailbox) =>
      mailbox.export() as { operator?: Record<string, unknown>; tenants: Record<string, Record<string, unknown>> },
  }),
  listCheckpoints: defineControl('Lists the checkpoints, oldest first.', {
    reply: z.strictObject({ checkpoints: z.array(replies.checkpointReply) }),
    run: (mailbox) => ({ checkpoints: mailbox.checkpoints() }),
  }),
  addCheckpoint: defineControl('Saves the present state under a name.', {
    bodyCheckedByMailbox: checkpointOptions(),
    reply: replies.checkpointReply,
    errors: ['CONFLICT'],
    run: (mailbox, { body }) => mailbox.checkpoint(body.name),
  }),
  restoreCheckpoint: defineControl('Restores the state of a checkpoint.', {
    params: checkpoint,
    reply: replies.checkpointReply,
    run: (mailbox, { params }) => mailbox.restore(params.name),
  }),
  removeCheckpoint: defineControl('Removes a checkpoint.', {
    params: checkpoint,
    reply: replies.checkpointReply,
    run: (mailbox, { params }) => mailbox.removeCheckpoint(params.name),
  }),
  diffCheckpoints: defineControl('Shows what differs between two checkpoints; `now` is the present state.', {
    params: z.object({ from: checkpointName(), to: checkpointName() }),
    reply: replies.diffReply,
    run: (mailbox, { params }) => mailbox.diff(params.from, params.to),
  }),
  listCorrespondents: defineControl('Lists the correspondents, oldest first.', {
    reply: replies.correspondentsReply,
    run: (mailbox) => ({ correspondents: mailbox.correspondents() }),
  }),
  addCorrespondent: defineControl('Adds somebody who answers the mail to an address.', {
    bodyCheckedByMailbox: correspondentBody(),
    reply: anyCorrespondent(),
    errors: ['CONFLICT'],
    run: (mailbox, { body }) => mailbox.addCorrespondent(body as CorrespondentOptions),
  }),
  clearCorrespondents: defineControl('Removes every correspondent.', {
    reply: replies.correspondentsReply,
    run(mailbox) {
      mailbox.clearCorrespondents();
      return { correspondents: mailbox.correspondents() };
    },
  }),
  removeCorrespondent: defineControl('Removes one correspondent.', {
    params: idOf('correspondent'),
    reply: anyCorrespondent(),
    run: (mailbox, { params }) => mailbox.removeCorrespondent(params.id),
  }),
  listSandboxes: defineControl('Lists the sandboxes. The one that has been unused for the longest time comes first.', {
    takesNoSandbox: true,
    reply: replies.sandboxesReply,
    run(mailbox, input, { sandboxes }) {
      const own = showProcess(mailbox, input);
      return { ...own, sandboxes: sandboxes().map((each) => ({ ...showSandbox(each), ...own })) };
    },
  }),
  createSandbox: defineControl('Creates a sandbox: a copy of a tenant with keys, ids and a domain of its own.', {
    // The method that `run` calls checks this body, so a call over HTTP gets the same errors as a call in code. Here
    // the schema is only for types and the OpenAPI document.
    bodyCheckedByMailbox: sandboxOptions(),
    maxBodyBytes: 2 * MAX_MAIL_BYTES,
    takesNoSandbox: true,
    reply: replies.sandboxReply,
    errors: ['CONFLICT', 'STORAGE_FULL', 'SERVER_UNAVAILABLE'],
    run(mailbox, input, { createSandbox }) {
      refuseAtEnd(input);
      return { ...showSandbox(createSandbox(input.body as SandboxOptions)), ...showProcess(mailbox, input) };
    },
  }),
  getSandbox: defineControl('Shows one sandbox.', {
    params: idOf('sandbox'),
    takesNoSandbox: true,
    reply: replies.sandboxReply,
    errors: ['NOT_FOUND'],
    run: (mailbox, input, { sandbox }) => ({
      ...showSandbox(sandbox(input.params.id)),
      ...showProcess(mailbox, input),
    }),
  }),
  closeSandbox: defineControl('Closes one sandbox: its keys become invalid, and its streams and deliveries end.', {
    params: idOf('sandbox'),
    takesNoSandbox: true,
    reply: replies.sandboxReply,
    errors: ['NOT_FOUND'],
    run(mailbox, input, { sandbox }) {
      const closed = sandbox(input.params.id);
      closed.close();
      return { ...showSandbox(closed), ...showProcess(mailbox, input) };
    },
  }),
  getClock: defineControl('Shows the time, and whether it is frozen.', {
    query: z.strictObject({ tenant }),
    reply: replies.clockReply,
    run: (mailbox, { query }) => showClock(mailbox, query.tenant),
  }),
  changeClock: defineControl('Freezes, advances or resumes the clock.', {
    body: clockChange,
    reply: replies.clockReply,
    async run(mailbox, { body }) {
      const { clock } = mailbox;
      const options = { tenant: body.tenant };
      if (body.freeze !== undefined) clock.freeze(body.freeze === true ? undefined : body.freeze, options);
      if (body.advance !== undefined) await clock.advance(body.advance, options);
      if (body.resume) clock.resume(options);
      return showClock(mailbox, body.tenant);
    },
  }),
  receiveMessage: defineControl(
    'Delivers an inbound mail, given as separate fields, as raw text (RFC 5322) or as a sample.',
    {
      bodyCheckedByMailbox: z.union([composedMessage(), rawMessage(), incomingSample()]),
      maxBodyBytes: 2 * MAX_MAIL_BYTES,
      reply: replies.receivedMessagesReply,
      errors: ['STORAGE_FULL'],
      run: async (mailbox, { body, headers }) => ({
        messages: await mailbox.receiveMessage(addBaseUrlToSample(body, headers.get('host'))),
      }),
    },
  ),
  listSamples: defineControl(
    'Lists the latest 20 samples that each tenant, or the sandbox, got since the start, a reset or a restore, oldest ' +
      'first, with what the agent did.',
    { reply: samplesReply, run: (mailbox) => ({ samples: showSamples(mailbox) }) },
  ),
  listMail: defineControl(
    'Lists the mail that arrived or was sent since the emulator started or was reset, oldest first. The messages ' +
      'of the fixture are not listed.',
    {
      query: mailQuery(),
      reply: replies.mailListReply,
      run: (mailbox, { query }) => ({ messages: mailbox.messages(query) }),
    },
  ),
  clearMail: defineControl('Removes the mail that a search with the same fields finds, for good.', {
    query: mailSelection(),
    reply: replies.removedReply,
    run: (mailbox, { query }) => ({ removed: mailbox.clearMail(query) }),
  }),
  waitForMessage: defineControl('Waits for a mail and shows it.', {
    query: waitQuery(),
    reply: replies.mailReply,
    errors: ['CONFLICT'],
    run: (mailbox, { query }) => mailbox.waitForMessage(query),
  }),
  listTenants: defineControl(
    'Lists the tenants and sandboxes, with their workspaces, inboxes and numbers of messages.',
    { reply: replies.tenantsReply, run: (mailbox) => ({ tenants: mailbox.tenants() }) },
  ),
  searchMail: defineControl('Searches all mail, that of the fixture too, newest first.', {
    query: mailSearchQuery(),
    reply: replies.pageReply,
    run: (mailbox, { query }) => mailbox.searchMail(query),
  }),
  listDrafts: defineControl('Lists the drafts of all inboxes; the one that was changed last comes first.', {
    query: draftFilter(),
    reply: draftsReply(),
    run: (mailbox, { query }) => mailbox.drafts(query),
  }),
  getLatestMailHtml: defineControl(
    'Shows the HTML of the newest mail since the start that matches, or waits for it, for browser tests.',
    {
      content: 'text/html',
      query: waitQuery(),
      reply: z.string(),
      errors: ['CONFLICT'],
      run: async (mailbox, { query }) => pageOf(mailbox, await mailbox.waitForMessage(query)),
    },
  ),
  getMailHtml: defineControl('Shows the HTML of a mail and nothing else. No script runs, and nothing is loaded.', {
    content: 'text/html',
    params: idOf('message'),
    reply: z.string(),
    run: (mailbox, { params }) => pageOf(mailbox, mailbox.mail(params.id)),
  }),
  getMail: defineControl('Shows a mail with everything that is known about it. It does not become read.', {
    params: idOf('message'),
    reply: replies.detailsReply,
    run: (mailbox, { params }) => mailbox.mail(params.id),
  }),
  removeMail: defineControl('Removes a mail for good, with its files.', {
    params: idOf('message'),
    reply: replies.removedReply,
    run(mailbox, { params }) {
      mailbox.removeMail(params.id);
      return { removed: 1 };
    },
  }),
  getMailSource: defineControl('Sends a mail as RFC 5322, to be saved as a file.', {
    content: 'application/octet-stream',
    params: idOf('message'),
    reply: replies.fileReply,
    run: (mailbox, { params: { id } }) => ({ filename: `${id}.eml`, content: mailbox.mailSource(id) }),
  }),
  getMailFile: defineControl('Sends a file of a mail, to be saved as a file.', {
    content: 'application/octet-stream',
    params: idOf('message').extend({ fileId: z.string().describe('The id of a file of the message.') }),
    reply: replies.fileReply,
    run(mailbox, { params: { id, fileId } }) {
      const { filename, content } = mailbox.mailFile(id, fileId);
      return { filename, content: fromBase64(content) };
    },
  }),
  triggerEvent: defineControl('Triggers an event and shows the deliveries that it created.', {
    bodyCheckedByMailbox: triggerOptions().extend({ event: z.enum(EVENT_KINDS) }),
    reply: replies.affectedDeliveriesReply,
    run: (mailbox, { body: { event, ...options } }) => ({ deliveries: mailbox.trigger(event, options) }),
  }),
  listDeliveries: defineControl(
    'Lists deliveries, oldest first, with each attempt, and counts those that were removed because the log was full.',
    {
      query: deliveryFilter(),
      reply: replies.deliveriesReply,
      run: (mailbox, { query }) => ({ deliveries: mailbox.deliveries(query), losses: mailbox.losses(query) }),
    },
  ),
  getDelivery: defineControl('Shows one delivery.', {
    params: idOf('delivery'),
    reply: replies.deliveryReply,
    run: (mailbox, { params }) => mailbox.delivery(params.id),
  }),
  redeliver: defineControl('Sends a delivery again, immediately, or once to another URL.', {
    params: idOf('delivery'),
    bodyCheckedByMailbox: redeliverOptions(),
    reply: replies.deliveryReply,
    errors: ['CONFLICT'],
    run: (mailbox, { params, body }) => mailbox.redeliver(params.id, body),
  }),
  releaseDeliveries: defineControl('Sends deliveries that a fault has held back.', {
    bodyCheckedByMailbox: releaseOptions(),
    reply: replies.affectedDeliveriesReply,
    run: (mailbox, { body }) => ({ deliveries: mailbox.release(body) }),
  }),
  listWebhookSettings: defineControl('Lists every webhook with its secret.', {
    reply: z.strictObject({ webhooks: z.array(replies.webhookReply) }),
    run: (mailbox) => ({ webhooks: mailbox.webhooks() }),
  }),
  addWebhook: defineControl('Adds a webhook, and shows it with its secret.', {
    bodyCheckedByMailbox: addedWebhook(),
    reply: replies.webhookReply,
    run: (mailbox, { body }) => mailbox.addWebhook(body),
  }),
  listKeys: defineControl(
    'Lists the valid keys, or only the given key, each with everything that a leak of it would expose.',
    {
      query: keyFilter().extend({ key: z.string().describe('The full text of a key.').optional() }),
      reply: exposuresReply(),
      run: (mailbox, { query: { key, ...filter } }) => ({
        keys:
          key === undefined
            ? inParts(filter.limit, (limit, done) =>
                mailbox.exposures({ ...filter, limit, offset: (filter.offset ?? 0) + done }),
              )
            : [mailbox.exposure(key)],
      }),
    },
  ),
  rotateKey: defineControl(
    'Replaces a key of a tenant, workspace or inbox, and closes the streams that the old key opened.',
    {
      params: z.object({ id: z.string().describe('The id of a key, as GET /__mock/keys shows it.') }),
      reply: z.strictObject({ id: z.string(), key: z.string().describe('The whole new key.') }),
      run: (mailbox, { params }) => mailbox.rotateKey(params.id),
    },
  ),
  listFaults: defineControl('Lists the faults that still apply.', {
    reply: replies.faultsReply,
    run: (mailbox) => ({ faults: mailbox.faults() }),
  }),
  addFault: defineControl('Adds a fault of requests, deliveries, streams, SMTP or IMAP.', {
    bodyCheckedByMailbox: faultOptions(),
    reply: anyFault(),
    run: (mailbox, { body }) => mailbox.addFault(body),
  }),
  clearFaults: defineControl('Removes every fault.', {
    reply: replies.faultsReply,
    run(mailbox) {
      mailbox.clearFaults();
      return { faults: mailbox.faults() };
    },
  }),
  removeFault: defineControl('Removes one fault.', {
    params: z.object({ id: z.string() }),
    reply: anyFault(),
    run: (mailbox, { params }) => mailbox.removeFault(params.id),
  }),
  listRequests: defineControl(
    'Lists the requests that the service has handled, oldest first; also as a HAR document.',
    {
      query: requestQuery(),
      reply: replies.requestsReply,
      run(mailbox, { query: { format, ...filter } }) {
        const requests = inParts<RequestEntry>(filter.limit, (limit, _, last) =>
          mailbox.requests({ ...filter, limit, after: last?.id ?? filter.after }),
        );
        return format === 'har' ? createHar(requests, mailbox.baseUrl) : { requests };
      },
    },
  ),
  getRequest: defineControl('Shows one request.', {
    params: idOf('request'),
    reply: replies.requestReply,
    run: (mailbox, { params }) => mailbox.request(params.id),
  }),
  clearRequests: defineControl('Removes every request from the journal.', {
    reply: replies.clearedRequestsReply,
    run(mailbox) {
      mailbox.clearRequests();
      return { requests: mailbox.requests() };
    },
  }),
  restoreRequests: defineControl('Brings back the requests that the latest DELETE of all requests has removed.', {
    reply: replies.clearedRequestsReply,
    run(mailbox) {
      mailbox.restoreRequests();
      return { requests: mailbox.requests() };
    },
  }),
  readFeed: defineControl('Streams what happens in the emulator, as server-sent events.', {
    content: 'text/event-stream',
    query: z.strictObject({ follow: queryFlag().optional(), lastEventId: z.string().optional() }),
    reply: replies.feedEventReply,
    run: (mailbox, { query, headers }) =>
      mailbox.feed({ ...query, lastEventId: headers.get('last-event-id') ?? query.lastEventId }),
  }),
  settle: defineControl('Waits until no work is due or running.', {
    body: settledOptions(),
    reply: replies.settledReply,
    errors: ['CONFLICT'],
    async run(mailbox, { body }) {
      return { settled: true as const, ...(await mailbox.settled(body)) };
    },
  }),
};

/** The control calls, over HTTP. */
export const CONTROL_TABLE: readonly ControlRow[] = createRows(CONTROL_CALLS, CONTROL_ROWS);

function showSandbox({ id, name, domain, keys, ids }: SandboxSummary): SandboxSummary {
  return { id, name, domain, keys, ids };
}

/** Names the process that answers: its URL, and the ports of its servers for mail. */
function showProcess({ mailServers }: ControllableMailbox, { process }: { readonly process: Required<OwnProcess> }) {
  const { smtp, imap } = mailServers;
  const ports = { ...(smtp && { smtp: { port: smtp.port } }), ...(imap && { imap: { port: imap.port } }) };
  return { url: String(process.publicUrl), ...ports };
}

/** A sandbox that a process made at its end would be lost, or at least not be there for its test. */
function refuseAtEnd({ process }: { readonly process: OwnProcess }): void {
  if (process.isEnding) throw new ApiError('SERVER_UNAVAILABLE', 'This server is about to end.');
}

function showClock({ clock }: ControllableMailbox, tenantId: string | undefined) {
  const options = { tenant: tenantId };
  return { now: clock.now(options).toISOString(), frozen: clock.isFrozen(options) };
}
