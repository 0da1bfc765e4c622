import { startServer } from '../adapters/server/index.ts';
import { BehaviourError } from '../contract/behaviours.ts';
import type { NamedFixture } from '../contract/fixture/keys.ts';
import { defaultFixture } from '../default-fixture.ts';
import { type AnyServer, bannerText, readyLine } from './banner.ts';
import { CannotRunError, type Command, type Terminal, UsageError } from './command.ts';
import { START_FLAGS } from './flags.ts';
import { explainFixtureError, readFixture } from './read-fixture.ts';
import { parseStartSettings, type StartSettings } from './start-settings.ts';

/** Runs the emulator until it is interrupted. */
export const start: Command = {
  help: 'Run the emulator and print its URL and keys; this is what runs without a command',
  flags: START_FLAGS,
  async run(terminal, given) {
    const settings = parseStartSettings(given);
    await using server = await listen(terminal, settings);
    terminal.out(settings.json ? readyLine(server) : bannerText(server, terminal.colour));
    await terminal.interrupted;
  },
};

async function listen(terminal: Terminal, settings: StartSettings): Promise<AnyServer> {
  const { port, host, behaviours, allowHosts, corsOrigins } = settings;
  const fixtures = settings.fixtures === undefined ? defaultFixture : await readFixture(settings.fixtures);
  const log = settings.json ? terminal.err : terminal.out;
  try {
    const options = { port, host, behaviours, allowHosts, corsOrigins, ...(!settings.quiet && { log }) };
    return (await startServer({ ...options, fixtures: fixtures as NamedFixture })) as AnyServer;
  } catch (error) {
    throw explain(error, settings);
  }
}

const LISTEN_PROBLEMS: Record<string, (settings: StartSettings) => string> = {
  EADDRINUSE: ({ port, host }) => `Port ${port} on ${host} is taken; choose another with --port, or 0 for a free one.`,
  EACCES: ({ port }) => `Port ${port} needs rights that you do not have; choose one above 1023 with --port.`,
  EADDRNOTAVAIL: noSuchAddress,
  EAFNOSUPPORT: noSuchAddress,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
};

function noSuchAddress({ host }: StartSettings): string {
  return `This machine has no address ${host}; choose another with --host.`;
}

function noSuchHost({ host }: StartSettings): string {
  return `There is no host ${host}; choose an address of this machine with --host.`;
}

/** Says what to do about an error of starting; what it does not know, it leaves as it is. */
function explain(error: unknown, settings: StartSettings): unknown {
  if (error instanceof BehaviourError) return new UsageError(error.message);
  const sentence = LISTEN_PROBLEMS[(error as NodeJS.ErrnoException).code ?? '']?.(settings);
  return sentence === undefined ? explainFixtureError(error, String(settings.fixtures)) : new CannotRunError(sentence);
}
