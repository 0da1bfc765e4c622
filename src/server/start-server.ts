import type { RequestHandler } from 'msw';
import { checkOptions, createOptionError, describeValue } from '../basics/check-options.ts';
import { setTimeout } from '../basics/real-timers.ts';
import type { ServiceClient } from '../contract/client/client-types.ts';
import { createClient } from '../contract/client/create-client.ts';
import { ApiError } from '../contract/errors.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import { defaultFixture } from '../fixture/default-fixture.ts';
import type { DefaultIds, DefaultKeys, FixtureIds, FixtureKeys, NamedFixture } from '../fixture/keys-and-ids.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import { explainMissingMsw } from '../mailbox/explain-msw-error.ts';
import { buildMailbox, type Mailbox, type MailboxInternals } from '../mailbox/mailbox.ts';
import { type MailboxOptions, SHARED_OPTION_NAMES } from '../mailbox/mailbox-options.ts';
import { parseDuration } from '../world/clock.ts';
import { createEnvironment } from '../world/environment.ts';
import { App, type ControlGuest } from './http/app.ts';
import { createHttpServer } from './http/http-server.ts';
import { Intake } from './intake.ts';
import { isLoopbackHost, reachableHost } from './loopback.ts';
import type { MailServers, MailServersSettings } from './mail/mail-servers.ts';
import { createOutgoingFetch, createReceiverRules, findReasonToRefuse } from './outgoing-fetch.ts';
import { createLog, type Log, logActivity, logBlockedWebhooks } from './server-log.ts';
import { type FlagOptions, parseSettings, SERVER_OPTIONS } from './server-options.ts';
import { WaitingOutput } from './waiting-output.ts';
import { WorkQueue } from './work-queue.ts';

/** Options of a server, besides those of its mailbox. */
export interface ListenOptions extends FlagOptions {
  /**
   * msw handlers, `http` or `graphql`, that run before the emulator, to add or replace routes. A path without an
   * origin, such as `/v1/webhooks`, is relative to this server. A function receives the server's mailbox and returns
   * the handlers. `/__mock` and event streams cannot be replaced. Default: none.
   *
   * @example
   * startServer({ handlers: [http.get('/v1/weather', () => HttpResponse.json({ sky: 'clear' }))] });
   */
  readonly handlers?: readonly RequestHandler[] | ((mailbox: Mailbox) => readonly RequestHandler[]) | undefined;
  /**
   * Receives one line for each request, delivery attempt, incoming mail, opened or closed stream, and failure of the
   * emulator, but none for a control call that only reads. Keys and secrets are masked. Default: no log.
   */
  readonly log?: ((line: string) => void) | undefined;
  /** Whether log lines have colours for a terminal. Default: `false`. */
  readonly colour?: boolean | undefined;
}

/** Options of `startServer`; each has a default. */
export interface ServerOptions<F extends NamedFixture = FixtureInput>
  extends Omit<MailboxOptions<F>, 'baseUrl' | 'persist'>,
    ListenOptions {}

/** The options of a server that no flag sets alone. The type checks that none is missing. */
const OTHER_OPTIONS: Readonly<Record<Exclude<keyof ListenOptions, keyof FlagOptions>, true>> = {
  handlers: true,
  log: true,
  colour: true,
};
const OPTION_NAMES = [...Object.keys(SERVER_OPTIONS), ...Object.keys(OTHER_OPTIONS), ...SHARED_OPTION_NAMES];

/** A running server. `close()`, or the end of an `await using` block, closes it. */
export interface MailboxServer<Keys = DefaultKeys, Ids = DefaultIds> extends AsyncDisposable {
  /** The URL of the service, such as `http://127.0.0.1:4025`. */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** The server's mailbox, for its keys, `reset()` and `snapshot()`. */
  readonly mailbox: Mailbox<Keys, Ids>;
  /**
   * Creates a client with this API key, which calls the server over HTTP: a method for each operation.
   *
   * @example
   * const { messages } = await server.client(key).listMessages(inbox);
   */
  client(key: string): ServiceClient;
  /** The URL of the control plane, such as `http://127.0.0.1:4025/__mock`. */
  readonly control: string;
  /** The `X-Mock-Token` value that the control plane requires; `undefined` if it requires none. */
  readonly controlToken: string | undefined;
  /** The server for incoming mail over SMTP; `undefined` without SMTP. */
  readonly smtp:
    | {
        /** The port on which SMTP listens, at the same address as HTTP. */
        readonly port: number;
      }
    | undefined;
  /** The server for IMAP; `undefined` without IMAP. */
  readonly imap:
    | {
        /** The port on which IMAP listens, at the same address as HTTP. */
        readonly port: number;
      }
    | undefined;
  /**
   * Closes the server and all its connections within a second, after the time of the option `drain`.
   *
   * @throws {StateFileError} when the file of the option `state` cannot be written; the message says since when changes
   *   are lost. A second call does not write again.
   */
  close(): Promise<void>;
}

