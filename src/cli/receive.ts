import { basename } from 'node:path';
import { DEFAULT_HOST, DEFAULT_PORT } from '../adapters/server/start-server.ts';
import { toBase64 } from '../contract/base64.ts';
import { isUrlWithProtocol } from '../contract/schemas.ts';
import { CONTROL_PATH } from '../control/control-path.ts';
import type { ReceivedMessage } from '../mail/take-in.ts';
import {
  CannotRunError,
  type Command,
  type Given,
  type GivenFlags,
  quote,
  type Terminal,
  UsageError,
} from './command.ts';
import { RECEIVE_FLAGS } from './flags.ts';
import { readNamedFile } from './read-file.ts';

/** Lets a mail come in from outside, into an emulator that runs. */
export const receive: Command = {
  help: 'Let a mail from outside arrive in an emulator that runs',
  flags: RECEIVE_FLAGS,
  async run(terminal, given) {
    await Promise.race([deliver(terminal, given), terminal.interrupted]);
  },
};

async function deliver(terminal: Terminal, given: GivenFlags): Promise<void> {
  const url = parseUrl(given.url);
  const message = given.eml ? await readEml(given) : await compose(terminal, given);
  const messages = await post(url, textOf(given.token), message);
  if (given.json?.value === true) return terminal.out(JSON.stringify({ messages }));
  for (const { id, inboxId, threadId } of messages) {
    terminal.out(`Message ${id} arrived in inbox ${inboxId}, thread ${threadId}.`);
  }
}

function parseUrl(given: Given | undefined): string {
  const url = String(given?.value ?? `http://${DEFAULT_HOST}:${DEFAULT_PORT}`);
  if (isUrlWithProtocol(url, /^https?$/)) return url.replace(/\/+$/, '');
  throw new UsageError(
    `${given?.source} must be the URL of an emulator such as http://127.0.0.1:4025, not ${quote(url)}.`,
  );
}

/** What a mail that is given whole says itself. */
const SAID_BY_EML = ['from', 'subject', 'text', 'html', 'attach', 'in-reply-to'];

async function readEml(given: GivenFlags): Promise<object> {
  const besides = SAID_BY_EML.flatMap((name) => given[name]?.source ?? []);
  if (besides.length > 0) throw new UsageError(`${given.eml?.source} takes no ${besides.join(', ')} besides it.`);
  return { eml: await readBase64(String(given.eml?.value)), to: given.to?.value };
}

async function compose(terminal: Terminal, given: GivenFlags): Promise<object> {
  for (const name of ['to', 'from']) {
    if (!given[name]) throw new UsageError(`The command receive needs --${name}, or --eml; see --help.`);
  }
  const files = (given.attach?.value ?? []) as readonly string[];
  const text = textOf(given.text);
  return {
    to: given.to?.value,
    from: textOf(given.from),
    subject: textOf(given.subject),
    html: textOf(given.html),
    inReplyTo: textOf(given['in-reply-to']),
    attachments: await Promise.all(
      files.map(async (file) => ({ filename: basename(file), content: await readBase64(file) })),
    ),
    text: text === '-' ? await terminal.input() : text,
  };
}

function textOf(given: Given | undefined): string | undefined {
  return given && String(given.value);
}

async function readBase64(file: string): Promise<string> {
  return toBase64(await readNamedFile(file));
}

async function post(url: string, token: string | undefined, message: object): Promise<readonly ReceivedMessage[]> {
  const headers = { 'Content-Type': 'application/json', ...(token !== undefined && { 'X-Mock-Token': token }) };
  const body = JSON.stringify(message);
  const reply = await send(`${url}${CONTROL_PATH}/messages`, { method: 'POST', headers, body, redirect: 'manual' });
  const answer = reply as { messages?: readonly ReceivedMessage[]; error?: string } | undefined;
  if (Array.isArray(answer?.messages)) return answer.messages;
  if (typeof answer?.error === 'string') throw new CannotRunError(answer.error);
  throw new CannotRunError(`What answers at ${url} is no emulator with a control plane.`);
}

/** The JSON of the reply; `undefined` where it is none. */
async function send(url: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(url, init).catch(() => undefined);
  if (response) return response.json().catch(() => undefined);
  throw new CannotRunError(`No emulator answers at ${new URL(url).origin}; start one, or say where it is with --url.`);
}
