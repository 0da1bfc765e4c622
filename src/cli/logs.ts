import type { FeedEvent } from '../journal/feed-event.ts';
import { createLog } from '../server/log/log-format.ts';
import type { GivenFlags, RunCommand, Terminal } from './command.ts';
import { createControlClient } from './control-client.ts';
import { describeEvent } from './describe-event.ts';
import { readFeed } from './read-feed.ts';

/** Shows what happened in a running emulator, and with `--follow` also what happens from now on. */
export const logs: RunCommand = async (terminal, flags) => {
  await Promise.race([show(terminal, flags), terminal.interrupted]);
};

async function show(terminal: Terminal, flags: GivenFlags): Promise<void> {
  const client = createControlClient(flags);
  const query = flags.follow?.value === true ? ({ lastEventId: '0' } as const) : ({ follow: 'false' } as const);
  const print = flags.json?.value === true ? printJson(terminal) : printLine(terminal);
  for await (const event of readFeed(client, query)) print(event);
}

function printJson({ out }: Terminal): (event: FeedEvent) => void {
  return (event) => out(JSON.stringify(event));
}

function printLine({ out, err, colour }: Terminal): (event: FeedEvent) => void {
  const log = createLog({ write: out, isColoured: colour, report: (error) => err(String(error)) });
  return (event) => {
    const line = describeEvent(event);
    if (line) log(line.text, line.status, new Date(event.realTime));
  };
}