/**
 * Starts an HTTP server with a new mailbox. The promise resolves when the server listens.
 *
 * @example
 * await using server = await startServer({ port: 0 });
 * await fetch(`${server.url}/v1/webhooks`, { headers: { 'X-API-Key': server.mailbox.keys.acme.tenant } });
 *
 * @throws {FixtureError} {@link BehaviourError} {@link ApiError} for the same reasons as `createMailbox`.
 * @throws {RangeError} when a port is not a whole number from 0 to 65535, or for a reason of `createMailbox`.
 * @throws {StateFileError} when the file of the option `state` cannot be read or written, or another server has it.
 * @throws {TypeError} when another option is unknown or invalid, such as an origin in `corsOrigins` with a path.
 * @throws {Error} with Node's `code` (`EADDRINUSE`, `EACCES`, …) when it cannot listen.
 */
export function startServer(options?: Omit<ServerOptions, 'fixtures'>): Promise<MailboxServer>;
/** Starts a server with a custom fixture; the mailbox's `keys` and `ids` then have the fixture's handles. */
export function startServer<const F extends FixtureInput | NamedFixture>(
  options: ServerOptions<F> & { readonly fixtures: F | undefined },
): Promise<MailboxServer<FixtureKeys<F>, FixtureIds<F>>>;
export async function startServer(
  options: ServerOptions<NamedFixture> = {},
): Promise<Omit<MailboxServer, 'mailbox'> & { readonly mailbox: unknown }> {
  return startWithGuest(options, undefined);
}

