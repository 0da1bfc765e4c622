import { parseForeignJson } from '../../basics/foreign-json.ts';
import { LineSplitter } from '../../basics/line-splitter.ts';
import { isObject } from '../../basics/objects.ts';
import { toPrintableJson } from '../../basics/printable.ts';
import { NAME } from '../../basics/version.ts';
import { CONTROL_TOKEN_HEADER } from '../../control/table/control-path.ts';
import { CannotRunError, type GivenFlags, type RunCommand, textOfFlag, UsageError } from '../command.ts';
import { createEmulatorClient, createNoEmulatorError, createWrongServerError } from '../control-client.ts';
import { startWithData } from './start.ts';
import { readStartSettings } from './start-settings.ts';

/** The longest line that is read, in characters: a request with a mail of the largest size, in base64. */
const MAX_LINE = 48 * 1024 * 1024;

/**
 * Serves the Model Context Protocol over stdin and stdout, by passing each message on to the emulator at `--url`, whose
 * server answers it. Without `--url`, starts an emulator. The command ends when stdin ends. The log goes to stderr.
 */
export const mcp: RunCommand = async (terminal, flags) => {
  const { path, headers } = findTarget(flags);
  await using server = flags.url
    ? undefined
    : await startWithData(readStartSettings({}, 0), { print: terminal.err, log: terminal.err });
  const url = server?.url ?? createEmulatorClient(flags).url;
  const token = server?.controlToken ?? textOfFlag(flags.token);
  const target = { url, path, headers: { ...headers, ...(token !== undefined && { [CONTROL_TOKEN_HEADER]: token }) } };
  await checkTarget(target);
  terminal.err(`${NAME}: MCP for the emulator at ${url}`);
  await Promise.race([serve(target, terminal.out), terminal.interrupted]);
  process.stdin.pause();
};

/** Where the messages go. */
interface Target {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Finds the path for the flags `--as`, `--key` and `--all-tools`. @throws {UsageError} if they contradict each other. */
function findTarget(flags: GivenFlags): Omit<Target, 'url'> {
  const [address, key, hasAllTools] = [textOfFlag(flags.as), textOfFlag(flags.key), flags['all-tools']?.value === true];
  if (address !== undefined && key !== undefined) throw new UsageError('Give either --as or --key, not both.');
  if (hasAllTools && address === undefined && key === undefined)
    throw new UsageError('The flag --all-tools needs --as <address> or --key <key>.');
  const query = new URLSearchParams();
  if (address !== undefined) query.set('as', address);
  if (hasAllTools) query.set('tools', 'all');
  const path = key === undefined ? '/__mock/mcp' : '/mcp';
  return { path: query.size > 0 ? `${path}?${query}` : path, headers: key === undefined ? {} : { 'X-API-Key': key } };
}

/** How long the emulator may take for the first answer, in milliseconds. */
const FIRST_ANSWER_MS = 10_000;

/**
 * Throws if the emulator does not answer, or refuses the inbox, the key or the token. Without this check, a client would
 * learn of it only when it calls a tool, and many clients do not show why.
 */
async function checkTarget(target: Target): Promise<void> {
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' });
  const reply = await send(ping, target, AbortSignal.timeout(FIRST_ANSWER_MS));
  if (reply && !('jsonrpc' in reply)) throw new CannotRunError(String(reply.error));
}

/** Passes each line of stdin on until stdin ends. Calls run at the same time, as clients expect. */
async function serve(target: Target, out: (line: string) => void): Promise<void> {
  const running = new Set<Promise<void>>();
  for await (const line of linesOf(process.stdin)) {
    const answering = passOn(line, target).then((reply) => {
      if (reply !== undefined) out(reply);
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

/** Returns the reply to a message, on one line; `undefined` for a notification. The promise never rejects. */
async function passOn(line: string, target: Target): Promise<string | undefined> {
  try {
    const reply = await send(line, target);
    if (!reply) return undefined;
    if ('jsonrpc' in reply) return toPrintableJson(reply);
    throw new Error(String(reply.error));
  } catch (error) {
    const message = readReply(line);
    if (message && message.id === undefined) return undefined;
    const code = message ? -32603 : -32700;
    return toPrintableJson({
      jsonrpc: '2.0',
      id: message?.id ?? null,
      error: { code, message: (error as Error).message },
    });
  }
}

/**
 * Sends a message to the emulator, and returns its reply: a message, or the error of a refused request; `undefined` for a
 * notification.
 *
 * @throws {CannotRunError} if no emulator answers at the URL.
 */
async function send(message: string, { url, path, headers }: Target, signal?: AbortSignal) {
  const init: RequestInit = {
    method: 'POST',
    body: message,
    headers: { ...headers, 'Content-Type': 'application/json' },
    redirect: 'manual',
  };
  if (signal) init.signal = signal;
  const response = await fetch(url + path, init).catch(() => undefined);
  // The connection can end, or the signal be aborted, before the whole reply has come.
  const text = await response?.text().catch(() => undefined);
  if (!response || text === undefined) throw createNoEmulatorError(url);
  if (response.status === 202) return undefined;
  const reply = readReply(text);
  if (!reply || !('jsonrpc' in reply || 'error' in reply)) throw createWrongServerError(url);
  return reply;
}

/** Parses a JSON object; `undefined` if the text is none. */
function readReply(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value = parseForeignJson(text);
    return isObject(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
