import { createConnect } from './adapters/connect-stream.ts';
import { createFetch, isUnderBaseUrl } from './adapters/fetch.ts';
import type { createHandlers } from './adapters/msw.ts';
import { createSilentReader } from './contract/behaviour-reader.ts';
import { type BehaviourOptions, parseBehaviours } from './contract/behaviours.ts';
import { DEFAULT_MAX_MAIL_BYTES, MailLimitError, showSize } from './contract/size.ts';
import { createControls, createOpenApiReader } from './control/create-controls.ts';
import { addFirstFaults } from './control/mailbox-faults.ts';
import type { Mailbox } from './control/mailbox-interface.ts';
import { createSandboxControls } from './control/sandboxes.ts';
import { Dispatcher } from './delivery/dispatcher.ts';
import { createEnvironment, type Environment, type EnvironmentOverrides } from './environment.ts';
import type { Activity } from './events/activity.ts';
import { createEventBus } from './events/event-bus.ts';
import { publishMail } from './events/mail-activity.ts';
import type { FaultOptions } from './faults/fault.ts';
import { Faults } from './faults/faults.ts';
import type { SmtpFault } from './faults/smtp-fault.ts';
import { checkedDefaultFixture } from './fixture/checked-default-fixture.ts';
import { defaultFixture } from './fixture/default-fixture.ts';
import { readFixtureIds } from './fixture/fixture-ids.ts';
import { type NamedFixture, readFixtureKeys } from './fixture/fixture-keys.ts';
import { type Fixture, type FixtureInput, parseFixture } from './fixture/parse-fixture.ts';
import { Recorder } from './journal/recorder.ts';
import { findInbox } from './mail/route.ts';
import type { FinishedExchange } from './pipeline/exchange.ts';
import { handleRequest } from './pipeline/handle-request.ts';
import { type ApiRequest, ConnectionCutError } from './pipeline/http.ts';
import { createService, type Service } from './pipeline/service.ts';
import { seed } from './store/seed.ts';
import { Worlds } from './store/worlds.ts';
import { createStreams, type Streams } from './stream/streams.ts';

export type { Mailbox } from './control/mailbox-interface.ts';

/** Options of `createMailbox`; each has a default. */
export interface MailboxOptions<F extends NamedFixture = FixtureInput> {
  /** The URL at which agent code calls the service. Default: `https://mailbox.test`. */
  readonly baseUrl?: string | undefined;
  /** The initial data. Default: the tenants Acme and Globex, as in `fixtures/default.json`. */
  readonly fixtures?: F | undefined;
  /** The values of behaviours to change, by behaviour id. All other behaviours have their default values. */
  readonly behaviours?: BehaviourOptions | undefined;
  /**
   * The maximum size of all stored mail of all tenants, attachments included, in bytes. Mail that does not fit is
   * refused. Default: 256 MiB.
   */
  readonly maxMailBytes?: number | undefined;
  /** Faults that are set from the start and again after a reset, as by `addFault`. Default: none. */
  readonly faults?: readonly FaultOptions[] | undefined;
  /**
   * How many requests of each tenant the journal keeps, from 0 to 100,000; with 0, requests are not recorded.
   * Default: 1,000.
   */
  readonly journalSize?: number | undefined;
  /** Replacements for the clock, randomness, `fetch` or error report. Default: those of the platform. */
  readonly environment?: EnvironmentOverrides | undefined;
}

/** A mailbox and its internal parts that are not public. The server uses them. */
export interface MailboxInternals extends Streams {
  readonly mailbox: Mailbox<never, never>;
  /** Handles a request to the service; it never rejects. */
  handle(request: ApiRequest): Promise<FinishedExchange>;
  readonly activity: Activity;
  readonly faults: Faults;
  /** Returns the fault that happens to a recipient over SMTP, if any. */
  takeSmtpFault(address: string): SmtpFault | undefined;
  /** Ends the live feed of every reader, and every wait for mail. */
  endWaits(): void;
  /** Reports a failure of the emulator and publishes it as an activity. */
  readonly report: Environment['report'];
}

/**
 * Creates a mailbox with the internal parts that the server uses. Without `createMswHandlers`, which loads msw, the
 * mailbox has no `handlers`: a server needs none.
 */
