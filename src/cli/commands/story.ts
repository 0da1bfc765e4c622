import { toPrintable, toPrintableJson } from '../../basics/printable.ts';
import { createInterruptible } from '../command.ts';
import { createEmulatorClient } from '../control-client.ts';

/** Prints what became of a mail in a running emulator. */
export const story = createInterruptible(async (terminal, flags, { argument = '' }) => {
  const found = await createEmulatorClient(flags).client.explainMail({ id: argument });
  if (flags.json?.value === true) return terminal.out(toPrintableJson(found));
  for (const line of found.lines) terminal.out(toPrintable(line));
});
