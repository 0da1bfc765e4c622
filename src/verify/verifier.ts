import { messageOf } from '../basics/named-error.ts';
import { toPrintable } from '../basics/printable.ts';
import type {
  BehaviourDefinition,
  BehaviourId,
  BehaviourOptions,
  ChangeableDefinition,
} from '../contract/behaviours.ts';
import { BEHAVIOUR_IDS, BEHAVIOURS, type ChangeableId, isChangeable } from '../contract/behaviours.ts';
import { OPERATION_ROWS, type OperationId } from '../contract/operations.ts';
import { KnownSecrets } from '../world/secrets/known-secrets.ts';
import { createMask } from '../world/secrets/mask.ts';
import { compareObservations, type Difference } from './compare-replies.ts';
import { eventExperiments } from './event-experiments.ts';
import { type Experiment, resourceExperiments } from './experiments.ts';
import { type Finding, followsText, maskFinding, originOfFinding, type Verification } from './finding.ts';
import { GROUPS } from './groups.ts';
import { inboxExperiments } from './inbox-experiments.ts';
import { mailExperiments } from './mail-experiments.ts';
import { NEEDS, NO_DELIVERIES } from './needs.ts';
import { findInOperations, type OperationFinding } from './operation-findings.ts';
import { OperationSequence, type SequenceOptions } from './operation-sequence.ts';
import { Recording, UNEXPECTED_FORM } from './recording.ts';
import { startEmulator, type startReceiver } from './targets.ts';
import { TOLD_BY_OPERATIONS } from './told-by-operations.ts';
import {
  MeasuredValue,
  type Need,
  NOT_REACHED,
  type Reason,
  type Target,
  VerifyError,
  VerifySession,
} from './verify-session.ts';

/** Every experiment, by the id of the behaviour whose value it finds. */
export const EXPERIMENTS = { ...resourceExperiments, ...inboxExperiments, ...mailExperiments, ...eventExperiments };

/** The begin of the ids of findings about the whole, before the names of groups. */
const OF_WHOLE = 'the whole: after ';

/** The begin of what the ledger says of a behaviour that no client can find out. */
const NOT_FROM_OUTSIDE = 'not from outside: ';

const isGroup = (name: string) => GROUPS.some((groups) => name in groups);

/** What an experiment observed on one target, or the reason why it observed nothing. */
type Observation = { readonly observed: unknown } | { readonly reason: Reason };

async function observe(session: VerifySession, name: string, experiment: Experiment): Promise<Observation> {
  session.begin(name);
  try {
    const observed = await experiment(session);
    if (!session.hasForeignReply) return { observed };
    return { reason: { message: 'a reply was HTML, and not from the service' } };
  } catch (error) {
    // Any other error comes from a reply that the experiment cannot read, such as HTML.
    return { reason: error instanceof VerifyError ? error : UNEXPECTED_FORM };
  }
}

const NO_EXPERIMENT: Experiment = async () => {
  throw new VerifyError('there is no experiment for this behaviour');
};

/** Shows an observation that is a word, a number, or a list of these. Of another one, shows what differs in it. */
function show(observed: unknown, [difference]: readonly Difference[], side: 'found' | 'emulator'): string {
  const items = Array.isArray(observed) ? observed : [observed];
  const isShort = items.every((item) => typeof item !== 'object' || item === null);
  if (!isShort && difference) return `${difference.at}: ${difference[side]}`;
  if (typeof observed === 'string') return observed;
  const shown = items.map((item) => JSON.stringify(item) ?? 'nothing');
  return Array.isArray(observed)
    ? `the check saw, in this order: ${shown.join(', then ')}`
    : `the check saw ${shown[0]}`;
}

/** Starts an emulator, and opens a session with it that has keys of the same tiers as the session with the server. */
async function openEmulator(
  { runId, target: { operatorKey, secondKey } }: VerifySession,
  createReceiver: CreateReceiver,
) {
  const { target, save, restore, close } = await startEmulator({}, createReceiver);
  const sameKeys = { operatorKey: operatorKey && target.operatorKey, secondKey: secondKey && target.secondKey };
  const session = new VerifySession({ ...target, ...sameKeys }, runId);
  await session.open();
  save();
  return { session, restore, close };
}

