import { LineSplitter } from '../basics/line-splitter.ts';
import { NAME, VERSION } from '../basics/version.ts';
import { type ControlClient, createControlClient } from '../control/table/client.ts';
import { isObject } from '../fixture/fixture-part.ts';
import type { RunCommand } from './command.ts';
import { startWithData } from './commands/start.ts';
import { readStartSettings } from './commands/start-settings.ts';
import { createEmulatorClient } from './control-client.ts';
import { callTool, TOOLS } from './mcp-tools.ts';

/** The supported versions of the protocol, the latest first. */
const PROTOCOLS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** The longest line that is read, in characters. */
const MAX_LINE = 1024 * 1024;

/** Creates a JSON-RPC error. */
const createRpcError = (code: number, message: string) => Object.assign(new Error(message), { code });

type Fields = Readonly<Record<string, unknown>>;

/**
 * Serves the Model Context Protocol over stdin and stdout, so that a program such as a coding assistant can use the
 * emulator at `--url`. Without `--url`, starts an emulator. The command ends when stdin ends. The log goes to stderr.
 */
export const mcp: RunCommand = async (terminal, flags) => {
  await using server = flags.url
    ? undefined
    : await startWithData(readStartSettings({}, 0), { print: terminal.err, log: terminal.err });
  const { url, client } = server
    ? { url: server.url, client: createControlClient({ control: server.control, token: server.controlToken }) }
    : createEmulatorClient(flags);
  terminal.err(`${NAME}: MCP for the emulator at ${url}`);
  await Promise.race([serve(url, client, terminal.out), terminal.interrupted]);
  process.stdin.pause();
};

/** Answers each line of stdin until stdin ends. Calls run at the same time, as clients expect. */
async function serve(url: string, client: ControlClient, out: (line: string) => void): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const line of linesOf(process.stdin)) {
    const answering = answer(line, url, client).then((reply) => {
      if (reply) out(JSON.stringify(reply));
      running.delete(answering);
    });
    running.add(answering);
  }
  await Promise.all(running);
}

/** Yields the lines of the input. A line that is too long is shortened, so that it is refused as invalid JSON. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const splitter = new LineSplitter(MAX_LINE);
  for await (const chunk of input) for (const line of splitter.read(chunk)) if (line.trim() !== '') yield line;
  const rest = splitter.readRest();
  if (rest.trim() !== '') yield rest;
}

/** Returns the reply to a message; `undefined` for a notification. The promise never rejects. */
async function answer(line: string, url: string, client: ControlClient): Promise<object | undefined> {
  let id: unknown = null;
  try {
    const message = parse(line);
    if (message.id === undefined) return undefined;
    id = message.id;
    const run = METHODS[String(message.method)];
    if (!run) throw createRpcError(-32601, `There is no method ${String(message.method).slice(0, 100)}.`);
    return { jsonrpc: '2.0', id, result: await run(url, client, (message.params ?? {}) as Fields) };
  } catch (error) {
    const { code = -32603, message } = error as Error & { readonly code?: number };
    return { jsonrpc: '2.0', id, error: { code, message } };
  }
}

function parse(line: string): Fields {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    throw createRpcError(-32700, 'The line is not JSON, or is longer than 1 MiB.');
  }
  if (isObject(message)) return message;
  throw createRpcError(-32600, 'A message must be an object with jsonrpc, method and, for a request, an id.');
}

type Method = (url: string, client: ControlClient, params: Fields) => Fields | Promise<Fields>;

const METHODS: Readonly<Record<string, Method>> = {
  initialize: (url, _, { protocolVersion }) => ({
    protocolVersion: PROTOCOLS.find((version) => version === protocolVersion) ?? PROTOCOLS[0],
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: NAME, version: VERSION },
    instructions: `Controls a local emulator of an Agent Mailbox Service at ${url}. Nothing leaves this machine.`,
  }),
  ping: () => ({}),
  'tools/list': async (_, client) => ({ tools: await describeTools(client) }),
  async 'tools/call'(_, client, { name, arguments: given = {} }) {
    const [, tool] = Object.entries(TOOLS).find(([known]) => known === name) ?? [];
    const known = Object.keys(TOOLS).join(', ');
    if (!tool) throw createRpcError(-32602, `There is no tool ${String(name).slice(0, 100)}; there are ${known}.`);
    // A refused control call is a result and not an error of the protocol, so that the language model sees the reason.
    return callTool(client, tool, given as Fields).then(
      (text) => ({ content: [{ type: 'text', text }] }),
      ({ message }: Error) => ({ content: [{ type: 'text', text: message }], isError: true }),
    );
  },
  'resources/list': (url) => ({
    resources: RESOURCES.map(([name, description]) => ({ uri: url + name, name, description, mimeType: JSON_TYPE })),
  }),
  async 'resources/read'(url, client, { uri }) {
    const found = RESOURCES.find(([path]) => url + path === uri);
    if (!found) throw createRpcError(-32602, `There is no resource ${String(uri).slice(0, 200)}.`);
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(await client[found[2]]()) }] };
  },
};

const JSON_TYPE = 'application/json';

const RESOURCES = [
  ['/__mock/control.json', 'All control calls, in OpenAPI 3.1', 'getControlOpenApi'],
  ['/__mock/openapi.json', 'The API of the service, in OpenAPI 3.1', 'getOpenApi'],
] as const;

/** Describes the tools. Their summaries and schemas come from the OpenAPI document of the emulator's control calls. */
async function describeTools(client: ControlClient): Promise<Fields[]> {
  const { paths } = await client.getControlOpenApi();
  const calls = Object.values(paths).flatMap((methods) => Object.values(methods as unknown as Record<string, Call>));
  return Object.entries(TOOLS).map(([name, { call, help }]) => {
    const operation = calls.find(({ operationId }) => operationId === call);
    const description = [operation?.summary, help].filter(Boolean).join(' ');
    return { name, description, inputSchema: inputSchemaOf(operation) };
  });
}

/** The fields of an operation in the OpenAPI document that are used here. */
interface Call {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly { name: string; in: string; schema: object; description?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> };
}

type Schema = {
  properties?: Fields;
  required?: readonly string[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
};

/** Returns one schema for the parameters and the body of a call. The schema has the fields of all forms of the body. */
function inputSchemaOf({ parameters = [], requestBody }: Pick<Call, 'parameters' | 'requestBody'> = {}): Fields {
  const body = requestBody?.content[JSON_TYPE]?.schema ?? {};
  const forms = body.anyOf ?? body.oneOf ?? [body];
  const pathNames = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(parameters.map(({ name, schema, description }) => [name, { ...schema, description }])),
      ...Object.assign({}, ...forms.toReversed().map(({ properties }) => properties)),
    },
    required: [...pathNames, ...(forms.length === 1 ? (forms[0]?.required ?? []) : [])],
  };
}
