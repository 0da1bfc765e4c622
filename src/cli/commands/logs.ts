import { toPrintableJson } from '../../basics/printable.ts';
import { NAME } from '../../basics/version.ts';
import { lineOfEvent } from '../../control/journal/shown-kinds.ts';
import type { FeedEvent } from '../../mailbox/without-msw.ts';
import { createLog } from '../../server/server-log.ts';
import { createInterruptible, type Terminal } from '../command.ts';
import { createEmulatorClient, followFeed, readFeed } from '../control-client.ts';
import { shortenIdsToFit } from '../layout.ts';

/** Shows what happened in a running emulator, and with `--follow` also what happens from now on. */
export const logs = createInterruptible(async (terminal, flags, { signal }) => {
  const emulator = createEmulatorClient(flags);
  const onLost = () => terminal.err(`${NAME}: The connection to ${emulator.url} was lost; trying again.`);
  const printJson = (event: FeedEvent) => terminal.out(toPrintableJson(event));
  const print = flags.json?.value === true ? printJson : createLinePrinter(terminal);
  const isFollowed = flags.follow?.value === true;
  const events = isFollowed ? followFeed(emulator, onLost, signal) : readFeed(emulator, { follow: false });
  for await (const event of events) print(event);
});

function createLinePrinter({ out, err, colour, columns }: Terminal): (event: FeedEvent) => void {
  const write = (line: string) => out(shortenIdsToFit(line, columns));
  const log = createLog(write, colour, (error) => err(String(error)));
  return (event) => {
    const line = lineOfEvent(event);
    if (line) log(line, new Date(event.realTime));
  };
}