/** Starts a server as `startServer` does, with a guest whose control calls are observed. */
export async function startWithGuest(
  options: ServerOptions<NamedFixture>,
  controlGuest: ControlGuest | undefined,
): Promise<Omit<MailboxServer, 'mailbox'> & { readonly mailbox: unknown }> {
  const { port, ownProcess, ...settings } = parseOptions(options);
  const { host, controlToken } = settings;
  const rules = createReceiverRules(settings.deliverTo);
  const outgoing = createOutgoingFetch(rules);
  const environment = { ...options.environment, fetch: options.environment?.fetch ?? outgoing.fetch };
  const internals = buildMailbox({ ...(await readMailFiles(options)), environment });
  for (const token of [controlToken, controlGuest?.token]) {
    if (token !== undefined) internals.service.worlds.secrets.add(token);
  }
  const intake = new Intake(internals.environment);
  const stateFile = await loadStateFile(internals, settings.state);
  let url = '';
  const log = startLog(internals, { ...settings, environment }, () => `${url}${CONTROL_PATH}/`);
  if (log && environment.fetch === outgoing.fetch) {
    logBlockedWebhooks(internals.service.journals, log, (webhookUrl) => findReasonToRefuse(rules, webhookUrl));
  }
  const output = new WaitingOutput(internals.environment, log);
  const work = new WorkQueue();
  const userHandlers = options.handlers && (await loadUserHandlers(options.handlers, internals).catch(stateFile.abort));
  const parts = { internals, userHandlers, intake, output, work, log };
  const app = new App({ ...settings, ...parts, controlGuest, process: ownProcess });
  const http = createHttpServer(app);

  const boundPort = await http.listen(port, host).catch(stateFile.abort);
  url = `http://${urlHost(host)}:${boundPort}`;
  outgoing.refuseOwnPort(boundPort);
  const mail = await loadMailServers(internals, { ...settings, intake, output, work }).catch(async (error) => {
    await Promise.all([http.close(), outgoing.close()]);
    return stateFile.abort(error);
  });
  const close = async () => {
    await waitForDrain(ownProcess);
    internals.service.faults.endWaits();
    await Promise.all([app.closeStreams(), http.close(), mail.close(), outgoing.close()]);
    // Requests that arrived while the server was closing may also wait for a fault to end.
    internals.service.faults.endWaits();
    await stateFile.close();
  };
  return {
    url,
    port: boundPort,
    mailbox: internals.mailbox,
    client: (key) => createClient({ baseUrl: url, key }),
    control: url + CONTROL_PATH,
    controlToken,
    smtp: mail.smtp,
    imap: mail.imap,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Checks the options of a server, besides those of its mailbox, and applies defaults. */
function parseOptions(options: ServerOptions<NamedFixture>) {
  checkOptions('startServer', options, OPTION_NAMES);
  const { log, colour = false } = options;
  const { publicUrl, drain, ...settings } = parseSettings(options);
  if (settings.tlsRequired && settings.tlsCert === undefined) {
    throw createOptionError(new TypeError('The option tlsRequired needs tlsCert and tlsKey.'), {
      option: 'tlsRequired',
      describe: (nameOf) => `${nameOf('tlsRequired')} needs ${nameOf('tlsCert')} and ${nameOf('tlsKey')}.`,
    });
  }
  if (log !== undefined && typeof log !== 'function') {
    throw new TypeError(`The option log must be a function, not ${describeValue(log)}.`);
  }
  const publicHosts = publicUrl === undefined ? [] : [new URL(publicUrl).hostname];
  return {
    ...settings,
    log,
    colour,
    controlToken: settings.controlToken ?? createDefaultToken(settings.host),
    allowedHosts: new Set([...settings.allowHosts, ...publicHosts]),
    allowedOrigins: new Set(settings.corsOrigins),
    ownProcess: { publicUrl, drainMs: parseDuration(drain), isEnding: false, readEvaluateSchema },
  };
}

/** Reads a JSON Schema of the command `evaluate`. Its code is loaded only when somebody asks for it. */
async function readEvaluateSchema(name: 'scenario' | 'evaluation'): Promise<Readonly<Record<string, unknown>>> {
  return (await import('./http/read-evaluate-schema.ts')).readEvaluateSchema(name);
}

/** Keeps the server running for the time of the option `drain`. A second call returns at once. */
async function waitForDrain(ownProcess: ReturnType<typeof parseOptions>['ownProcess']): Promise<void> {
  if (ownProcess.isEnding) return;
  ownProcess.isEnding = true;
  if (ownProcess.drainMs > 0) await new Promise((resolve) => setTimeout(resolve, ownProcess.drainMs));
}

/**
 * Creates the control token of a server that other machines can reach. The token is hexadecimal, because a token that
 * begins with `-` could not follow `--token`.
 */
function createDefaultToken(host: string): string | undefined {
  return isLoopbackHost(host) ? undefined : Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('hex');
}

/** Keeps the data in the file of the option `state`. Without this option, the code for state files is not loaded. */
async function loadStateFile({ stateParts }: MailboxInternals, path: string | undefined) {
  const file = path === undefined ? undefined : await (await import('./state-file.ts')).keepInFile(stateParts, path);
  const close = async () => file?.close();
  /** Closes the file after the start of the server has failed, and throws the error again. */
  const abort = async (error: unknown): Promise<never> => {
    await close();
    throw error;
  };
  return { close, abort };
}

/** Reads the mail files that a fixture names. Their paths are relative to the working folder. */
async function readMailFiles(options: MailboxOptions<NamedFixture>): Promise<MailboxOptions<NamedFixture>> {
  if (options.fixtures === undefined || options.fixtures === defaultFixture) return options;
  const { replaceMailFiles } = await import('./mail-files.ts');
  return { ...options, fixtures: await replaceMailFiles(options.fixtures, process.cwd()) };
}

/** Starts the servers for SMTP and IMAP. Their code is loaded only if an option asks for them. */
async function loadMailServers(internals: MailboxInternals, settings: MailServersSettings): Promise<MailServers> {
  const { smtpPort, imapPort, tlsCert, tlsKey } = settings;
  if ([smtpPort, imapPort, tlsCert, tlsKey].every((value) => value === undefined)) {
    return { smtp: undefined, imap: undefined, close: async () => {} };
  }
  return (await import('./mail/mail-servers.ts')).startMailServers(internals, settings);
}

/** Creates the function that runs the user's handlers. Its module is imported here, because few servers need msw. */
async function loadUserHandlers(handlers: ListenOptions['handlers'], { mailbox, report }: MailboxInternals) {
  const { createUserHandlers } = await import('./http/user-handlers.ts').catch((error: unknown) => {
    throw explainMissingMsw('Your handlers', error) ?? error;
  });
  return createUserHandlers(typeof handlers === 'function' ? handlers(mailbox) : handlers, report);
}

/** Starts the server's log, or returns `undefined` without a `log` option. An error of the log itself is not logged. */
function startLog({ service }: MailboxInternals, options: ServerOptions, inspectorUrl: () => string): Log | undefined {
  const { log: write, colour = false, environment } = options;
  const log = write && createLog(write, colour, createEnvironment(environment).report, service.worlds.mask.text);
  if (log) logActivity(service.journals, log, inspectorUrl);
  return log;
}

/** Returns the host in a URL by which this machine reaches a server that listens on `host`. */
function urlHost(host: string): string {
  const reachable = reachableHost(host);
  return reachable.includes(':') ? `[${reachable}]` : reachable;
}
