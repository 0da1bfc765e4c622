import { formsOf, type OpenApiOperation, operationsIn } from '../../contract/openapi/document.ts';
import type { ControlClient } from '../../control/table/client.ts';
import { fieldNamesOf } from '../../control/table/control-openapi.ts';
import type { ControlRow } from '../../control/table/row.ts';
import { CONTROL_ROWS } from '../../control/table/table.ts';
import type { Mask } from '../../world/secrets/mask.ts';
import { ABOUT_MAIL, findUnknownArgument, type Offer } from './protocol.ts';

type CallId =
  | 'createSandbox'
  | 'receiveMessage'
  | 'waitForMessage'
  | 'getMail'
  | 'explainMail'
  | 'listDeliveries'
  | 'listRequests';

/** A tool of the Model Context Protocol. It makes a control call and shows a part of the reply. */
interface Tool {
  readonly call: CallId | 'addFault' | 'changeClock';
  /** A sentence for the description of the tool. It follows the summary of the control call. */
  readonly help?: string;
  /** The list in the reply that is shown. The last item is the newest. Default: the whole reply is shown. */
  readonly list?: string;
  /** The fields that are shown of each item or, without a list, of the reply. Default: all fields. */
  readonly fields?: readonly string[];
  /** Whether the reply contains texts of a mail. */
  readonly hasMail?: true;
  /** Whether API keys in the reply are shown in full. The keys of a sandbox are fake, and the caller needs them. */
  readonly showsKeys?: true;
}

const MAIL_FIELDS = ['id', 'from', 'to', 'cc', 'subject', 'plainBody', 'receivedAt', 'direction', 'threadId'];

/** The tools by name. Their parameters and the rest of their descriptions come from the table of control calls. */
const TOOLS: Readonly<Record<string, Tool>> = {
  create_sandbox: { call: 'createSandbox', help: 'It has keys and addresses of its own.', showsKeys: true },
  deliver_mail: { call: 'receiveMessage', help: 'With `sample`, it delivers a sample by its name instead.' },
  wait_for_mail: { call: 'waitForMessage', hasMail: true, fields: MAIL_FIELDS },
  read_mail: { call: 'getMail', hasMail: true, fields: [...MAIL_FIELDS, 'headers', 'files', 'links', 'isRead'] },
  show_deliveries: {
    call: 'listDeliveries',
    help: 'Each attempt says what the receiver answered, or why it could not be called.',
    list: 'deliveries',
    fields: ['id', 'webhookId', 'event', 'state', 'reason', 'nextAttemptAt', 'attempts.url,status,error'],
  },
  explain_requests: {
    call: 'listRequests',
    help: 'The field `reason` says why a request was refused, also what the reply does not reveal.',
    list: 'requests',
    fields: ['id', 'at', 'method', 'path', 'key', 'principal', 'status', 'code', 'reason', 'ignored', 'faults'],
  },
  explain_mail: {
    call: 'explainMail',
    help: 'It says why an agent did not answer.',
    hasMail: true,
    fields: ['lines', 'sent'],
  },
  set_fault: { call: 'addFault' },
  move_clock: { call: 'changeClock', help: 'Everything that is due until the new time happens.' },
};

/** Offers control calls as tools. `url` is the URL of the emulator; `mask` hides secrets in results. */
export function offerControl(url: string, client: ControlClient, mask: Mask): Offer {
  return {
    instructions: `Controls a local emulator of an Agent Mailbox Service at ${url}. Nothing leaves this machine.`,
    listTools: () => describeTools(client),
    callTool(name, given) {
      const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
      const problem = tool && findUnknownArgument(name, given, argumentsOf(tool));
      if (problem !== undefined) return Promise.resolve({ content: [{ type: 'text', text: problem }], isError: true });
      // A refused call is a result and not an error of the protocol, so that the language model sees the reason.
      return (
        tool &&
        callTool(client, mask, tool, given).then(
          (text) => ({ content: [{ type: 'text', text }] }),
          ({ message }: Error) => ({ content: [{ type: 'text', text: mask.text(message) }], isError: true }),
        )
      );
    },
    resources: {
      list: () => RESOURCES.map(([name, description]) => ({ uri: url + name, name, description, mimeType: JSON_TYPE })),
      read(uri) {
        const found = RESOURCES.find(([path]) => url + path === uri);
        return found && client[found[2]]().then((text) => ({ uri, mimeType: JSON_TYPE, text: JSON.stringify(text) }));
      },
    },
  };
}

