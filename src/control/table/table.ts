import { z } from 'zod';
import { VERSION } from '../../basics/version.ts';
import { ApiError } from '../../contract/errors.ts';
import { MAX_MAIL_BYTES } from '../../contract/mail-limits.ts';
import { toJsonSchema } from '../../contract/openapi/document.ts';
import { behaviourChanges, showBehaviours } from '../behaviour-controls.ts';
import type { ControllableMailbox, SandboxSummary } from '../controllable-mailbox.ts';
import { sandboxOptions } from '../controllable-mailbox.ts';
import { traceLine } from '../trace.ts';
import { createControlOpenApi } from './control-openapi.ts';
import { MAIL_ROWS } from './mail-rows.ts';
import { CONTROL_ROUTES } from './routes.ts';
import { type ControlRow, createRows, defineControl, idInPath, type OwnProcess, object } from './row.ts';
import { STATE_ROWS } from './state-rows.ts';
import { TRAFFIC_ROWS } from './traffic-rows.ts';

const sharedFields = {
  id: z.string(),
  question: z.string().describe('What the service document leaves open, as a question.'),
  section: z.string().describe('The section of the service document.'),
  origin: z.enum(['document', 'reference', 'assumed']).describe('The source of the default or of the assumption.'),
  observableWith: z.string().describe('How a client can find out the answer for a running service, or why it cannot.'),
};

const changeableBehaviour = z.strictObject({
  ...sharedFields,
  choices: z.record(z.string(), z.string()).describe('Each possible value with its meaning.'),
  otherValues: z.strictObject({ rule: z.string() }).optional().describe('Further possible values.'),
  default: z.string(),
  value: z.string().describe('The current value.'),
  source: z.enum(['changed', 'option', 'profile', 'default']).describe('Where the current value comes from.'),
  start: z.string().describe('The value at the start, which a reset restores.'),
  isPinned: z.boolean().describe('Whether the profile of the mailbox sets it.'),
});

const assumption = z.strictObject({
  ...sharedFields,
  assumption: z.string().describe('What the emulator does.'),
  operations: z.array(z.string()).optional().describe('The operations that it is about, if it is about some only.'),
  fields: z.array(z.string()).optional().describe('The fields of a query or a body that it is about.'),
});

/** All behaviours, with their current values. */
const behavioursReply = z.strictObject({ behaviours: z.array(z.union([changeableBehaviour, assumption])) });

/** An OpenAPI 3.1 document. */
const openApiReply = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: object,
  servers: z.array(object),
  tags: z.array(object),
  paths: z.record(z.string(), z.record(z.string(), object)),
  webhooks: object.optional(),
  components: object,
});

/** An AsyncAPI 3.0 document. */
const asyncApiReply = z.strictObject({
  asyncapi: z.literal('3.0.0'),
  info: object,
  channels: object,
  operations: object,
  components: object,
});

const mailServer = z.strictObject({ port: z.int() }).optional();

/** The fields of a reply that describe the process that answers. */
const processFields = {
  url: z.string().describe('The URL at which clients call the process.'),
  smtp: mailServer,
  imap: mailServer,
};

const texts = z.record(z.string(), z.string());

/** A sandbox with what its clients need. */
const sandboxReply = z.strictObject({
  id: z.string().describe('Also the id of its tenant.'),
  name: z.string().nullable(),
  domain: z.string().describe("The domain of its addresses, instead of the fixture's first domain."),
  keys: z.strictObject({ tenant: z.string(), workspaces: texts, inboxes: texts }).describe('By handle.'),
  ids: z.strictObject({ tenant: z.string(), workspaces: texts, inboxes: texts, webhooks: texts }),
  logins: z
    .record(z.string(), z.strictObject({ user: z.string(), password: z.string() }))
    .describe('The logins of the inboxes for IMAP and SMTP, by handle.'),
  ...processFields,
});

