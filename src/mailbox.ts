import { createConnect } from './adapters/connect-stream.ts';
import { createFetch, isBelow } from './adapters/fetch.ts';
import { createHandlers } from './adapters/msw.ts';
import { type BehaviourOptions, type Choices, parseBehaviours } from './contract/behaviours.ts';
import { readSilently } from './contract/ledger-reader.ts';
import { DEFAULT_MAX_MAIL_BYTES, MailLimitError, showSize } from './contract/size.ts';
import { createMailboxClock } from './control/mailbox-clock.ts';
import { createMailboxFaults } from './control/mailbox-faults.ts';
import type { Mailbox } from './control/mailbox-interface.ts';
import { settle } from './control/settled.ts';
import { createWebhookLab } from './control/webhook-lab.ts';
import { Dispatcher } from './delivery/dispatcher.ts';
import { createEnvironment, type Environment } from './environment.ts';
import type { Activity } from './events/activity.ts';
import { createEventBus } from './events/event-bus.ts';
import { publishMail } from './events/mail-activity.ts';
import { Faults } from './faults/faults.ts';
import { defaultFixture } from './fixture/default-fixture.ts';
import { type FixtureIds, readFixtureIds } from './fixture/fixture-ids.ts';
import { type FixtureKeys, type NamedFixture, readFixtureKeys } from './fixture/fixture-keys.ts';
import { type FixtureInput, parseFixture } from './fixture/parse-fixture.ts';
import { acceptMessage } from './mail/accept-message.ts';
import { findInbox } from './mail/route.ts';
import { createOpenApi } from './openapi/create-openapi.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import type { FinishedExchange } from './pipeline/exchange.ts';
import { handleRequest } from './pipeline/handle-request.ts';
import type { ApiRequest } from './pipeline/http.ts';
import { createService } from './pipeline/service.ts';
import { seed } from './store/seed.ts';
import { readState } from './store/state.ts';
import { Worlds } from './store/worlds.ts';
import { createStreams, type Streams } from './stream/streams.ts';

export type { Mailbox } from './control/mailbox-interface.ts';

/** What `createMailbox` takes; everything has a default. */
export interface MailboxOptions<F extends NamedFixture = FixtureInput> {
  /** Where agent code thinks the service is. Default: `https://mailbox.test`. */
  readonly baseUrl?: string;
  /** What the mailbox starts with. Default: Acme and Globex, as in `fixtures/default.json`. */
  readonly fixtures?: F;
  /** Other readings of what the service document leaves open, by ledger id. */
  readonly behaviours?: BehaviourOptions;
  /**
   * How much mail is stored at most, in bytes, with its files and of every tenant; what does not fit is refused.
   * Default: 256 MiB.
   */
  readonly maxMailBytes?: number | undefined;
  /** Another clock, source of randomness or `fetch`, to make a mailbox repeatable or to let it call elsewhere. */
  readonly environment?: Partial<Environment>;
}

/**
 * Creates a mailbox with Acme and Globex in it.
 *
 * @example
 * const mailbox = createMailbox();
 * const server = setupServer(...mailbox.handlers);
 * await fetch('https://mailbox.test/v1/webhooks', { headers: { 'X-API-Key': mailbox.keys.acme.tenant } });
 *
 * @throws {FixtureError} when the fixture is not valid, with every problem and its JSON path.
 * @throws {BehaviourError} on an unknown behaviour or value, with what may have been meant.
 * @throws {RangeError} when `maxMailBytes` is not a whole number above 0, or the fixture has more mail than that.
 * @throws {TypeError} when `baseUrl` is not an absolute http or https URL.
 */
export function createMailbox(options?: Omit<MailboxOptions, 'fixtures'>): Mailbox;
/** Creates a mailbox with a fixture of one's own; `keys` and `ids` then have the fixture's handles. */
export function createMailbox<const F extends FixtureInput | NamedFixture>(
  options: MailboxOptions<F> & { readonly fixtures: F },
): Mailbox<FixtureKeys<F>, FixtureIds<F>>;
export function createMailbox(options: MailboxOptions<NamedFixture> = {}): Mailbox<never, never> {
  return buildMailbox(options).mailbox;
}