export function buildMailbox(
  options: MailboxOptions<NamedFixture>,
  createMswHandlers?: typeof createHandlers,
): MailboxInternals {
  const behaviours = parseBehaviours(options.behaviours);
  const { fixtures = defaultFixture } = options;
  const fixture = fixtures === defaultFixture ? checkedDefaultFixture : parseFixture(fixtures, behaviours);
  const baseUrl = parseBaseUrl(options.baseUrl ?? 'https://mailbox.test');
  const { activity, realEnvironment, report } = publishFailures(createEnvironment(options.environment));
  const worlds = createSeededWorlds(realEnvironment, fixture, options.maxMailBytes);
  const events = createEventBus((error) => worlds.clock.reportFailure('an event', error));
  publishMail(worlds, events, activity);
  const faults = new Faults(realEnvironment);
  const dispatcher = new Dispatcher(worlds, events, { realEnvironment, behaviours, activity, faults });
  const service = createService({ worlds, events, behaviours, faults });
  const { admit } = createStreams({ worlds, events, behaviours, activity, faults });
  const recorder = new Recorder({ service, realEnvironment, activity }, options.journalSize);
  const handle = (request: ApiRequest) => handleRequest(service, request);
  const keys = readFixtureKeys(fixture);
  const parts = { baseUrl, service, dispatcher, recorder, openApi: createOpenApiReader(behaviours) };
  const controls = createControls(parts, { worlds, keys });
  const { sandboxControls, resetSandboxes } = createSandboxControls({ ...parts, realEnvironment, activity, fixture });
  worlds.onRemoved(() => void controls.faults());
  addFirstFaults(controls, options.faults ?? []);
  const locate = createInboxFinder(service);
  const mailbox: Mailbox<never, never> = {
    ...controls,
    ...sandboxControls,
    ...createAdapters(baseUrl, { handle, admit, report }, createMswHandlers),
    keys: keys as never,
    ids: readFixtureIds(fixture) as never,
    reset: createReset({ worlds, dispatcher, faults, recorder }, resetSandboxes),
    receives: (address) => locate(address) !== undefined,
  };
  if (!createMswHandlers) Object.defineProperty(mailbox, 'handlers', { get: refuseHandlers, enumerable: false });
  const takeSmtpFault = createSmtpFaultTaker(faults, locate);
  return { mailbox, activity, faults, report, handle, admit, takeSmtpFault, endWaits: () => recorder.end() };
}

/** Returns a function that finds the inbox of an address, in any tenant or sandbox. */
function createInboxFinder({ worlds, behaviours }: Service) {
  const reader = createSilentReader(behaviours);
  return (address: string) => findInbox({ worlds, ...reader }, address.toLowerCase());
}

/** Returns a function that takes the fault of a recipient over SMTP. */
function createSmtpFaultTaker(faults: Faults, locate: ReturnType<typeof createInboxFinder>) {
  return (address: string) => {
    const inbox = locate(address);
    return inbox && faults.take({ on: 'smtp', tenantId: inbox.world.id, recipient: address.toLowerCase() });
  };
}

/** Creates the worlds of a fixture. */
function createSeededWorlds(realEnvironment: Environment, fixture: Fixture, maxMailBytes: number | undefined): Worlds {
  const worlds = new Worlds(realEnvironment, parseMaxMailBytes(maxMailBytes));
  seedWithinLimit(worlds, fixture);
  return worlds;
}

/** Wraps `report` so that each failure of the emulator is also published as an activity. */
function publishFailures(environment: Environment) {
  const activity: Activity = createEventBus(environment.report);
  const report = (error: unknown) => {
    environment.report(error);
    activity.publish({ kind: 'failure', error });
  };
  return { activity, realEnvironment: { ...environment, report }, report };
}

interface Resettable {
  readonly worlds: Worlds;
  readonly dispatcher: Dispatcher;
  readonly faults: Faults;
  readonly recorder: Recorder;
}

/** Returns a function that restores the present state and closes every sandbox. */
function createReset({ worlds, dispatcher, faults, recorder }: Resettable, resetSandboxes: () => void): () => void {
  const start = { worlds: worlds.snapshot(), faults: faults.list() };
  return () => {
    dispatcher.reset(worlds.all());
    faults.restore(start.faults);
    worlds.restore(start.worlds);
    resetSandboxes();
    recorder.reset();
  };
}

/** Creates the functions and handlers that serve code in the same process. */
function createAdapters(
  baseUrl: string,
  { handle, admit, report }: Pick<MailboxInternals, 'handle' | 'admit' | 'report'>,
  createMswHandlers: typeof createHandlers | undefined,
) {
  const fetch = createFetch(handle);
  const connect = createConnect(admit);
  const prefixOf = ({ url }: { readonly url: string }) =>
    isUnderBaseUrl(baseUrl, url.replace(/^ws/, 'http')) ? baseUrl : undefined;
  return {
    handlers: createMswHandlers?.(baseUrl, { fetch, connect, report }) ?? [],
    async fetch(request: Request) {
      const response = await fetch(request, prefixOf(request));
      if (response.type === 'error') throw new ConnectionCutError();
      return response;
    },
    stream: (request: Pick<Request, 'url' | 'headers'>) => connect(request, prefixOf(request)),
  };
}

function refuseHandlers(): never {
  throw new TypeError('The mailbox of a server has no msw handlers; create one by createMailbox() to use them.');
}

function parseMaxMailBytes(bytes = DEFAULT_MAX_MAIL_BYTES): number {
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  const shown = typeof bytes === 'number' ? String(bytes) : JSON.stringify(bytes);
  throw new MailLimitError(`The option maxMailBytes must be a whole number of bytes above 0, not ${shown}.`);
}

/** Inserts the fixture. @throws {MailLimitError} if its mail is larger than the limit. */
function seedWithinLimit(worlds: Worlds, fixture: Fixture): void {
  seed(worlds, fixture);
  const [used, limit] = [worlds.countMailBytes(), worlds.maxMailBytes];
  if (used <= limit) return;
  throw new MailLimitError(
    `The fixture has ${showSize(used)} of mail, and ${showSize(limit)} may be stored; allow more by --max-mail <size>, or maxMailBytes in code.`,
  );
}

function parseBaseUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && !/[?#]/.test(baseUrl) && !url.username && !url.password;
  if (isPlain) return url.href.replace(/\/+$/, '');
  throw new TypeError(
    `The option baseUrl must be an absolute http or https URL without query, fragment or password, not ${JSON.stringify(baseUrl)}.`,
  );
}
