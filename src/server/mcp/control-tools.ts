import {
  formsOf,
  type Json,
  type OpenApiOperation,
  operationsIn,
  toJsonSchema,
} from '../../contract/openapi/document.ts';
import type { ControlClient } from '../../control/table/client.ts';
import { fieldNamesOf } from '../../control/table/control-openapi.ts';
import type { ControlRow } from '../../control/table/row.ts';
import { CONTROL_ROWS } from '../../control/table/table.ts';
import type { Mask } from '../../world/secrets/mask.ts';
import { ABOUT_MAIL, findUnknownArgument, type Offer, toOutputSchema } from './protocol.ts';

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
  wait_for_mail: { call: 'waitForMessage', hasMail: true, fields: [...MAIL_FIELDS, 'code', 'link'] },
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
          ({ text, shown }) => ({ content: [{ type: 'text', text }], structuredContent: shown }),
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

/** How many items of the list of a tool are shown, and how many characters of a result. */
const MAX_ITEMS = 20;
const MAX_CHARACTERS = 12_000;

/** In a result that is too long: how many characters of a text are shown, and how many items of any list. */
const MAX_TEXT = 1_000;
const MAX_LISTED = 50;

/** Makes the control call of a tool, in a sandbox if one is given. Shows a part of its reply, in which secrets are masked. */
async function callTool(client: ControlClient, mask: Mask, tool: Tool, { sandbox, ...input }: Fields) {
  const call = client[tool.call] as (input: object, options: object) => Promise<Fields>;
  const reply = await call(input, { sandbox });
  const { list } = tool;
  const items = list === undefined ? [] : (reply[list] as readonly Fields[] | undefined);
  if (!items) throw new Error(`The tool shows only ${list}; leave out the argument format.`);
  const picked =
    list === undefined
      ? pick(reply, tool.fields)
      : { [list]: items.slice(-MAX_ITEMS).map((item) => pick(item, tool.fields)) };
  const masked = tool.showsKeys ? picked : (mask.deep(picked) as Fields);
  const whole = JSON.stringify(masked, null, 1);
  const shown = whole.length > MAX_CHARACTERS ? (shorten(masked) as Fields) : masked;
  const json = shown === masked ? whole : JSON.stringify(shown, null, 1);
  const text = [
    ...(tool.hasMail ? [ABOUT_MAIL] : []),
    ...(items.length > MAX_ITEMS ? [`The last ${MAX_ITEMS} of ${items.length}:`] : []),
    json.length > MAX_CHARACTERS ? `${json.slice(0, MAX_CHARACTERS)}… (${whole.length} characters)` : json,
  ].join('\n');
  return { text, shown };
}

/** Shortens the long texts and lists in a value. What is left still has the form of the value. */
function shorten(value: unknown): unknown {
  if (typeof value === 'string' && value.length > MAX_TEXT) {
    return `${value.slice(0, MAX_TEXT)}… (${value.length} characters)`;
  }
  if (Array.isArray(value)) return value.slice(0, MAX_LISTED).map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shorten(field)]));
}

/** Describes the tools. Their summaries and schemas come from the OpenAPI document of the emulator's control calls. */
async function describeTools(client: ControlClient): Promise<Fields[]> {
  const calls = operationsIn(await client.getControlOpenApi());
  return Object.entries(TOOLS).map(([name, tool]) => {
    const { call, help } = tool;
    const operation = calls.find((each) => each.operation.operationId === call)?.operation;
    const description = [operation?.summary, help].filter(Boolean).join(' ');
    return { name, description, inputSchema: inputSchemaOf(operation), outputSchema: outputSchemaOf(tool) };
  });
}

/** Returns the schema of what a tool shows of the reply of its call. */
function outputSchemaOf({ call, list, fields }: Tool): Json {
  const row: ControlRow = CONTROL_ROWS[call];
  const forms = formsOf(toJsonSchema(row.reply, 'output'));
  if (list === undefined) return toOutputSchema(forms.map((form) => pickInSchema(form, fields)));
  // A form without the list is one that the tool does not show, such as a HAR document.
  const shown = forms.flatMap((form) => {
    const { [list]: field } = fieldsIn(form);
    if (!field) return [];
    const items = pickInSchema(field.items as Json, fields);
    const properties = { [list]: { type: 'array', items } };
    return { type: 'object', properties, required: [list], additionalProperties: false };
  });
  return toOutputSchema(shown);
}

/** Returns the schema of what `pick` returns of a value that has a schema. */
function pickInSchema(schema: Json, names: readonly string[] | undefined): Json {
  if (names === undefined) return schema;
  const forms = formsOf(schema);
  if (forms.length > 1) return { anyOf: forms.map((form) => pickInSchema(form, names)) };
  const known = fieldsIn(schema);
  const properties: Record<string, Json> = {};
  for (const name of names) {
    const [fieldName = '', itemFields] = name.split('.');
    const field = known[fieldName];
    if (!field) continue;
    const items = itemFields && pickInSchema(field.items as Json, itemFields.split(','));
    properties[fieldName] = items ? { ...field, items } : field;
  }
  const required = (schema.required ?? []) as readonly string[];
  return { ...schema, properties, required: required.filter((name) => Object.hasOwn(properties, name)) };
}

/** Returns the schemas of the fields of an object that has a schema. */
function fieldsIn({ properties = {} }: Json): Readonly<Record<string, Json>> {
  return properties as Readonly<Record<string, Json>>;
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