type StartedEmulator = Awaited<ReturnType<typeof openEmulator>>;
type CreateReceiver = Target['createReceiver'];

/** What a run is asked to do besides a comparison with everything. */
export interface VerifierOptions {
  /** The behaviours of the server, if they are known: these are then not looked for. */
  readonly profile?: BehaviourOptions | undefined;
  /** Whether the whole is read after each step of the operations, and not only between groups of steps. */
  readonly isThorough?: boolean | undefined;
  /** Called with the name of each step when the step begins. */
  readonly report?: ((step: string) => void) | undefined;
  /** Called with a sentence if the time of the run will not be enough. */
  readonly onSlow?: ((sentence: string) => void) | undefined;
}

/** Writes the answer to a question of the ledger as a statement. */
const stateAnswer = (question: string, answer: string) => `the answer to "${question}" is: ${answer}`;

/** The fields of a finding that are known before the comparison. */
type FindingStart = Pick<Finding, 'id' | 'stated' | 'origin' | 'emulator'>;

/** Says that nothing was compared, and which flag would make a run compare it. */
const notCompared = (start: FindingStart, { message, flag }: Reason): Finding => ({
  ...start,
  verdict: 'not compared',
  found: message,
  observableWith: flag,
});

/** A finding, with the requests that led to it and the operation that it is about, if it is about one. */
interface Result {
  readonly finding: Finding;
  readonly calls: ReadonlySet<string>;
  readonly operation?: OperationId | undefined;
}

/** Compares a server with emulators, as the README.md of this folder describes. */
export class Verifier {
  readonly #server: VerifySession;
  readonly #receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly #profile: BehaviourOptions | undefined;
  readonly #isThorough: boolean;
  readonly #report: (step: string) => void;
  readonly #onSlow: ((sentence: string) => void) | undefined;
  readonly #behaviours: Record<string, string> = {};
  readonly #results: Result[] = [];
  #stopReason: Reason | undefined;
  /** The emulators that were started: one for each value of the current behaviour. */
  readonly #emulators: Promise<StartedEmulator>[] = [];

  constructor(
    server: Target,
    receiver: Awaited<ReturnType<typeof startReceiver>>,
    { profile, isThorough = false, report = () => {}, onSlow }: VerifierOptions = {},
  ) {
    this.#server = new VerifySession(server);
    this.#receiver = receiver;
    this.#profile = profile;
    this.#isThorough = isThorough;
    this.#report = report;
    this.#onSlow = onSlow;
  }

