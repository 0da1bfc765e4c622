import { toPrintable, toPrintableJson } from '../../basics/printable.ts';
import type { InputTo } from '../../control/table/client.ts';
import { CannotRunError, createInterruptible, parseEach, quote, readText, UsageError } from '../command.ts';
import { createEmulatorClient } from '../control-client.ts';

/** Waits for a mail in a running emulator, and prints it, or only the code or the link in it. */
export const wait = createInterruptible(async (terminal, flags) => {
  const [to, ...others] = parseEach(flags.to, (address) => address);
  if (to === undefined || others.length > 0)
    throw new UsageError('The command wait needs one --to <address>; see --help.');
  const { client } = createEmulatorClient(flags);
  const options = {
    to,
    subject: readText(flags.subject),
    direction: readText(flags.direction),
    since: readText(flags.since),
    timeout: readText(flags.timeout),
  };
  // The values of the flags are not checked here, because the emulator checks them.
  const mail = await client.waitForMessage(options as InputTo<'waitForMessage'>);
  const wanted = (['code', 'link'] as const).filter((name) => flags[name]?.value === true);
  for (const name of wanted) {
    const { [name]: found, id, subject } = mail;
    if (found === null) throw new CannotRunError(`The mail ${id} with the subject ${quote(subject)} has no ${name}.`);
    terminal.out(toPrintable(found));
  }
  if (wanted.length > 0) return;
  if (flags.json?.value === true) return terminal.out(toPrintableJson(mail));
  const fields = [`Message ${mail.id}`, `From: ${mail.from}`, `To: ${mail.to.join(', ')}`, `Subject: ${mail.subject}`];
  for (const line of [...fields, '', ...mail.plainBody.trimEnd().split(/\r?\n/)]) terminal.out(toPrintable(line));
});
