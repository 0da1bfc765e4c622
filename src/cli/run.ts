import { startServer } from '../adapters/server/index.ts';
import { BehaviourError } from '../contract/behaviours.ts';
import { FixtureError, type FixtureInput } from '../contract/fixture.ts';
import { defaultFixture } from '../default-fixture.ts';
import { NAME, VERSION } from '../version.ts';
import { type AnyServer, bannerText, readyLine } from './banner.ts';
import { parseSettings, type Settings, UsageError } from './flags.ts';
import { helpText } from './help.ts';
import { CannotRunError, readFixture } from './read-fixture.ts';

/** The process as far as the command uses it. */
export interface Terminal {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Whether stdout may be coloured. */
  readonly colour: boolean;
  out(line: string): void;
  err(line: string): void;
  /** Resolves when the user wants the command to end. */
  readonly interrupted: Promise<void>;
}

/** Runs the command until it is interrupted, and answers its exit code. */
export async function run(terminal: Terminal): Promise<0 | 1 | 2> {
  try {
    await runCommand(terminal, parseSettings(terminal.args, terminal.env));
    return 0;
  } catch (error) {
    terminal.err(`${NAME}: ${(error as Error).message}`);
    return error instanceof UsageError || error instanceof BehaviourError ? 2 : 1;
  }
}

async function runCommand(terminal: Terminal, settings: Settings): Promise<void> {
  if (settings.help) return terminal.out(helpText());
  if (settings.version) return terminal.out(VERSION);
  await using server = await start(terminal, settings);
  terminal.out(settings.json ? readyLine(server) : bannerText(server, terminal.colour));
  await terminal.interrupted;
}

async function start(terminal: Terminal, settings: Settings): Promise<AnyServer> {
  const { port, host, behaviours, allowHosts, corsOrigins } = settings;
  const fixtures = settings.fixtures === undefined ? defaultFixture : await readFixture(settings.fixtures);
  const log = settings.json ? terminal.err : terminal.out;
  try {
    const options = { port, host, behaviours, allowHosts, corsOrigins, ...(!settings.quiet && { log }) };
    return (await startServer({ ...options, fixtures: fixtures as FixtureInput })) as AnyServer;
  } catch (error) {
    throw explain(error, settings);
  }
}

const LISTEN_PROBLEMS: Record<string, (settings: Settings) => string> = {
  EADDRINUSE: ({ port, host }) => `Port ${port} on ${host} is taken; choose another with --port, or 0 for a free one.`,
  EACCES: ({ port }) => `Port ${port} needs rights that you do not have; choose one above 1023 with --port.`,
  EADDRNOTAVAIL: noSuchAddress,
  EAFNOSUPPORT: noSuchAddress,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
};

function noSuchAddress({ host }: Settings): string {
  return `This machine has no address ${host}; choose another with --host.`;
}

function noSuchHost({ host }: Settings): string {
  return `There is no host ${host}; choose an address of this machine with --host.`;
}

/** Says what to do about an error of starting; what it does not know, it leaves as it is. */
function explain(error: unknown, settings: Settings): unknown {
  if (error instanceof FixtureError) return new CannotRunError(`${settings.fixtures}: ${error.message}`);
  const sentence = LISTEN_PROBLEMS[(error as NodeJS.ErrnoException).code ?? '']?.(settings);
  return sentence === undefined ? error : new CannotRunError(sentence);
}
