import { checkOptions, describeValue, parseOptions } from '../basics/check-options.ts';
import { foldAddress } from '../basics/domain-name.ts';
import { lazy } from '../basics/lazy-schema.ts';

import { trimEndSlashes } from '../basics/text.ts';
import { checkNodeVersion } from '../basics/version.ts';
import { createClient } from '../contract/client/create-client.ts';
import { ApiError } from '../contract/errors.ts';
import { createBehaviourControls, LiveBehaviours } from '../control/behaviour-controls.ts';
import { createScope } from '../control/control-scope.ts';
import { createControls, createSharedParts } from '../control/create-controls.ts';
import { addInitialFaults } from '../control/faults/mailbox-faults.ts';
import { createInboxControls } from '../control/inbox-controls.ts';
import { Feeds } from '../control/journal/feed.ts';
import { MailLog } from '../control/mail/mail-log.ts';
import type { Mailbox } from '../control/mailbox-interface.ts';
import { createSandboxControls, Sandboxes } from '../control/sandboxes.ts';
import { Checkpoints } from '../control/state/checkpoints.ts';
import { keepInPage } from '../control/state/page-storage.ts';
import { readKeysAndIds } from '../control/state/saved-state.ts';
import { StateKeeper, type WholeParts } from '../control/state/state-keeper.ts';
import { checkedDefaultFixture, defaultFixture } from '../fixture/default-fixture.ts';
import type { NamedFixture } from '../fixture/keys-and-ids.ts';
import { parseFixture } from '../fixture/parse-fixture.ts';
import { ConnectedHandlers } from '../service/delivery/connected-handlers.ts';
import { Dispatcher } from '../service/delivery/dispatcher.ts';
import { Schedule } from '../service/delivery/schedule.ts';
import { Journals } from '../service/journal/journals.ts';
import { Correspondents } from '../service/mail/correspondents/correspondents.ts';
import { LoopGuard } from '../service/mail/outgoing/loop-guard.ts';
import type { ApiRequest, FinishedExchange } from '../service/pipeline/exchange.ts';
import { handleRequest } from '../service/pipeline/handle-request.ts';
import { createService, type Service } from '../service/pipeline/service.ts';
import { createStreams, type Streams } from '../service/stream/streams.ts';
import { createEnvironment, type Environment } from '../world/environment.ts';
import type { SmtpFault } from '../world/fault.ts';
import { Faults } from '../world/faults.ts';
import { createSeededRandom } from '../world/seeded-randomness.ts';
import { seedWithinLimit } from '../world/store/seed/seed.ts';
import type { World } from '../world/store/world.ts';
import { Worlds } from '../world/store/worlds.ts';
import { createClientFunctions, createConnect, createFetch } from './fetch.ts';
import { MAILBOX_OPTIONS, type MailboxOptions, SHARED_OPTION_NAMES } from './mailbox-options.ts';
import { createHandlers, type Msw } from './msw.ts';

export type { Mailbox } from '../control/mailbox-interface.ts';

/** A mailbox and its internal parts, which are not public. The server uses these parts. */
export interface MailboxInternals extends Streams {
  readonly mailbox: Mailbox<never, never>;
  readonly service: Service;
  /** The environment. Its time is the real time, not the time of the mailbox's clock. */
  readonly environment: Environment;
  /** Handles a request to the service. The promise never rejects. */
  handle(request: ApiRequest): Promise<FinishedExchange>;
  /** Returns the SMTP fault that applies to a recipient, and counts its use; `undefined` if there is no such fault. */
  takeSmtpFault(address: string): SmtpFault | undefined;
  /** Ends all live feeds, and all calls that wait for mail. */
  endWaits(): void;
  /** The parts whose data can be saved in a file or in a web page. */
  readonly stateParts: WholeParts;
  /** Reports a failure of the emulator and adds it to the journal. */
  readonly report: Environment['report'];
}

/** Creates a mailbox for code in the same process. `loadMsw` is called when `handlers` are read for the first time. */
export function createMailboxWith(options: MailboxOptions<NamedFixture> = {}, loadMsw: LoadMsw): Mailbox<never, never> {
  checkOptions('createMailbox', options, ['baseUrl', 'persist', ...SHARED_OPTION_NAMES]);
  const { mailbox, stateParts } = buildMailbox(options, loadMsw);
  if (options.persist !== undefined) keepInPage(stateParts.state, mailbox.baseUrl, options.persist);
  return mailbox;
}

/** Loads msw. Throws if it cannot be loaded. */
type LoadMsw = () => Msw;

/**
 * Creates a mailbox with the internal parts that the server uses. This function is the plan of the whole: it makes each
 * part once, from the inside to the outside, and gives it the parts that it may know.
 */
