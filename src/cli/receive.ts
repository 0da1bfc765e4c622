import { basename } from 'node:path';
import { toBase64 } from '../contract/base64.ts';
import type { ReceivedMessage } from '../mail/accept-message.ts';
import { type GivenFlags, type RunCommand, type Terminal, UsageError } from './command.ts';
import { createControlClient } from './control-client.ts';
import { readNamedFile } from './read-file.ts';
import { textOf } from './read-given.ts';

/** Delivers an inbound message to a running emulator. */
export const receive: RunCommand = async (terminal, given) => {
  await Promise.race([deliver(terminal, given), terminal.interrupted]);
};

async function deliver(terminal: Terminal, given: GivenFlags): Promise<void> {
  const client = createControlClient(given);
  const message = given.eml ? await readEml(given) : await compose(terminal, given);
  const messages = await client.post<ReceivedMessage>('messages', message, 'messages');
  if (given.json?.value === true) return terminal.out(JSON.stringify({ messages }));
  for (const { id, inboxId, threadId } of messages) {
    terminal.out(`Message ${id} arrived in inbox ${inboxId}, thread ${threadId}.`);
  }
}

/** The flags that cannot be combined with `--eml`, because the file has these parts itself. */
const FLAGS_WITHOUT_EML = ['from', 'subject', 'text', 'html', 'attach', 'in-reply-to'];

async function readEml(given: GivenFlags): Promise<object> {
  const excluded = FLAGS_WITHOUT_EML.flatMap((name) => given[name]?.source ?? []);
  if (excluded.length > 0) throw new UsageError(`${given.eml?.source} takes no ${excluded.join(', ')} besides it.`);
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

async function readBase64(file: string): Promise<string> {
  return toBase64(await readNamedFile(file));
}
