import { optionProblemOf } from '../../basics/check-options.ts';
import { createNameCheck } from '../../basics/named-error.ts';

import { NAME } from '../../basics/version.ts';
import { BehaviourError } from '../../contract/behaviours.ts';
import { MailLimitError } from '../../contract/mail-limits.ts';
import { defaultFixture } from '../../fixture/default-fixture.ts';
import type { NamedFixture } from '../../fixture/keys-and-ids.ts';
import { startServer } from '../../server/index.ts';
import type { ListenOptions } from '../../server/start-server.ts';
import { CannotRunError, type RunCommand, type Terminal, UsageError } from '../command.ts';
import { explainFixtureError, findFixtureFile } from '../files.ts';
import { shortenIdsToFit } from '../layout.ts';
import { bannerText, describeLoaded, readyLine } from './banner.ts';
import { type AnyServer, connectionVariables, type Variables } from './connection-variables.ts';
import { explainListenError } from './explain-listen-error.ts';
import { explainOption, readStartSettings, type StartSettings } from './start-settings.ts';

/** Runs the emulator until it is interrupted. Code that only some flags need is loaded only for these flags. */
export const start: RunCommand = async (terminal, flags) => {
  const settings = readStartSettings(flags);
  const { json, quiet, envFile, opensInspector } = settings;
  const { out, err, env, colour, showStatus } = terminal;
  const fixtures = settings.fixtures ?? findFixtureFile();
  const log = json ? err : (line: string) => out(shortenIdsToFit(line, terminal.columns));
  const output = { print: err, showStatus, reportLoaded: json ? err : undefined };
  const logOptions = quiet ? {} : { log, colour: colour && !json };
  await using server = await startWithData({ ...settings, fixtures }, { ...output, ...logOptions });
  await using _ = envFile === undefined ? undefined : await writeVariables(envFile, connectionVariables(server));
  const started = { server, fixtures, isTokenSet: settings.server.controlToken !== undefined };
  out(json ? readyLine(started) : bannerText(started, colour));
  if (opensInspector) (await import('./open-browser.ts')).openBrowser(`${server.control}/`, env, err);
  using typed = json ? undefined : await loadTypedCommands(server, terminal);
  await Promise.race([terminal.interrupted, typed?.ended ?? terminal.interrupted]);
};

/** Runs the commands that a person types, if there is a terminal. */
async function loadTypedCommands(server: AnyServer, terminal: Terminal) {
  return terminal.readTypedLines && (await import('./typed-commands.ts')).runTypedCommands(server, terminal);
}

/** Writes the connection variables into a file. The code that writes this file is loaded only if it is needed. */
export async function writeVariables(path: string, variables: Variables): Promise<AsyncDisposable> {
  return (await import('../env-file.ts')).writeEnvFile(path, variables);
}

/** The functions that print the lines of the log, and the lines about the start. */
interface Output extends Pick<ListenOptions, 'log' | 'colour'>, Pick<Terminal, 'showStatus'> {
  /** Prints a line about the start, such as a warning. */
  print(line: string): void;
  /** Prints how much data was loaded, if that took a while. */
  readonly reportLoaded?: ((line: string) => void) | undefined;
}

/** Reads the data and starts a server. @throws {UsageError | CannotRunError} with a sentence that says what to do. */
export async function startWithData(settings: StartSettings, { print, reportLoaded, showStatus, ...logged }: Output) {
  const { fixtures: file, mail, watch, handlers, profile } = settings;
  if (watch && file === undefined)
    throw new UsageError('The flag --watch needs a fixture file; name one with --fixtures <file>.');
  const read = async (status?: Terminal['showStatus']) =>
    file === undefined && mail.length === 0
      ? { fixtures: defaultFixture, isLarge: false }
      : (await import('./read-data.ts')).readData({ fixtures: file, mail }, print, status);
  try {
    const { fixtures, isLarge } = await read(showStatus);
    const server = await startServer({
      ...settings.server,
      ...logged,
      fixtures: fixtures as NamedFixture,
      handlers: handlers === undefined ? undefined : await (await import('../load-handlers.ts')).loadHandlers(handlers),
      profile:
        profile === undefined ? undefined : await (await import('../profile-file.ts')).readProfile(profile, print),
    });
    if (isLarge) reportLoaded?.(`${NAME}: Loaded ${describeLoaded(server.mailbox.snapshot())}.`);
    const started = server as unknown as AnyServer;
    if (!watch || file === undefined) return started;
    return (await import('./watch-fixture.ts')).watchFixture(started, { file, read }, print);
  } catch (error) {
    throw explainStartError(error, settings);
  } finally {
    showStatus?.('');
  }
}

/** Converts a known error of the start to an error with advice for the user. Returns any other error unchanged. */
function explainStartError(error: unknown, { server, fixtures, flags }: StartSettings): unknown {
  const problem = optionProblemOf(error);
  if (problem) return explainOption(problem, flags);
  if (error instanceof BehaviourError || error instanceof MailLimitError) return new UsageError(error.message);
  if (createNameCheck('StateFileError')(error)) return new CannotRunError((error as Error).message);
  const { code = '', port = server.port } = error as { readonly code?: string; readonly port?: number };
  const otherFlag = port === server.imapPort ? '--imap-port' : '--smtp-port';
  const facts = { port, host: server.host, flag: port === server.port ? '--port' : otherFlag };
  const sentence = explainListenError(code, facts);
  return sentence === undefined ? explainFixtureError(error, fixtures ?? '--mail') : new CannotRunError(sentence);
}