/** The calls that are about the whole process, or the whole mailbox. */
const PROCESS_ROWS = {
  listControlCalls: defineControl(
    'Lists the control calls.',
    {
      takesSandbox: false,
      replyNeverChanges: true,
      reply: z.strictObject({
        calls: z.array(z.strictObject({ method: z.string(), path: z.string(), summary: z.string() })),
      }),
    },
    () => ({ calls: listControlRows().map(({ method, path, summary }) => ({ method, path, summary })) }),
  ),
  getControlOpenApi: defineControl(
    'Shows the OpenAPI 3.1 document of the control calls.',
    { takesSandbox: false, replyNeverChanges: true, reply: openApiReply },
    () => createControlOpenApi(listControlRows()),
  ),
  getTraceSchema: defineControl(
    'Shows the JSON Schema of a line of a trace.',
    { takesSandbox: false, replyNeverChanges: true, reply: object },
    () => toJsonSchema(traceLine(), 'output') as Readonly<Record<string, unknown>>,
  ),
  getFixtureSchema: defineControl(
    'Shows the JSON Schema of a fixture, for editors.',
    { takesSandbox: false, replyNeverChanges: true, reply: object },
    async () => (await import('../../fixture/json-schema.ts')).fixtureJsonSchema() as Readonly<Record<string, unknown>>,
  ),
  getScenarioSchema: defineControl(
    'Shows the JSON Schema of a file of scenarios, for editors; only a server has it.',
    { takesSandbox: false, replyNeverChanges: true, reply: object, errors: ['NOT_FOUND'] },
    async (_mailbox, { process }) => {
      if (process.readScenarioSchema) return process.readScenarioSchema();
      throw new ApiError('NOT_FOUND', 'Only a server has the JSON Schema of scenarios; start one.');
    },
  ),
  getPythonClient: defineControl(
    'Sends a client of the control calls for Python: one file, without packages.',
    { takesSandbox: false, replyNeverChanges: true, content: 'text/x-python', reply: z.string() },
    // The writer of the client is loaded when it is needed, because few tests need it.
    async () => (await import('./python-client.ts')).writePythonClient(createControlOpenApi(listControlRows())),
  ),
  getOpenApi: defineControl(
    'Shows the OpenAPI 3.1 document of the emulated service.',
    { takesSandbox: false, reply: openApiReply },
    (mailbox) => mailbox.openApi(),
  ),
  getAsyncApi: defineControl(
    'Shows the AsyncAPI 3.0 document of the event streams.',
    { takesSandbox: false, reply: asyncApiReply },
    async ({ behaviours }) => (await import('../../contract/openapi/create-asyncapi.ts')).createAsyncApi(behaviours),
  ),
  listBehaviours: defineControl(
    'Lists every behaviour with its possible values, its current value, and the source of this value.',
    { takesSandbox: false, reply: behavioursReply },
    ({ behaviours }, _, { behaviourStates }) => ({ behaviours: showBehaviours(behaviours, behaviourStates()) }),
  ),
  changeBehaviours: defineControl(
    'Changes behaviours, by their ids, while the mailbox runs; null restores the value at the start.',
    { takesSandbox: false, body: behaviourChanges(), reply: behavioursReply },
    ({ behaviours }, { body }, { changeBehaviours, behaviourStates }) => {
      changeBehaviours(body);
      return { behaviours: showBehaviours(behaviours, behaviourStates()) };
    },
  ),
  getControlHealth: defineControl(
    'Shows that the emulator is running, its version, its URL and its mail ports.',
    { takesSandbox: false, reply: z.strictObject({ status: z.literal('ok'), version: z.string(), ...processFields }) },
    (mailbox, input) => ({ status: 'ok' as const, version: VERSION, ...showProcess(mailbox, input) }),
  ),
  getReadiness: defineControl(
    'Shows that the emulator has not begun to end. This call needs no token.',
    { takesSandbox: false, reply: z.strictObject({ ready: z.literal(true) }), errors: ['SERVER_UNAVAILABLE'] },
    (_mailbox, input) => {
      refuseIfEnding(input);
      return { ready: true as const };
    },
  ),
  listSandboxes: defineControl(
    'Lists the sandboxes; the sandbox that was used least recently comes first.',
    { takesSandbox: false, reply: z.strictObject({ ...processFields, sandboxes: z.array(sandboxReply) }) },
    (mailbox, input, { sandboxes }) => {
      const shownProcess = showProcess(mailbox, input);
      return { ...shownProcess, sandboxes: sandboxes().map((each) => ({ ...showSandbox(each), ...shownProcess })) };
    },
  ),
  createSandbox: defineControl(
    'Creates a sandbox: a copy of a tenant with keys, ids and a domain of its own.',
    {
      takesSandbox: false,
      body: sandboxOptions(),
      maxBodyBytes: 2 * MAX_MAIL_BYTES,
      reply: sandboxReply,
      errors: ['CONFLICT', 'STORAGE_FULL', 'SERVER_UNAVAILABLE'],
    },
    (mailbox, input, { createSandbox }) => {
      refuseIfEnding(input);
      return { ...showSandbox(createSandbox(input.body)), ...showProcess(mailbox, input) };
    },
  ),
  getSandbox: defineControl(
    'Shows one sandbox.',
    { takesSandbox: false, params: idInPath('sandbox'), reply: sandboxReply, errors: ['NOT_FOUND'] },
    (mailbox, input, { sandbox }) => ({ ...showSandbox(sandbox(input.params.id)), ...showProcess(mailbox, input) }),
  ),
  closeSandbox: defineControl(
    'Closes one sandbox: its keys become invalid, and its streams and deliveries end.',
    { takesSandbox: false, params: idInPath('sandbox'), reply: sandboxReply, errors: ['NOT_FOUND'] },
    (mailbox, input, { sandbox }) => {
      const closed = sandbox(input.params.id);
      closed.close();
      return { ...showSandbox(closed), ...showProcess(mailbox, input) };
    },
  ),
};

/** The control calls, by id: what each takes and replies, and what it does. */
export const CONTROL_ROWS = createRows(CONTROL_ROUTES, {
  ...PROCESS_ROWS,
  ...STATE_ROWS,
  ...MAIL_ROWS,
  ...TRAFFIC_ROWS,
});

/** Returns the rows of all control calls, in the order in which they are documented. */
export function listControlRows(): readonly ControlRow[] {
  return Object.values<ControlRow>(CONTROL_ROWS);
}

function showSandbox({ id, name, domain, keys, ids, logins }: SandboxSummary): SandboxSummary {
  return { id, name, domain, keys, ids, logins };
}

/** Returns the URL of the process that answers, and the ports of its servers for mail. */
function showProcess({ mailServers }: ControllableMailbox, { process }: { readonly process: Required<OwnProcess> }) {
  const { smtp, imap } = mailServers;
  const ports = { ...(smtp && { smtp: { port: smtp.port } }), ...(imap && { imap: { port: imap.port } }) };
  return { url: String(process.publicUrl), ...ports };
}

/** Throws if the process has begun to end, because a test would lose a sandbox that is created now. */
function refuseIfEnding({ process }: { readonly process: OwnProcess }): void {
  if (process.isEnding) throw new ApiError('SERVER_UNAVAILABLE', 'This server is about to end.');
}
