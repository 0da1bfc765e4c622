import { isDeepStrictEqual } from 'node:util';
import {
  BEHAVIOUR_IDS,
  BEHAVIOURS,
  type BehaviourDefinition,
  type BehaviourId,
  type BehaviourOptions,
  isChangeable,
} from '../../../contract/behaviours.ts';
import { OPERATION_ROWS } from '../../../contract/operations.ts';
import { eventExperiments } from './event-experiments.ts';
import { type Experiment, type Experiments, resourceExperiments } from './experiments.ts';
import { inboxExperiments } from './inbox-experiments.ts';
import { mailExperiments } from './mail-experiments.ts';
import { STATEMENTS, type Statement } from './statements.ts';
import { type startReceiver, startReference } from './targets.ts';
import { CannotTellError, type Need, Session, type Target, ToldValue } from './verify-session.ts';

/** Every experiment on the ledger. */
export const EXPERIMENTS: Experiments = {
  ...resourceExperiments,
  ...inboxExperiments,
  ...mailExperiments,
  ...eventExperiments,
};

/** What was found of one entry of the ledger, or of one statement. */
export interface Finding {
  readonly id: string;
  /** What is stated: a question of the ledger, or a sentence. */
  readonly stated: string;
  readonly verdict: 'agrees' | 'differs' | 'not compared';
  /** The value, or what was observed; why not, if nothing was compared. */
  readonly found: string;
  /** What the emulator does. */
  readonly emulator: string;
}

/** A whole run. */
export interface Verification {
  readonly findings: readonly Finding[];
  /** The values of the behaviours that were told. */
  readonly behaviours: BehaviourOptions;
  /** What could not be deleted. */
  readonly left: readonly string[];
}

/** Where each `Need` comes from. */
const MISSING: Record<Need, string> = {
  'two tenants': 'it needs --second-key, the key of another tenant',
  operator: 'it needs --operator-key',
  receiver: 'it needs --receiver-url, at which deliveries arrive',
  'mail from outside': 'it needs a mail from outside, which verify does not send',
  time: 'time must pass: --slow waits for it',
};

function isMissing(target: Target, need: Need): boolean {
  const has = {
    'two tenants': target.secondKey,
    operator: target.operatorKey,
    receiver: target.receive,
    'mail from outside': target.deliver,
    time: target.advance,
  };
  return has[need] === undefined;
}

/** What one experiment showed on one target: an observation, or why there is none. */
type Seen = { readonly observed: unknown } | { readonly reason: string };

async function observe(s: Session, name: string, experiment: Experiment): Promise<Seen> {
  s.begin(name);
  try {
    return { observed: await experiment(s) };
  } catch (error) {
    // Anything else is a reply in a form that the experiment cannot read, such as HTML.
    return { reason: error instanceof CannotTellError ? error.message : 'a reply did not have the form that it needs' };
  }
}

const show = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));

/** Holds a server against the emulator; see the page of the command. */
export class Verifier {
  readonly #remote: Session;
  readonly #receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly #behaviours: Record<string, string> = {};
  readonly #findings: (Finding & { readonly calls: ReadonlySet<string>; readonly operation?: string })[] = [];
  #references = 0;

  constructor(remote: Target, receiver: Awaited<ReturnType<typeof startReceiver>>) {
    this.#remote = new Session(remote);
    this.#receiver = receiver;
  }

  /** Compares everything, and deletes what it created, also after an error. */
  async run(tell: (finding: Finding) => void = () => {}): Promise<Verification> {
    const left = await this.#compareAll(tell).then(
      () => this.#remote.close(),
      async (error) => {
        const rest = await this.#remote.close();
        const hint = rest.length > 0 ? ` What could not be deleted: ${rest.join(', ')}.` : '';
        throw error instanceof CannotTellError
          ? new CannotTellError(`The command verify cannot begin: ${error.message}.${hint}`)
          : error;
      },
    );
    const findings = this.#explainDependent();
    return { findings, behaviours: this.#behaviours as BehaviourOptions, left };
  }

  async #compareAll(tell: (finding: Finding) => void): Promise<void> {
    await this.#remote.open();
    for (const id of BEHAVIOUR_IDS.filter(isChangeable)) tell(this.#add(await this.#findValue(id)));
    await using reference = await this.#reference();
    for (const id of BEHAVIOUR_IDS.filter((id) => !isChangeable(id))) {
      const entry: BehaviourDefinition = BEHAVIOURS[id];
      const statement = { id, text: entry.question, run: EXPERIMENTS[id] };
      const emulator = 'assumption' in entry ? entry.assumption : '';
      tell(this.#add(await this.#compare(reference.session, { ...statement, told: entry.told, emulator })));
    }
    for (const statement of STATEMENTS) {
      const told = statement.needs ?? 'key';
      tell(this.#add(await this.#compare(reference.session, { ...statement, told, emulator: '' }), statement));
    }
  }

  #add(finding: Finding, statement?: Statement): Finding {
    this.#findings.push({
      ...finding,
      calls: new Set(this.#remote.calls),
      ...(statement && { operation: statement.operation }),
    });
    return finding;
  }