/** A mailbox with what only our own server uses of it. */
export interface BuiltMailbox extends Streams {
  readonly mailbox: Mailbox<never, never>;
  /** Answers a request to the service; it never rejects. */
  handle(request: ApiRequest): Promise<FinishedExchange>;
  readonly activity: Activity;
  /** Reports a failure of the emulator, as an activity too. */
  readonly report: Environment['report'];
}

/** Creates a mailbox as `createMailbox` does, for our own server. */
export function buildMailbox(options: MailboxOptions<NamedFixture>): BuiltMailbox {
  const choices = parseBehaviours(options.behaviours);
  const fixture = parseFixture(options.fixtures === undefined ? defaultFixture : options.fixtures, choices);
  const baseUrl = parseBaseUrl(options.baseUrl ?? 'https://mailbox.test');
  const { activity, outside } = watchFailures(createEnvironment(options.environment));
  const { report } = outside;
  const worlds = new Worlds(outside, parseMaxMailBytes(options.maxMailBytes));
  const events = createEventBus((error) => worlds.clock.reportFailure('an event', error));
  publishMail(worlds, events, activity);
  const faults = new Faults();
  const dispatcher = new Dispatcher(worlds, events, { outside, choices, activity, faults });
  seed(worlds, fixture);
  checkFixtureFits(worlds);
  const start = worlds.snapshot();
  const ledger = readSilently(choices);
  const service = createService({ worlds, events, choices });
  const { admit } = createStreams({ worlds, events, choices, activity });
  const handle = (request: ApiRequest) => handleRequest(service, request);
  const mailbox: Mailbox<never, never> = {
    baseUrl,
    ...createAdapters(baseUrl, { handle, admit, report }),
    keys: readFixtureKeys(fixture) as never,
    ids: readFixtureIds(fixture) as never,
    behaviours: choices,
    reset() {
      dispatcher.reset();
      faults.clear();
      worlds.restore(start);
    },
    receives: (address) => findInbox({ worlds, ...ledger }, address.toLowerCase()) !== undefined,
    receiveMessage: (message) => acceptMessage({ ...service, ...ledger }, message),
    clock: createMailboxClock(worlds),
    settled: (settledOptions) => settle({ worlds, dispatcher }, settledOptions),
    ...createWebhookLab(worlds, events, dispatcher),
    ...createMailboxFaults(worlds, faults),
    snapshot: () => readState(worlds),
    openApi: createOpenApiReader(choices),
  };
  return { mailbox, activity, report, handle, admit };
}

/** Publishes each failure of the emulator as an activity, and reports it as before. */
function watchFailures(given: Environment) {
  const activity: Activity = createEventBus(given.report);
  const report = (error: unknown) => {
    given.report(error);
    activity.publish({ kind: 'failure', error });
  };
  return { activity, outside: { ...given, report } };
}

/** The ways in for whoever is in the same process. */
function createAdapters(baseUrl: string, { handle, admit, report }: Omit<BuiltMailbox, 'mailbox' | 'activity'>) {
  const fetch = createFetch(handle);
  const connect = createConnect(admit);
  const prefixOf = ({ url }: { readonly url: string }) =>
    isBelow(baseUrl, url.replace(/^ws/, 'http')) ? baseUrl : undefined;
  return {
    handlers: createHandlers(baseUrl, { fetch, connect, report }),
    fetch: (request: Request) => fetch(request, prefixOf(request)),
    stream: (request: Pick<Request, 'url' | 'headers'>) => connect(request, prefixOf(request)),
  };
}

/** Makes the document once it is asked for, and answers a copy each time. */
function createOpenApiReader(choices: Choices): () => OpenApiDocument {
  let document: OpenApiDocument | undefined;
  return () => {
    document ??= createOpenApi(choices);
    return structuredClone(document);
  };
}

function parseMaxMailBytes(bytes = DEFAULT_MAX_MAIL_BYTES): number {
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  const shown = typeof bytes === 'number' ? String(bytes) : JSON.stringify(bytes);
  throw new MailLimitError(`The option maxMailBytes must be a whole number of bytes above 0, not ${shown}.`);
}

function checkFixtureFits(worlds: Worlds): void {
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
