import { isNamed } from '../../basics/named-error.ts';
import { MailLimitError } from '../../basics/size.ts';
import { NAME } from '../../basics/version.ts';
import { BehaviourError } from '../../contract/behaviours.ts';
import { ApiError } from '../../contract/errors.ts';
import { defaultFixture } from '../../fixture/default-fixture.ts';
import type { NamedFixture } from '../../fixture/fixture-keys.ts';
import { startServer } from '../../server/index.ts';
import type { ListenOptions } from '../../server/start-server.ts';
import { CannotRunError, type RunCommand, type Terminal, UsageError } from '../command.ts';
import { explainFixtureError, findFixtureFile } from '../files.ts';
import { variableOf } from '../flags.ts';
import { fitIds } from '../layout.ts';
import { bannerText, readyLine } from './banner.ts';
import { type AnyServer, connectionVariables } from './connection-variables.ts';
import { describeLoaded } from './describe-counts.ts';
import { parseStartSettings, type StartSettings } from './start-settings.ts';
import type { WatchedFixture } from './watch-fixture.ts';

/** Runs the emulator until it is interrupted. */
export const start: RunCommand = async (terminal, flags) => {
  const settings = parseStartSettings(flags);
  const { json, quiet, controlToken, envFile, opensInspector } = settings;
  const fixtures = settings.fixtures ?? findFixtureFile();
  const log = json ? terminal.err : (line: string) => terminal.out(fitIds(line, terminal.columns));
  await using server = await listen(
    { ...settings, fixtures },
    {
      say: terminal.err,
      showStatus: terminal.showStatus,
      sayLoaded: json ? terminal.err : undefined,
      ...(!quiet && { log, colour: terminal.colour && !json }),
    },
  );
  await using _ = envFile === undefined ? undefined : await writeVariables(envFile, server);
  const started = { server, fixtures, isTokenSet: controlToken !== undefined };
  terminal.out(json ? readyLine(started) : bannerText(started, terminal.colour));
  if (opensInspector) await openInspector(server, terminal);
  using typed = json ? undefined : await followTerminal(server, terminal);
  await Promise.race([terminal.interrupted, typed?.ended ?? terminal.interrupted]);
};

/** Opens the inspector in a browser. The code is loaded only for that. */
async function openInspector({ control }: AnyServer, { env, err }: Terminal): Promise<void> {
  const { openBrowser } = await import('./open-browser.ts');
  openBrowser(`${control}/`, env, err);
}

/** Does what a person types, if there is a terminal. */
async function followTerminal(server: AnyServer, terminal: Terminal) {
  if (!terminal.typedLines) return undefined;
  const { followTypedCommands } = await import('../typed-commands.ts');
  return followTypedCommands(server, terminal);
}

/** Writes the connection into a file. The writer is loaded only for that. */
export async function writeVariables(path: string, server: AnyServer): Promise<AsyncDisposable> {
  const { writeEnvFile } = await import('../env-file.ts');
  return writeEnvFile(path, connectionVariables(server));
}

/** Where a server writes its log, and what it says about its start. */
interface Output extends Pick<ListenOptions, 'log' | 'colour'>, Pick<Terminal, 'showStatus'> {
  say(line: string): void;
  /** Is told what was loaded, if that was much. */
  readonly sayLoaded?: ((line: string) => void) | undefined;
}

/** Starts a server. @throws {UsageError} {@link CannotRunError} with a sentence that says what to do. */
export async function listen(
  settings: StartSettings,
  { say, sayLoaded, showStatus, ...log }: Output,
): Promise<AnyServer> {
  const {
    json: _,
    quiet: __,
    envFile: ___,
    opensInspector: ____,
    fixtures: file,
    mail,
    watch,
    handlers,
    profile,
    ...options
  } = settings;
  if (watch && file === undefined)
    throw new UsageError('The flag --watch needs a fixture file; name one with --fixtures <file>.');
  const read = async (status?: Terminal['showStatus']) =>
    file === undefined && mail.length === 0
      ? { fixtures: defaultFixture, isLarge: false }
      : (await import('./read-data.ts')).readData({ fixtures: file, mail }, say, status);
  try {
    const { fixtures, isLarge } = await read(showStatus);
    const server = await startServer({
      ...options,
      ...log,
      ...(handlers !== undefined && { handlers: await loadUserModule(handlers) }),
      fixtures: fixtures as NamedFixture,
      ...(profile !== undefined && { profile: await loadProfile(profile, say) }),
    });
    if (isLarge) sayLoaded?.(`${NAME}: Loaded ${describeLoaded(server.mailbox.snapshot())}.`);
    return withWatcher(server as unknown as AnyServer, watch && file !== undefined ? { file, read } : undefined, say);
  } catch (error) {
    throw explain(error, settings);
  } finally {
    showStatus?.('');
  }
}