  /** Compares everything, and then deletes what it has created, also after an error. */
  async run(): Promise<Verification> {
    let hasBegun = false;
    try {
      await this.#server.open();
      hasBegun = true;
      await this.#compareAll();
    } catch (error) {
      const left = await this.#server.close();
      const reason = error instanceof VerifyError ? error.message : this.#explainForm(error);
      const hint = left.length > 0 ? ` What could not be deleted: ${left.join(', ')}.` : '';
      const text = `The command verify cannot ${hasBegun ? 'continue' : 'begin'}: ${reason}.${hint}`;
      throw new VerifyError(toPrintable(this.#createMask().text(text)));
    } finally {
      // An emulator that could not start must not hide the error above. The other emulators must be closed.
      const started = await Promise.allSettled(this.#emulators);
      for (const emulator of started) if (emulator.status === 'fulfilled') await emulator.value.close();
    }
    this.#report('deleting what the run has created');
    const left = await this.#server.close();
    const mask = this.#createMask();
    const findings = addCauses(this.#results).map((finding) => maskFinding(finding, mask.text));
    const verification = {
      findings,
      behaviours: this.#behaviours as BehaviourOptions,
      left: left.map(mask.text),
      requests: this.#server.answered,
      closedConnections: this.#server.closedConnections,
    };
    if (this.#stopReason === undefined) return verification;
    return { ...verification, stopped: toPrintable(mask.text(this.#stopReason.message)) };
  }

  /** Creates a mask for everything that the run prints: the server may show a key or a secret of the run in any form. */
  #createMask() {
    const known = new KnownSecrets();
    const { key, secondKey, operatorKey } = this.#server.target;
    const secrets = [key, secondKey, operatorKey, ...this.#server.secrets];
    for (const secret of secrets) if (secret !== undefined) known.add(secret);
    return createMask(known);
  }

  async #compareAll(): Promise<void> {
    if (this.#profile) Object.assign(this.#behaviours, this.#profile);
    else {
      for (const id of BEHAVIOUR_IDS.filter(isChangeable)) {
        this.#report(id);
        this.#add(await this.#findValue(id));
      }
    }
    await this.#compareOperations();
    const session = await this.#useEmulator(0);
    for (const id of BEHAVIOUR_IDS.filter((id) => !isChangeable(id))) {
      this.#report(id);
      const entry: BehaviourDefinition = BEHAVIOURS[id];
      const emulator = 'assumption' in entry ? entry.assumption : '';
      const start = {
        id,
        stated: stateAnswer(entry.question, emulator),
        origin: originOfFinding(entry.origin),
        emulator,
      };
      const statements = TOLD_BY_OPERATIONS[id];
      if (statements) this.#add(this.#conclude(start, entry.observableWith, statements));
      else this.#add(await this.#compare(session, start, entry.observableWith, EXPERIMENTS[id]));
    }
  }

  /** Returns why a run cannot go on after a reply that has another form than those of the service, such as a list. */
  #explainForm(error: unknown): string {
    const { lastCall } = this.#server;
    return `the reply to ${lastCall} or one before it did not have the expected form: ${messageOf(error)}`;
  }

  #add(finding: Finding): void {
    this.#results.push({ finding, calls: new Set(this.#server.calls) });
  }

  /** Runs every operation on the server and on an emulator with the behaviours that were found. */
  async #compareOperations(): Promise<void> {
    const isThorough = this.#isThorough;
    const findings = await this.#compareSequence({ report: this.#report, onSlow: this.#onSlow, isThorough });
    // What only the whole shows is found among the steps of its groups, which run once more.
    const unexplained = findings.filter(({ id, verdict }) => verdict === 'differs' && id.startsWith(OF_WHOLE));
    const groups = unexplained.flatMap(({ id }) => id.slice(OF_WHOLE.length).split(' ')).filter(isGroup);
    let explained: OperationFinding | undefined;
    if (groups.length > 0 && !isThorough && this.#stopReason === undefined) {
      this.#report('finding which step has changed the whole');
      const known = new Set(findings.filter(({ verdict }) => verdict === 'differs').map(({ id }) => id));
      const again = await this.#compareSequence({ groups, prefix: 'again-' });
      const news = again.filter(
        ({ id, verdict }) => verdict === 'differs' && !known.has(id) && !id.startsWith(OF_WHOLE),
      );
      explained = news[0];
      for (const each of news) {
        const index = findings.findIndex(({ id }) => id === each.id);
        findings.splice(index < 0 ? findings.length : index, index < 0 ? 0 : 1, each);
      }
    }
    for (const { operation, ...finding } of findings) {
      const isOfWhole = finding.id.startsWith(OF_WHOLE);
      const cause = isOfWhole && finding.verdict === 'differs' ? explained : undefined;
      const shown = cause && { found: followsText(cause.id), followsFrom: cause.id };
      const result = cause ? { ...finding, verdict: 'not compared' as const, ...shown } : finding;
      this.#results.push({ finding: result, calls: new Set(), operation: isOfWhole ? undefined : operation });
    }
    await this.#server.end();
  }

  /** Runs a sequence on the server and on an emulator, and compares them. */
  async #compareSequence(options: SequenceOptions): Promise<OperationFinding[]> {
    const onServer = new Recording(this.#server);
    const isTold = (id: ChangeableId) => this.#profile !== undefined || id in this.#behaviours;
    await this.#runUntilStopped(async () => {
      await new OperationSequence(onServer, { ...options, isTold }).run();
    });
    const { target, workspace, domain } = await this.#useEmulator(0);
    const { deliver, noDeliveries } = this.#server.target;
    const session = new VerifySession(
      { ...target, deliver: deliver && target.deliver, noDeliveries },
      this.#server.runId,
    );
    const ended = this.#stopReason && { recording: onServer, reason: this.#stopReason };
    // A run that has ended must not go on with the emulator: only what the server was sent is compared.
    const onEmulator = new Recording(Object.assign(session, { workspace, domain }), ended);
    const { checkpoints } = onServer;
    await new OperationSequence(onEmulator, {
      ...options,
      isTold,
      checkpoints,
      report: undefined,
      onSlow: undefined,
    }).run();
    return findInOperations(onServer, onEmulator, this.#stopReason);
  }

  /** Runs a part of the run. If the whole run cannot continue, remembers why; everything else is then not compared. */
  async #runUntilStopped(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof VerifyError)) throw error;
      this.#stopReason ??= error;
    }
  }

  /** Returns what is missing for a check; `undefined` if nothing is. */
  #findMissing(needs: string): Reason | undefined {
    if (needs.startsWith(NOT_FROM_OUTSIDE))
      return { message: needs.replace(NOT_FROM_OUTSIDE, 'a client cannot find this out: ') };
    if (this.#stopReason !== undefined) return this.#stopReason;
    if (needs === 'receiver' && this.#server.target.noDeliveries) return NO_DELIVERIES;
    const lack = needs in NEEDS ? NEEDS[needs as Need] : undefined;
    return lack && this.#server.target[lack.field] === undefined ? lack : undefined;
  }

  /** Concludes from the statements about operations whether an assumption is right. */
  #conclude(start: FindingStart, needs: string, ids: readonly string[]): Finding {
    const found = ids.map((id) => this.#results.find(({ finding }) => finding.id === id)?.finding);
    const wrong = found.find((finding) => finding && (finding.verdict === 'differs' || finding.followsFrom));
    if (wrong) {
      const followsFrom = wrong.followsFrom ?? wrong.id;
      return { ...start, verdict: 'not compared', found: followsText(followsFrom), followsFrom };
    }
    const missing = this.#findMissing(needs);
    if (missing !== undefined) return notCompared(start, missing);
    if (found.includes(undefined)) return notCompared(start, NOT_REACHED);
    const untold = found.find((finding) => finding?.verdict !== 'agrees');
    if (untold) return notCompared(start, { message: untold.found, flag: untold.observableWith });
    return { ...start, verdict: 'agrees', found: start.emulator || 'as stated' };
  }

  /** Runs an experiment on the server, if the needs of the experiment are met. */
  async #observeServer(id: string, needs: string, experiment: Experiment): Promise<Observation> {
    const reason = this.#findMissing(needs);
    if (reason !== undefined) return { reason };
    const observation = await observe(this.#server, id, experiment);
    if ('reason' in observation && observation.reason instanceof VerifyError && observation.reason.endsRun) {
      this.#stopReason ??= observation.reason;
    }
    await this.#server.end();
    return observation;
  }

  /** Returns a new session with an emulator. The emulator has the values that were found so far, and `value`. */
  async #useEmulator(index: number, value: BehaviourOptions = {}): Promise<VerifySession> {
    this.#emulators[index] ??= openEmulator(this.#server, this.#receiver.forEmulator(`emulator-${index}`));
    const { session, restore } = await this.#emulators[index];
    // The receiver of an emulator has an http URL, which the emulator must accept even if the server does not.
    restore({ ...this.#behaviours, 'webhooks.create.url': 'http-or-https', ...value });
    const { target, workspace, domain } = session;
    return Object.assign(new VerifySession(target, this.#server.runId), { workspace, domain });
  }

  async #findValue(id: BehaviourId & keyof BehaviourOptions): Promise<Finding> {
    const definition: ChangeableDefinition = BEHAVIOURS[id];
    const { question, choices, default: defaultValue, observableWith } = definition;
    const stated = stateAnswer(question, choices[defaultValue] ?? defaultValue);
    const start = { id, stated, origin: originOfFinding(definition.origin), emulator: defaultValue };
    const experiment = EXPERIMENTS[id] ?? NO_EXPERIMENT;
    const onServer = await this.#observeServer(id, observableWith, experiment);
    if ('reason' in onServer) return notCompared(start, onServer.reason);
    const { matches, found } = await this.#findMatches(id, Object.keys(choices), experiment, onServer.observed);
    const [value] = matches;
    if (matches.length > 1)
      return { ...start, verdict: 'not compared', found: `the result is the same with ${matches.join(' and ')}` };
    if (value === undefined) return { ...start, verdict: 'differs', found: `none of the known answers: ${found}` };
    this.#behaviours[id] = value;
    if (value === defaultValue) return { ...start, verdict: 'agrees', found: value };
    return { ...start, verdict: 'differs', found: value, accepts: `${id}=${value}` };
  }

  /**
   * Returns the values with which an emulator gives the same observation as the server, and how the observation differs
   * from that of the first value.
   */
  async #findMatches(id: string, values: readonly string[], experiment: Experiment, observed: unknown) {
    if (observed instanceof MeasuredValue) {
      return { matches: observed.value === undefined ? [] : [observed.value], found: 'the check saw none of these' };
    }
    const compare = async (value: string, index: number) => {
      const session = await this.#useEmulator(index, { [id]: value });
      const onEmulator = await observe(session, id, experiment);
      if (!('observed' in onEmulator)) return undefined;
      return compareObservations([observed, this.#server.domain], [onEmulator.observed, session.domain]);
    };
    const differences = await Promise.all(values.map(compare));
    const matches = values.filter((_, index) => differences[index]?.length === 0);
    return { matches, found: show(observed, differences.find((each) => each !== undefined) ?? [], 'found') };
  }

  async #compare(
    session: VerifySession,
    start: FindingStart,
    needs: string,
    experiment = NO_EXPERIMENT,
  ): Promise<Finding> {
    const { id } = start;
    const onServer = await this.#observeServer(id, needs, experiment);
    if ('reason' in onServer) return notCompared(start, onServer.reason);
    const onEmulator = await observe(session, id, experiment);
    await session.end();
    if ('reason' in onEmulator)
      return { ...start, verdict: 'not compared', found: `the emulator: ${onEmulator.reason.message}` };
    const differences = compareObservations(
      [onServer.observed, this.#server.domain],
      [onEmulator.observed, session.domain],
    );
    if (differences.length === 0) return { ...start, verdict: 'agrees', found: start.emulator || 'as stated' };
    return {
      ...start,
      verdict: 'differs',
      found: show(onServer.observed, differences, 'found'),
      emulator: show(onEmulator.observed, differences, 'emulator'),
    };
  }
}

/**
 * Returns the findings, with one verdict for one thing. If an experiment called an operation that differs, that operation
 * may be the cause, so that what the experiment found is not compared.
 */
function addCauses(results: readonly Result[]): Finding[] {
  const differing = results.filter(({ finding, operation }) => operation && finding.verdict === 'differs');
  return results.map(({ finding, calls, operation }) => {
    if (finding.verdict !== 'differs' || operation || isValueOfBehaviour(finding)) return finding;
    const cause = differing.find((result) => [...calls].some((call) => isCallOf(call, result.operation)));
    if (!cause) return finding;
    const { id } = cause.finding;
    return { ...finding, verdict: 'not compared' as const, found: followsText(id), followsFrom: id };
  });
}

/** Whether the finding is about a behaviour, and one of the values of this behaviour was found. */
function isValueOfBehaviour({ id, found }: Finding): boolean {
  const definition: BehaviourDefinition | undefined = BEHAVIOURS[id as BehaviourId];
  return definition !== undefined && 'choices' in definition && found in definition.choices;
}

/** Whether a call, such as `GET /v1/inboxes/ibx_1`, is a call of an operation. */
function isCallOf(call: string, operation: OperationId | undefined): boolean {
  const row = OPERATION_ROWS.find(({ id }) => id === operation);
  const parts = `${row?.method} ${row?.path}`.split('/');
  const called = call.split('/');
  return parts.length === called.length && parts.every((part, index) => part.startsWith('{') || part === called[index]);
}
