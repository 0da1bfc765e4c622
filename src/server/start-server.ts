import { randomBytes } from 'node:crypto';
import type { RequestHandler } from 'msw';
import { ApiError } from '../contract/errors.ts';
import type { IncomingMessage } from '../contract/incoming-message.ts';
import { CONTROL_PATH } from '../control/control-path.ts';
import { createEnvironment, type Environment } from '../environment.ts';
import type { Activity } from '../events/activity.ts';
import type { DefaultIds, FixtureIds } from '../fixture/fixture-ids.ts';
import type { DefaultKeys, FixtureKeys, NamedFixture } from '../fixture/fixture-keys.ts';
import type { FixtureInput } from '../fixture/parse-fixture.ts';
import { type BuiltMailbox, buildMailbox, type Mailbox, type MailboxOptions } from '../mailbox.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from './default-address.ts';
import { App } from './http/app.ts';
import { createHttpServer } from './http/http-server.ts';
import { logActivity } from './log/activity-log.ts';
import { createLog, type Log } from './log/log-format.ts';
import { isLoopbackHost } from './loopback.ts';
import { createOutgoingFetch } from './outgoing/outgoing-fetch.ts';
import { createReceiverRules } from './outgoing/receiver-rules.ts';
import { parseListOption, parseLog, parseOption, type SettingOptions } from './server-settings.ts';
import { createSmtpServer } from './smtp/smtp-server.ts';

/** What a server takes besides what its mailbox takes. */
export interface ListenOptions extends SettingOptions {
  /**
   * Handlers of msw, `http` or `graphql`, that answer before the emulator does: to add routes, or to replace its own.
   * A path without an origin, such as `/v1/webhooks`, is one of this server. A function gets the server's mailbox.
   * `/__mock` and event streams stay the emulator's. Default: none.
   *
   * @example
   * startServer({ handlers: [http.get('/v1/weather', () => HttpResponse.json({ sky: 'clear' }))] });
   */
  readonly handlers?: readonly RequestHandler[] | ((mailbox: Mailbox) => readonly RequestHandler[]);
  /**
   * Gets one line for each request, each attempt at a delivery, each mail that comes in, and each stream that is opened
   * or closed, with keys and secrets masked. Default: none.
   */
  readonly log?: (line: string) => void;
  /** Whether the lines of the log have colours, for a terminal. Default: no. */
  readonly colour?: boolean;
}

/** What `startServer` takes; everything has a default. */
export interface ServerOptions<F extends NamedFixture = FixtureInput>
  extends Omit<MailboxOptions<F>, 'baseUrl'>,
    ListenOptions {}

/** A running server. It closes by `close()`, or at the end of an `await using` block. */
export interface MailboxServer<Keys = DefaultKeys, Ids = DefaultIds> extends AsyncDisposable {
  /** Where the service is, such as `http://127.0.0.1:4025`. */
  readonly url: string;
  /** The port on which the server listens. */
  readonly port: number;
  /** The mailbox behind it, for its keys, `reset()` and `snapshot()`. */
  readonly mailbox: Mailbox<Keys, Ids>;
  /** Where the control plane is, such as `http://127.0.0.1:4025/__mock`. */
  readonly control: string;
  /** What `X-Mock-Token` must carry to use the control plane; `undefined` when bound to loopback. */
  readonly controlToken: string | undefined;
  /** Where mail is taken in over SMTP; `undefined` when that is off. */
  readonly smtp:
    | {
        /** The port on which SMTP listens, at the same address as HTTP. */
        readonly port: number;
      }
    | undefined;
  /** Ends the server within a second, whatever its connections do. */
  close(): Promise<void>;
}

/**
 * Starts an HTTP server with a mailbox of its own; it resolves once the server listens.
 *
 * @example
 * await using server = await startServer({ port: 0 });
 * await fetch(`${server.url}/v1/webhooks`, { headers: { 'X-API-Key': server.mailbox.keys.acme.tenant } });
 *
 * @throws {FixtureError} {@link BehaviourError} as `createMailbox` does.
 * @throws {RangeError} when the port is not a whole number from 0 to 65535.
 * @throws {TypeError} when another option is not what it should be, such as an origin in `corsOrigins` with a path.
 * @throws {Error} with the `code` that Node gives (`EADDRINUSE`, `EACCES`, …) when it cannot listen.
 */
