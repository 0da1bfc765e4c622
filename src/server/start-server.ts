import type { RequestHandler } from 'msw';
import { checkOptions } from '../basics/check-options.ts';
import { ApiError } from '../contract/errors.ts';
import { CONTROL_PATH } from '../control/table/control-path.ts';
import { defaultFixture } from '../fixture/default-fixture.ts';
import type { DefaultIds, FixtureIds } from '../fixture/fixture-ids.ts';
import type { DefaultKeys, FixtureKeys, NamedFixture } from '../fixture/fixture-keys.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import {
  buildMailbox,
  explainMissingMsw,
  type Mailbox,
  type MailboxInternals,
  type MailboxOptions,
  SHARED_OPTION_NAMES,
} from '../mailbox/mailbox.ts';
import { parseDuration } from '../world/clock.ts';
import { createEnvironment, type Environment, type EnvironmentOverrides, memoryForMail } from '../world/environment.ts';
import { logActivity, logRefusedWebhooks } from './activity-log.ts';
import { App } from './http/app.ts';
import { createHttpServer } from './http/http-server.ts';
import { Intake } from './intake.ts';
import { createLog, type Log } from './log-format.ts';
import { DEFAULT_HOST, DEFAULT_PORT, isLoopbackHost, reachableHost } from './loopback.ts';
import type { MailServers, MailServersSettings } from './mail/mail-servers.ts';
import { createOutgoingFetch, createReceiverRules, findReasonFor } from './outgoing-fetch.ts';
import { parseListOption, parseLog, parseOption, SERVER_SETTINGS, type SettingOptions } from './server-settings.ts';

/** Options of a server, besides those of its mailbox. */
export interface ListenOptions extends SettingOptions {
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
  /** Whether IMAP and SMTP refuse a login without TLS; needs `tlsCert`. Default: `false`. */
  readonly tlsRequired?: boolean | undefined;
  /** Whether the log has a line for each control call, and for each file of the inspector. Default: `false`. */
  readonly verbose?: boolean | undefined;
}

/** Options of `startServer`; each has a default. */
export interface ServerOptions<F extends NamedFixture = FixtureInput>
  extends Omit<MailboxOptions<F>, 'baseUrl' | 'persist'>,
    ListenOptions {}

const OTHER_OPTIONS: readonly (keyof ListenOptions)[] = ['handlers', 'log', 'colour', 'verbose', 'tlsRequired'];
const OPTION_NAMES = [...Object.keys(SERVER_SETTINGS), ...OTHER_OPTIONS, ...SHARED_OPTION_NAMES];

/** A running server. `close()`, or the end of an `await using` block, closes it. */
export interface MailboxServer<Keys = DefaultKeys, Ids = DefaultIds> extends AsyncDisposable {
  /** The URL of the service, such as `http://127.0.0.1:4025`. */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** The server's mailbox, for its keys, `reset()` and `snapshot()`. */
  readonly mailbox: Mailbox<Keys, Ids>;
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
 * @throws {FixtureError} {@link BehaviourError} {@link ApiError} as `createMailbox` does.
 * @throws {RangeError} when a port is not a whole number from 0 to 65535, or as `createMailbox` does.
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
  const { host, port, mailSettings, controlToken, mailboxOptions, own, ...settings } = parseSettings(options);
  const outgoing = createOutgoingFetch(createReceiverRules(settings.deliverTo));
  const environment = { ...mailboxOptions.environment, fetch: mailboxOptions.environment?.fetch ?? outgoing.fetch };
  const internals = buildMailbox({ ...(await readMailOf(mailboxOptions)), environment });
  const stateFile = await loadStateFile(internals, settings.stateFile);
  let url = '';
  const log = createServerLog(internals, { ...settings, url: () => url }, environment, outgoing.fetch);
  const userHandlers = options.handlers && (await loadUserHandlers(options.handlers, internals).catch(stateFile.leave));
  const app = new App({ ...settings, internals, userHandlers, controlToken, log, process: own });
  const http = createHttpServer(app);