  /** Why an entry cannot be compared; `undefined` if it can. */
  #reasonAgainst(told: string, experiment: Experiment | undefined): string | undefined {
    if (told.startsWith('not from outside')) return told;
    if (!experiment) return 'there is no experiment for it';
    return told !== 'key' && isMissing(this.#remote.target, told as Need) ? MISSING[told as Need] : undefined;
  }

  /** Starts an emulator with the values that were found and one more, and the part of this run on it. */
  async #reference(value: BehaviourOptions = {}) {
    this.#references += 1;
    // The emulator on this machine calls a receiver over http, whatever the server accepts.
    const all = { ...this.#behaviours, 'webhooks.create.url': 'http-or-https', ...value } as const;
    const { target, close } = await startReference(all, this.#receiver.local(`emulator-${this.#references}`));
    const { operatorKey, secondKey } = this.#remote.target;
    const same = {
      ...target,
      ...(operatorKey === undefined && { operatorKey }),
      ...(secondKey === undefined && { secondKey }),
    };
    const session = new Session(same, this.#remote.run);
    await session.open();
    return { session, [Symbol.asyncDispose]: close };
  }

  async #findValue(id: BehaviourId & keyof BehaviourOptions): Promise<Finding> {
    const { question, choices, default: emulator, told } = BEHAVIOURS[id];
    const row = { id, stated: question, emulator };
    const experiment = EXPERIMENTS[id];
    const reason = this.#reasonAgainst(told, experiment);
    if (reason !== undefined || !experiment) return { ...row, verdict: 'not compared', found: reason ?? '' };
    const seen = await observe(this.#remote, id, experiment);
    if ('reason' in seen) return { ...row, verdict: 'not compared', found: seen.reason };
    const matches = await this.#matching(id, Object.keys(choices), experiment, seen.observed);
    const [value] = matches;
    if (matches.length > 1)
      return { ...row, verdict: 'not compared', found: `it cannot tell ${matches.join(' from ')}` };
    if (value === undefined) return { ...row, verdict: 'differs', found: show(seen.observed) };
    this.#behaviours[id] = value;
    return { ...row, verdict: value === emulator ? 'agrees' : 'differs', found: value };
  }

  /** The values under which an emulator shows the same. */
  async #matching(id: string, values: readonly string[], experiment: Experiment, observed: unknown): Promise<string[]> {
    if (observed instanceof ToldValue) return observed.value === undefined ? [] : [observed.value];
    const isSame = async (value: string) => {
      await using reference = await this.#reference({ [id]: value });
      const seen = await observe(reference.session, id, experiment);
      return 'observed' in seen && isDeepStrictEqual(seen.observed, observed);
    };
    const same = await Promise.all(values.map(isSame));
    return values.filter((_, index) => same[index]);
  }

  async #compare(reference: Session, { id, text, run, told, emulator }: ToCompare): Promise<Finding> {
    const row = { id, stated: text, emulator };
    const reason = this.#reasonAgainst(told, run);
    if (reason !== undefined || !run) return { ...row, verdict: 'not compared', found: reason ?? '' };
    const [there, here] = [await observe(this.#remote, id, run), await observe(reference, id, run)];
    if ('reason' in there) return { ...row, verdict: 'not compared', found: there.reason };
    if ('reason' in here) return { ...row, verdict: 'not compared', found: `the emulator: ${here.reason}` };
    if (isDeepStrictEqual(there.observed, here.observed))
      return { ...row, verdict: 'agrees', found: emulator || 'as stated' };
    return { ...row, emulator: show(here.observed), verdict: 'differs', found: show(there.observed) };
  }

  /** What only follows from an operation that differs is not compared. */
  #explainDependent(): Finding[] {
    const differing = new Map(
      this.#findings.flatMap(({ operation = '', verdict }) =>
        verdict === 'differs' && operation ? [[operation, 0]] : [],
      ),
    );
    const rows = OPERATION_ROWS.filter(({ id }) => differing.has(id));
    return this.#findings.map(({ calls, operation, ...finding }) => {
      const isValue = finding.id in this.#behaviours;
      if (operation !== undefined || isValue || finding.verdict !== 'differs') return finding;
      const cause = rows.find(({ method, path }) => [...calls].some((call) => matches(call, method, path)));
      if (!cause) return finding;
      return { ...finding, verdict: 'not compared' as const, found: `it depends on ${cause.id}, which differs` };
    });
  }
}

interface ToCompare {
  readonly id: string;
  readonly text: string;
  readonly run: Experiment | undefined;
  readonly told: string;
  readonly emulator: string;
}

function matches(call: string, method: string, path: string): boolean {
  const called = call.split('/');
  const parts = `${method} ${path}`.split('/');
  return parts.length === called.length && parts.every((part, index) => part.startsWith('{') || part === called[index]);
}