const JSON_TYPE = 'application/json';

const RESOURCES = [
  ['/__mock/control.json', 'All control calls, in OpenAPI 3.1', 'getControlOpenApi'],
  ['/__mock/openapi.json', 'The API of the service, in OpenAPI 3.1', 'getOpenApi'],
] as const;

/** How many items of a list are shown, and how many characters of a result. */
const MAX_ITEMS = 20;
const MAX_CHARACTERS = 12_000;

/** Makes the control call of a tool, in a sandbox if one is given. Returns a short text in which secrets are masked. */
async function callTool(client: ControlClient, mask: Mask, tool: Tool, { sandbox, ...input }: Fields): Promise<string> {
  const call = client[tool.call] as (input: object, options: object) => Promise<Fields>;
  const reply = await call(input, { sandbox });
  const items = tool.list === undefined ? undefined : (reply[tool.list] as readonly Fields[]);
  const shown = items ? items.slice(-MAX_ITEMS).map((item) => pick(item, tool.fields)) : pick(reply, tool.fields);
  const masked = JSON.stringify(tool.showsKeys ? shown : mask.deep(shown), null, 1);
  return [
    ...(tool.hasMail ? [ABOUT_MAIL] : []),
    ...(items && items.length > MAX_ITEMS ? [`The last ${MAX_ITEMS} of ${items.length}:`] : []),
    masked.length > MAX_CHARACTERS ? `${masked.slice(0, MAX_CHARACTERS)}… (${masked.length} characters)` : masked,
  ].join('\n');
}

/** Describes the tools. Their summaries and schemas come from the OpenAPI document of the emulator's control calls. */
async function describeTools(client: ControlClient): Promise<Fields[]> {
  const calls = operationsIn(await client.getControlOpenApi());
  return Object.entries(TOOLS).map(([name, { call, help }]) => {
    const operation = calls.find((each) => each.operation.operationId === call)?.operation;
    const description = [operation?.summary, help].filter(Boolean).join(' ');
    return { name, description, inputSchema: inputSchemaOf(operation) };
  });
}

/** Returns the names of the arguments of a tool: the parameters, and the fields of all forms of the body. */
function argumentsOf({ call }: Tool): readonly string[] {
  const row: ControlRow = CONTROL_ROWS[call];
  return [...Object.keys(row.params?.shape ?? {}), ...fieldNamesOf(row)];
}

/** Returns one schema for the parameters and the body of a call. The schema has the fields of all forms of the body. */
function inputSchemaOf({ parameters = [], requestBody }: Partial<OpenApiOperation> = {}): Fields {
  const forms = formsOf(requestBody?.content[JSON_TYPE]?.schema ?? {});
  const pathNames = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(parameters.map(({ name, schema, description }) => [name, { ...schema, description }])),
      ...Object.assign({}, ...forms.toReversed().map(({ properties }) => properties)),
    },
    additionalProperties: false,
    required: [...pathNames, ...(forms.length === 1 ? ((forms[0]?.required ?? []) as readonly string[]) : [])],
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns some fields of an object. The name `a.b,c` selects the fields `b` and `c` of each item of the list `a`. */
function pick(value: Fields, names: readonly string[] = Object.keys(value)): Fields {
  const entries = names.map((name) => {
    const [fieldName = '', itemFields] = name.split('.');
    const field = value[fieldName];
    const fields = itemFields?.split(',');
    return [fieldName, fields ? (field as readonly Fields[]).map((item) => pick(item, fields)) : field];
  });
  return Object.fromEntries(entries.filter(([, field]) => field !== undefined));
}