export function buildMailbox(
  options: MailboxOptions<NamedFixture>,
  loadMsw: LoadMsw = refuseHandlers,
): MailboxInternals {
  checkNodeVersion();
  const baseUrl = parseBaseUrl(options.baseUrl);
  const { seed, maxMailBytes, journalSize, loopLimit } = parseOptions(MAILBOX_OPTIONS, options);

  // The behaviours, and the fixture, which is checked by them.
  const live = new LiveBehaviours(options.profile, options.behaviours);
  const behaviours = live.values;
  const { fixtures = defaultFixture } = options;
  const fixture = fixtures === defaultFixture ? checkedDefaultFixture : parseFixture(fixtures, behaviours);

  // What comes from outside: time, randomness and `fetch`. A failure of the emulator becomes an entry of the journal.
  const random = seed === undefined ? undefined : createSeededRandom(seed);
  const environment = createEnvironment({ ...options.environment, ...(random && { randomBytes: random }) });
  const report = (error: unknown) => {
    environment.report(error);
    journals.publish(null, 'failure', { error });
  };
  const realEnvironment = { ...environment, report };

  // The worlds, which have the data of the tenants, the journal, and the faults.
  const worlds = new Worlds(realEnvironment, maxMailBytes);
  const journals = new Journals(worlds, realEnvironment, journalSize);
  const faults = new Faults(worlds, journals, realEnvironment);

  // The service: deliveries, mail, operations and streams.
  const handlersOf = worlds.addPart('handlers', (world: World) => new ConnectedHandlers(world));
  const deliveryContext = { realEnvironment, behaviours, journals, faults, handlersOf, slowReceivers: new WeakMap() };
  const schedules = worlds.addPart('deliveries', (world: World) => new Schedule(world, deliveryContext));
  const dispatcher = new Dispatcher(worlds, journals, schedules, behaviours);
  const loops = new LoopGuard(worlds, journals, loopLimit);
  const correspondents = new Correspondents({ worlds, journals, behaviours, loops });
  const service = createService({ worlds, journals, behaviours, faults, loops, correspondents });
  const handle = (request: ApiRequest) => handleRequest(service, request);
  const admit = createStreams(service);

  // The data of the worlds. They come after the parts above, because these follow every row that is added.
  seedWithinLimit(worlds, fixture);

  // The functions by which code in the same process calls the service.
  const fetch = createFetch(handle);
  const connect = createConnect(admit);
  const clientFunctions = createClientFunctions(baseUrl, fetch, connect);
  const client = (key: string) => createClient({ baseUrl, key, fetch: clientFunctions.fetch });

  // The controls: what a test may do and a client may not.
  const feeds = new Feeds(worlds, journals);
  const mailLog = new MailLog(worlds, journals);
  const parts = {
    baseUrl,
    service,
    dispatcher,
    handlersOf,
    feeds,
    mailLog,
    createClient: client,
    ...createSharedParts(worlds, behaviours),
  };
  const scope = createScope(parts, worlds);
  if (options.faults !== undefined) addInitialFaults(scope, options.faults);
  const keysAndIds = readKeysAndIds(fixture);
  const state = new StateKeeper({ service, random }, keysAndIds);
  const checkpoints = new Checkpoints(state, worlds);

  // The mailbox.
  const isSending = (webhookId: string) => dispatcher.isSending(worlds.all(), webhookId);
  const sandboxes = new Sandboxes({ ...parts, realEnvironment, fixture });
  const members: Omit<Mailbox<never, never>, 'handlers'> = {
    load: (input) => state.load(input),
    ...createControls(scope, keysAndIds.keys, { state, checkpoints }),
    ...createSandboxControls(sandboxes),
    ...createBehaviourControls(live, parts),
    ...createInboxControls(scope, worlds),
    ...clientFunctions,
    client,
    ...(keysAndIds as Record<'keys' | 'ids', never>),
    receives(address) {
      if (typeof address === 'string') return scope.findInbox(address) !== undefined;
      throw new ApiError('VALIDATION_ERROR', `The method receives takes an address, not ${describeValue(address)}.`);
    },
  };
  // `handlers` is not enumerable, so that a copy of the mailbox does not read it and does not need msw.
  const mailbox = Object.defineProperty(members, 'handlers', {
    get: lazy(() => createHandlers(loadMsw(), baseUrl, { fetch, connect, report, isSending })),
  }) as Mailbox<never, never>;

  return {
    mailbox,
    service,
    environment: realEnvironment,
    stateParts: { state, worlds, sandboxes, checkpoints },
    report,
    handle,
    admit,
    takeSmtpFault(address) {
      const inbox = scope.findInbox(address);
      return inbox && faults.useFirst({ on: 'smtp', world: inbox.world, recipient: foldAddress(address) });
    },
    endWaits() {
      feeds.end();
      mailLog.end('The server was closed');
    },
  };
}

function refuseHandlers(): never {
  throw new TypeError('This mailbox has no msw handlers; only a mailbox from createMailbox() has them.');
}

/**
 * Returns a base URL in one form, without slashes at its end.
 *
 * @throws {TypeError} if it is not an absolute http or https URL, or has more than an origin and a path.
 */
export function parseBaseUrl(baseUrl = 'https://mailbox.test'): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && !/[?#]/.test(baseUrl) && !url.username && !url.password;
  if (isPlain) return trimEndSlashes(url.href);
  throw new TypeError(
    'The option baseUrl must be an absolute http or https URL without query, fragment or password, not ' +
      `${describeValue(baseUrl)}.`,
  );
}
