import { basename } from 'node:path';
import { toBase64 } from '../contract/base64.ts';
import type { ReceivedMessage } from '../mail/accept-message.ts';
import { type GivenFlags, type RunCommand, type Terminal, UsageError } from './command.ts';
import { createControlClient } from './control-client.ts';
import { readNamedFile } from './read-file.ts';
import { parseEach, parsePair, textOf } from './read-flag.ts';

/** Delivers an inbound message to a running emulator. */
export const receive: RunCommand = async (terminal, flags) => {
  await Promise.race([deliver(terminal, flags), terminal.interrupted]);
};

async function deliver(terminal: Terminal, flags: GivenFlags): Promise<void> {
  const client = createControlClient(flags);
  const parts = flags.eml ? await readEml(flags) : await compose(terminal, flags);
  const message = { ...parts, ...envelopeOf(flags) };
  const messages = await client.post<ReceivedMessage>('messages', message, 'messages');
  if (flags.json?.value === true) return terminal.out(JSON.stringify({ messages }));
  for (const { id, inboxId, threadId } of messages) {
    terminal.out(`Message ${id} arrived in inbox ${inboxId}, thread ${threadId}.`);
  }
}

/** Returns the envelope, without what is not set. */
function envelopeOf(flags: GivenFlags): object {
  const auth = parseEach(flags.auth, (text, source) => parsePair(text, source, '<method>=<result>'));
  const envelopeFrom = textOf(flags['envelope-from']);
  return { envelopeFrom, ...(auth.length > 0 && { auth: Object.fromEntries(auth) }) };
}

/** The flags that cannot be combined with `--eml`, because the file has these parts itself. */
const FLAGS_WITHOUT_EML = ['from', 'subject', 'text', 'html', 'attach', 'in-reply-to'];

async function readEml(flags: GivenFlags): Promise<object> {
  const excluded = FLAGS_WITHOUT_EML.flatMap((name) => flags[name]?.source ?? []);
  if (excluded.length > 0) throw new UsageError(`${flags.eml?.source} takes no ${excluded.join(', ')} besides it.`);
  return { eml: await readBase64(String(flags.eml?.value)), to: flags.to?.value };
}

async function compose(terminal: Terminal, flags: GivenFlags): Promise<object> {
  for (const name of ['to', 'from']) {
    if (!flags[name]) throw new UsageError(`The command receive needs --${name}, or --eml; see --help.`);
  }
  const files = (flags.attach?.value ?? []) as readonly string[];
  const text = textOf(flags.text);
  return {
    to: flags.to?.value,
    from: textOf(flags.from),
    subject: textOf(flags.subject),
    html: textOf(flags.html),
    inReplyTo: textOf(flags['in-reply-to']),
    attachments: await Promise.all(
      files.map(async (file) => ({ filename: basename(file), content: await readBase64(file) })),
    ),
    text: text === '-' ? await terminal.input() : text,
  };
}

async function readBase64(file: string): Promise<string> {
  return toBase64(await readNamedFile(file));
}
