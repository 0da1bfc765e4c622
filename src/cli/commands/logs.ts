import { NAME } from '../../basics/version.ts';
import type { FeedEvent } from '../../mailbox/without-msw.ts';
import { createLog } from '../../server/log-format.ts';
import type { GivenFlags, RunCommand, Terminal } from '../command.ts';
import { createEmulatorClient } from '../control-client.ts';
import { fitIds } from '../layout.ts';
import { followFeed, readFeed } from '../read-feed.ts';
import { describeEvent } from './describe-event.ts';

/** Shows what happened in a running emulator, and with `--follow` also what happens from now on. */
export const logs: RunCommand = async (terminal, flags) => {
  const controller = new AbortController();
  await Promise.race([show(terminal, flags, controller.signal), terminal.interrupted]);
  controller.abort();
};

async function show(terminal: Terminal, flags: GivenFlags, signal: AbortSignal): Promise<void> {
  const emulator = createEmulatorClient(flags);
  const onLost = () => terminal.err(`${NAME}: The connection to ${emulator.url} was lost; trying again.`);
  const print = flags.json?.value === true ? printJson(terminal) : printLine(terminal);
  const events =
    flags.follow?.value === true ? followFeed(emulator, { onLost, signal }) : readFeed(emulator, { follow: false });
  for await (const event of events) print(event);
}

function printJson({ out }: Terminal): (event: FeedEvent) => void {
  return (event) => out(JSON.stringify(event));
}

function printLine({ out, err, colour, columns }: Terminal): (event: FeedEvent) => void {
  const log = createLog({
    write: (line) => out(fitIds(line, columns)),
    isColoured: colour,
    report: (error) => err(String(error)),
  });
  return (event) => {
    const line = describeEvent(event);
    if (line) log(line, new Date(event.realTime));
  };
}