  const boundPort = await http.listen(port, host).catch(stateFile.leave);
  url = `http://${urlHost(host)}:${boundPort}`;
  outgoing.refuseOwnPort(boundPort);
  const mail = await loadMailServers(internals, { ...mailSettings, ...settings, host }).catch(async (error) => {
    await Promise.all([http.close(), outgoing.close()]);
    return stateFile.leave(error);
  });
  const close = async () => {
    await drain(own);
    internals.service.faults.endWaits();
    await Promise.all([app.closeStreams(), http.close(), mail.close(), outgoing.close()]);
    // Requests that arrived meanwhile may wait, too.
    internals.service.faults.endWaits();
    await stateFile.close();
  };
  return {
    ...{ url, port: boundPort },
    mailbox: internals.mailbox,
    control: url + CONTROL_PATH,
    controlToken,
    ...{ smtp: mail.smtp, imap: mail.imap },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Checks the options of a server and applies defaults. The remaining options are returned as `mailboxOptions`. */
function parseSettings(options: ServerOptions<NamedFixture>) {
  const {
    port = DEFAULT_PORT,
    host = DEFAULT_HOST,
    allowHosts = [],
    publicUrl,
    drain,
    corsOrigins = [],
    smtpPort,
    imapPort,
    tlsCert,
    tlsKey,
    tlsRequired = false,
    deliverTo = [],
    controlToken,
    state,
    handlers: _,
    log,
    colour = false,
    verbose = false,
    ...mailboxOptions
  } = checkOptions('startServer', options, OPTION_NAMES);
  const boundHost = parseOption('host', host);
  const own = parseOwn({ publicUrl, drain });
  return {
    host: boundHost,
    port: parseOption('port', port),
    mailSettings: parseMailSettings({ smtpPort, imapPort, tlsCert, tlsKey, tlsRequired }),
    allowedHosts: new Set([...parseListOption('allowHosts', allowHosts), ...own.hosts]),
    own,
    allowedOrigins: new Set(parseListOption('corsOrigins', corsOrigins)),
    deliverTo,
    controlToken: controlToken === undefined ? defaultToken(boundHost) : parseOption('controlToken', controlToken),
    stateFile: state === undefined ? undefined : parseOption('state', state),
    writeLine: parseLog(log),
    ...{ colour, verbose },
    intake: new Intake(memoryForMail(createEnvironment(mailboxOptions.environment))),
    mailboxOptions,
  };
}

/** Checks the options by which a server is one of several. */
function parseOwn({ publicUrl, drain = 0 }: Pick<SettingOptions, 'publicUrl' | 'drain'>) {
  const url = publicUrl === undefined ? undefined : parseOption('publicUrl', publicUrl);
  const hosts = url === undefined ? [] : [new URL(url).hostname];
  return { publicUrl: url, hosts, drainMs: parseDuration(parseOption('drain', drain)), isEnding: false };
}

/** Lets everything work on for the time of the option `drain`, once. */
async function drain(own: ReturnType<typeof parseOwn>): Promise<void> {
  if (own.isEnding) return;
  own.isEnding = true;
  if (own.drainMs > 0) await new Promise((resolve) => setTimeout(resolve, own.drainMs));
}

/** Checks the options of the servers for SMTP and IMAP. */
function parseMailSettings({ tlsRequired = false, ...options }: Partial<ListenOptions>) {
  const parse = <Name extends 'smtpPort' | 'imapPort' | 'tlsCert' | 'tlsKey'>(name: Name) =>
    options[name] === undefined ? undefined : parseOption(name, options[name]);
  if (tlsRequired && options.tlsCert === undefined) {
    throw new TypeError('The option tlsRequired needs tlsCert and tlsKey.');
  }
  return {
    ports: { smtp: parse('smtpPort'), imap: parse('imapPort') },
    tlsFiles: { cert: parse('tlsCert'), key: parse('tlsKey') },
    isTlsRequired: tlsRequired,
  };
}

/**
 * Creates the control token of a server that other machines can reach. It is hexadecimal, because one that began with
 * `-` could not follow `--token`.
 */
function defaultToken(host: string): string | undefined {
  return isLoopbackHost(host) ? undefined : Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('hex');
}

/** Keeps the state in a file, if one is given; only then is the code for it loaded. `leave` is for a failed start. */
async function loadStateFile({ whole }: MailboxInternals, path: string | undefined) {
  const file = path === undefined ? undefined : await (await import('./state-file.ts')).keepInFile(whole, path);
  const close = async () => file?.close();
  const leave = async (error: unknown): Promise<never> => {
    await close();
    throw error;
  };
  return { close, leave };
}

/** Reads the mail files that a fixture names by paths relative to the working folder. The default fixture has none. */
async function readMailOf(options: MailboxOptions<NamedFixture>): Promise<MailboxOptions<NamedFixture>> {
  if (options.fixtures === undefined || options.fixtures === defaultFixture) return options;
  const { resolveMail } = await import('./mail-files.ts');
  return { ...options, fixtures: await resolveMail(options.fixtures, process.cwd()) };
}

/** Starts the servers for SMTP and IMAP. Their code is loaded only if an option asks for them. */
async function loadMailServers(internals: MailboxInternals, settings: MailServersSettings): Promise<MailServers> {
  if (Object.values({ ...settings.ports, ...settings.tlsFiles }).every((value) => value === undefined)) {
    return { smtp: undefined, imap: undefined, close: async () => {} };
  }
  const { startMailServers } = await import('./mail/mail-servers.ts');
  return startMailServers(internals, settings);
}

/** Creates the user's handlers. Express and msw are imported only here, because most servers do not need them. */
async function loadUserHandlers(handlers: ListenOptions['handlers'], { mailbox, report }: MailboxInternals) {
  const { createUserHandlers } = await import('./http/user-handlers.ts').catch((error: unknown) => {
    throw explainMissingMsw('Own handlers', error) ?? error;
  });
  return createUserHandlers(typeof handlers === 'function' ? handlers(mailbox) : handlers, report);
}

/** What the log of a server needs; `url` returns that of the server. */
interface LogSettings extends Pick<ReturnType<typeof parseSettings>, 'writeLine' | 'colour' | 'deliverTo'> {
  url(): string;
}

/** Creates the server's log, or returns `undefined` without a `log` option. Its own errors are not logged again. */
function createServerLog(
  { activity, service }: MailboxInternals,
  { writeLine, colour, url, deliverTo }: LogSettings,
  environment: EnvironmentOverrides,
  ownFetch: Environment['fetch'],
): Log | undefined {
  const { report } = createEnvironment(environment);
  const log = writeLine && createLog({ write: writeLine, isColoured: colour, report });
  if (log) logActivity(activity, log, () => `${url()}${CONTROL_PATH}/`);
  if (log && environment.fetch === ownFetch) {
    service.observers.push(logRefusedWebhooks(log, (link) => findReasonFor(createReceiverRules(deliverTo), link)));
  }
  return log;
}

/** Returns the host in a URL by which this machine reaches a server that listens on `host`. */
function urlHost(host: string): string {
  const reachable = reachableHost(host);
  return reachable.includes(':') ? `[${reachable}]` : reachable;
}
