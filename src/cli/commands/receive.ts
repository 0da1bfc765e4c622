import { basename } from 'node:path';
import { toBase64 } from '../../basics/base64.ts';
import { toPrintableJson } from '../../basics/printable.ts';
import type { InputTo } from '../../control/table/client.ts';
import {
  createInterruptible,
  type GivenFlags,
  parseEach,
  parsePair,
  quote,
  textOfFlag,
  UsageError,
} from '../command.ts';
import { createEmulatorClient, createWrongServerError } from '../control-client.ts';
import { readNamedFile } from '../files.ts';

/** Delivers an inbound message to a running emulator. */
export const receive = createInterruptible(async (terminal, flags) => {
  const { url, client } = createEmulatorClient(flags);
  const message = { ...(await readMessage(flags, terminal.input)), ...envelopeOf(flags) };
  // The values of the flags are not checked here, because the emulator checks them.
  const messages = (await client.receiveMessage(message as InputTo<'receiveMessage'>))?.messages;
  if (!Array.isArray(messages)) throw createWrongServerError(url);
  if (flags.json?.value === true) return terminal.out(toPrintableJson({ messages }));
  for (const { id, inboxId, threadId } of messages) {
    terminal.out(`Message ${id} arrived in inbox ${inboxId}, thread ${threadId}.`);
  }
});

/** Returns the fields of the envelope for which a flag is set. */
function envelopeOf(flags: GivenFlags): object {
  const auth = parseEach(flags.auth, (text, source) => parsePair(text, source, '<method>=<result>'));
  return {
    envelopeFrom: textOfFlag(flags['envelope-from']),
    auth: auth.length > 0 ? Object.fromEntries(auth) : undefined,
  };
}

/** The flags for the parts of a mail. */
const PARTS = ['from', 'cc', 'reply-to', 'subject', 'text', 'html', 'attach', 'header'];

/** The flags that cannot be combined with `--sample` or `--eml`, because the sample or the file has these parts. */
const EXCLUDED = { sample: [...PARTS, 'eml', 'envelope-from', 'auth'], eml: [...PARTS, 'in-reply-to'] };

async function readMessage(flags: GivenFlags, readInput: () => Promise<string>): Promise<object> {
  const { to, sample, eml, seed } = flags;
  if (sample) {
    refuseExcludedFlags(flags, 'sample');
    if (!to) throw new UsageError('The command receive needs --to for a sample; see --help.');
    const inReplyTo = textOfFlag(flags['in-reply-to']);
    return { sample: textOfFlag(sample), to: to.value, inReplyTo, seed: seed && Number(seed.value) };
  }
  if (!eml) return compose(flags, readInput);
  refuseExcludedFlags(flags, 'eml');
  return { eml: await readBase64(String(eml.value)), to: to?.value };
}

function refuseExcludedFlags(flags: GivenFlags, name: keyof typeof EXCLUDED): void {
  const excluded = EXCLUDED[name].flatMap((other) => flags[other]?.source ?? []);
  if (excluded.length > 0) throw new UsageError(`${flags[name]?.source} cannot be used with ${excluded.join(', ')}.`);
}

async function compose(flags: GivenFlags, readInput: () => Promise<string>): Promise<object> {
  for (const name of ['to', 'from']) {
    if (!flags[name]) throw new UsageError(`The command receive needs --${name}, or --eml; see --help.`);
  }
  const text = textOfFlag(flags.text);
  const attach = async (file: string) => ({ filename: basename(file), content: await readBase64(file) });
  return {
    to: flags.to?.value,
    from: textOfFlag(flags.from),
    cc: flags.cc?.value,
    replyTo: textOfFlag(flags['reply-to']),
    headers: Object.fromEntries(parseEach(flags.header, parseHeader)),
    subject: textOfFlag(flags.subject),
    htmlBody: textOfFlag(flags.html),
    inReplyTo: textOfFlag(flags['in-reply-to']),
    attachments: await Promise.all(parseEach(flags.attach, attach)),
    plainBody: text === '-' ? await readInput() : text,
  };
}

/** Parses a header field such as `List-Id: <a.list.test>`. @throws {UsageError} if it has no name or no colon. */
function parseHeader(text: string, source: string): [name: string, value: string] {
  const [name = '', value] = text.split(/:(.*)/s);
  if (name.trim() === '' || value === undefined) {
    throw new UsageError(`${source} must be <name>: <value>, such as "List-Id: <a.list.test>", not ${quote(text)}.`);
  }
  return [name.trim(), value.trim()];
}

async function readBase64(file: string): Promise<string> {
  return toBase64(await readNamedFile(file));
}