/** Adds a watcher of the fixture file, if there is one, which ends with the server. */
async function withWatcher(
  server: AnyServer,
  fixture: WatchedFixture | undefined,
  say: Output['say'],
): Promise<AnyServer> {
  if (fixture === undefined) return server;
  const { watchFixture } = await import('./watch-fixture.ts');
  const stop = watchFixture(server.mailbox, fixture, say);
  const close = () => {
    stop();
    return server.close();
  };
  return { ...server, close, [Symbol.asyncDispose]: close };
}

/** Reads a profile. The reader is loaded only for that. */
async function loadProfile(file: string, say: (line: string) => void) {
  const { readProfile } = await import('../profile-file.ts');
  return readProfile(file, say);
}

/** Loads the module with the user's msw handlers. */
async function loadUserModule(file: string) {
  const { loadHandlers } = await import('../load-handlers.ts');
  return loadHandlers(file);
}

/** The address and the port on which the server tried to listen, and the flag that sets the port. */
interface ListenTarget extends Pick<StartSettings, 'host'> {
  readonly port: number;
  readonly flag: '--port' | '--smtp-port' | '--imap-port';
}

const LISTEN_PROBLEMS: Record<string, (target: ListenTarget) => string> = {
  EADDRINUSE: ({ port, host, flag }) =>
    `Port ${port} on ${host} is taken; choose another with ${flag}, or 0 for a free one.`,
  EACCES: ({ port, flag }) => `Port ${port} needs rights that you do not have; choose one above 1023 with ${flag}.`,
  EADDRNOTAVAIL: noSuchAddress,
  EAFNOSUPPORT: noSuchAddress,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
};

function noSuchAddress({ host }: ListenTarget): string {
  return `This machine has no address ${host}; choose another with --host.`;
}

function noSuchHost({ host }: ListenTarget): string {
  return `There is no host ${host}; choose an address of this machine with --host.`;
}

/** Names the flag in place of the option of `startServer`. */
function explainFault({ message }: ApiError): string {
  return message.replace(/^(?:An option (?=is)|The option (?=faults))/, `--fault or ${variableOf('fault')} `);
}

/** Names the flags in place of the options for TLS. */
function explainTls({ message }: TypeError): string {
  const sentence = message.replace(/^The options? /, '');
  return sentence.replace(/\btls(Cert|Key|Required)\b/g, (_, word: string) => `--tls-${word.toLowerCase()}`);
}

/** Converts a known start-up error to an error with advice for the user. Returns any other error unchanged. */
function explain(error: unknown, settings: StartSettings): unknown {
  if (error instanceof ApiError) return new UsageError(explainFault(error));
  const isWrongOption = error instanceof BehaviourError || error instanceof MailLimitError;
  if (isWrongOption) return new UsageError(error.message);
  if (error instanceof TypeError && /^The options? tls/.test(error.message)) return new UsageError(explainTls(error));
  const { code = '', port = settings.port } = error as { readonly code?: string; readonly port?: number };
  const otherFlag = port === settings.imapPort ? '--imap-port' : '--smtp-port';
  const flag = port === settings.port ? '--port' : otherFlag;
  const sentence = LISTEN_PROBLEMS[code]?.({ host: settings.host, port, flag });
  if (isNamed('StateFileError')(error)) return new CannotRunError((error as Error).message);
  return sentence === undefined
    ? explainFixtureError(error, settings.fixtures ?? '--mail')
    : new CannotRunError(sentence);
}