export function startServer(options?: Omit<ServerOptions, 'fixtures'>): Promise<MailboxServer>;
/** Starts a server with a fixture of one's own; the mailbox's `keys` and `ids` then have the fixture's handles. */
export function startServer<const F extends FixtureInput | NamedFixture>(
  options: ServerOptions<F> & { readonly fixtures: F },
): Promise<MailboxServer<FixtureKeys<F>, FixtureIds<F>>>;
export async function startServer(options: ServerOptions<NamedFixture> = {}): Promise<MailboxServer<never, never>> {
  const { host, port, smtpPort, controlToken, mailboxOptions, ...settings } = parseSettings(options);
  const outgoing = createOutgoingFetch(createReceiverRules(settings.deliverTo));
  const environment = { fetch: outgoing.fetch, ...mailboxOptions.environment };
  const built = buildMailbox({ ...mailboxOptions, environment });
  const { mailbox, activity, report } = built;
  const log = openLog(activity, settings, createEnvironment(environment).report);
  const userHandlers = options.handlers && (await loadUserHandlers(options.handlers, built));
  const app = new App({ ...settings, built, userHandlers, controlToken, log });
  const http = createHttpServer(app);
  const smtp = smtpPort === undefined ? undefined : createSmtpServer(reporting(mailbox, report));

  const boundPort = await http.listen(port, host);
  outgoing.refuseOwnPort(boundPort);
  const boundSmtpPort = await smtp?.listen(smtpPort ?? 0, host).catch(async (error: unknown) => {
    await Promise.all([http.close(), outgoing.close()]);
    throw error;
  });
  const close = async () => {
    app.closeStreams();
    await Promise.all([http.close(), smtp?.close(), outgoing.close()]);
  };
  const url = `http://${urlHost(host)}:${boundPort}`;
  return {
    url,
    port: boundPort,
    mailbox,
    control: url + CONTROL_PATH,
    controlToken,
    smtp: boundSmtpPort === undefined ? undefined : { port: boundSmtpPort },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Checks the options of a server, and answers them with their defaults; what is left is for its mailbox. */
function parseSettings({
  port = DEFAULT_PORT,
  host = DEFAULT_HOST,
  allowHosts = [],
  corsOrigins = [],
  smtpPort,
  deliverTo = [],
  handlers: _,
  log,
  colour = false,
  ...mailboxOptions
}: ServerOptions<NamedFixture>) {
  const boundHost = parseOption('host', host);
  return {
    host: boundHost,
    port: parseOption('port', port),
    smtpPort: smtpPort === undefined ? undefined : parseOption('smtpPort', smtpPort),
    allowedHosts: new Set(parseListOption('allowHosts', allowHosts)),
    allowedOrigins: new Set(parseListOption('corsOrigins', corsOrigins)),
    deliverTo,
    controlToken: isLoopbackHost(boundHost) ? undefined : randomBytes(18).toString('base64url'),
    writeLine: parseLog(log),
    colour,
    mailboxOptions,
  };
}

/** Loads express and msw, which is only done where somebody brings handlers. */
async function loadUserHandlers(given: ListenOptions['handlers'], { mailbox, report }: BuiltMailbox) {
  const { createUserHandlers } = await import('./http/user-handlers.ts');
  return createUserHandlers(typeof given === 'function' ? given(mailbox) : given, report);
}

/** The part of a mailbox that takes mail in over SMTP, by which a client is only told that the emulator failed. */
function reporting({ receives, receiveMessage }: Mailbox<never>, report: Environment['report']) {
  return {
    receives,
    receiveMessage: (message: IncomingMessage) =>
      receiveMessage(message).catch((error: unknown) => {
        if (!(error instanceof ApiError)) report(error);
        throw error;
      }),
  };
}

/** The log of a server; none where nobody reads it. What it throws is only printed, since a log would repeat it. */
function openLog(
  activity: Activity,
  { writeLine, colour }: Pick<ReturnType<typeof parseSettings>, 'writeLine' | 'colour'>,
  report: Environment['report'],
): Log | undefined {
  const log = writeLine && createLog({ write: writeLine, isColoured: colour, report });
  if (log) logActivity(activity, log);
  return log;
}

/** The host by which this machine reaches what is bound to `host`. */
function urlHost(host: string): string {
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return reachable.includes(':') ? `[${reachable}]` : reachable;
}
