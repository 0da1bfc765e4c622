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
import { type Experiment, resourceExperiments } from './experiments.ts';
import { inboxExperiments } from './inbox-experiments.ts';
import { mailExperiments } from './mail-experiments.ts';
import { STATEMENTS } from './statements.ts';
import { type startReceiver, startReference } from './targets.ts';
import { CannotTellError, type Need, Session, type Target, ToldValue } from './verify-session.ts';

/** Every experiment on the ledger. */
export const EXPERIMENTS = { ...resourceExperiments, ...inboxExperiments, ...mailExperiments, ...eventExperiments };

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

/** The field of the server that each need is, and what is said without it. */
const NEEDS: Readonly<Record<Need, readonly [field: keyof Target, missing: string]>> = {
  'two tenants': ['secondKey', 'it needs --second-key, the key of another tenant'],
  operator: ['operatorKey', 'it needs --operator-key'],
  receiver: ['receive', 'it needs --receiver-url, at which deliveries arrive'],
  'mail from outside': ['deliver', 'it needs a mail from outside, which verify does not send'],
  time: ['advance', 'time must pass: --slow waits for it'],
};

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

const NO_EXPERIMENT: Experiment = async () => {
  throw new CannotTellError('there is no experiment for it');
};

const show = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));

/** Holds a server against the emulator; see the page of the command. */
export class Verifier {
  readonly #remote: Session;
  readonly #receiver: Awaited<ReturnType<typeof startReceiver>>;
  readonly #behaviours: Record<string, string> = {};
  readonly #findings: (Finding & { readonly calls: ReadonlySet<string>; readonly operation: string | undefined })[] =
    [];
  #references = 0;

  constructor(remote: Target, receiver: Awaited<ReturnType<typeof startReceiver>>) {
    this.#remote = new Session(remote);
    this.#receiver = receiver;
  }

  /** Compares everything, and deletes what it created, also after an error. */
  async run(tell: (finding: Finding) => void = () => {}): Promise<Verification> {
    try {
      await this.#compareAll(tell);
    } catch (error) {
      const rest = await this.#remote.close();
      if (!(error instanceof CannotTellError)) throw error;
      const hint = rest.length > 0 ? ` What could not be deleted: ${rest.join(', ')}.` : '';
      throw new CannotTellError(`The command verify cannot begin: ${error.message}.${hint}`);
    }
    const left = await this.#remote.close();
    return { findings: this.#explainDependent(), behaviours: this.#behaviours as BehaviourOptions, left };
  }

  async #compareAll(tell: (finding: Finding) => void): Promise<void> {
    await this.#remote.open();
    for (const id of BEHAVIOUR_IDS.filter(isChangeable)) tell(this.#add(await this.#findValue(id)));
    await using reference = await this.#reference();
    for (const id of BEHAVIOUR_IDS.filter((id) => !isChangeable(id))) {
      const entry: BehaviourDefinition = BEHAVIOURS[id];
      const emulator = 'assumption' in entry ? entry.assumption : '';
      const row = { id, stated: entry.question, emulator };
      tell(this.#add(await this.#compare(reference.session, row, entry.told, EXPERIMENTS[id])));
    }
    for (const statement of STATEMENTS) {
      const { id, text, needs = 'key', operation } = statement;
      const row = { id, stated: text, emulator: '' };
      tell(this.#add(await this.#compare(reference.session, row, needs, statement.run), operation));
    }
  }

  #add(finding: Finding, operation?: string): Finding {
    this.#findings.push({ ...finding, calls: new Set(this.#remote.calls), operation });
    return finding;
  }

  /** What an experiment shows on the server, or why it cannot. */
  async #look(id: string, told: string, experiment: Experiment): Promise<Seen> {
    if (told.startsWith('not from outside')) return { reason: told };
    const [field, reason] = NEEDS[told as Need] ?? [];
    if (field && reason && this.#remote.target[field] === undefined) return { reason };
    return await observe(this.#remote, id, experiment);
  }

  /** Starts an emulator with the values that were found and one more, and the part of this run on it. */
  async #reference(value: BehaviourOptions = {}) {
    this.#references += 1;
    // The emulator on this machine calls a receiver over http, whatever the server accepts.
    const all = { ...this.#behaviours, 'webhooks.create.url': 'http-or-https', ...value } as const;
    const { target, close } = await startReference(all, this.#receiver.local(`emulator-${this.#references}`));
    const { operatorKey, secondKey } = this.#remote.target;
    const same = { operatorKey: operatorKey && target.operatorKey, secondKey: secondKey && target.secondKey };
    const session = new Session({ ...target, ...same }, this.#remote.run);
    await session.open();
    return { session, [Symbol.asyncDispose]: close };
  }

  async #findValue(id: BehaviourId & keyof BehaviourOptions): Promise<Finding> {
    const { question, choices, default: emulator, told } = BEHAVIOURS[id];
    const row = { id, stated: question, emulator };
    const experiment = EXPERIMENTS[id] ?? NO_EXPERIMENT;
    const seen = await this.#look(id, told, experiment);
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

  async #compare(reference: Session, row: Row, told: string, run = NO_EXPERIMENT): Promise<Finding> {
    const { id, emulator } = row;
    const there = await this.#look(id, told, run);
    if ('reason' in there) return { ...row, verdict: 'not compared', found: there.reason };
    const here = await observe(reference, id, run);
    if ('reason' in here) return { ...row, verdict: 'not compared', found: `the emulator: ${here.reason}` };
    if (isDeepStrictEqual(there.observed, here.observed))
      return { ...row, verdict: 'agrees', found: emulator || 'as stated' };
    return { ...row, emulator: show(here.observed), verdict: 'differs', found: show(there.observed) };
  }

  /** What only follows from an operation that differs is not compared. */
  #explainDependent(): Finding[] {
    const differing = this.#findings.filter(({ verdict }) => verdict === 'differs');
    const rows = OPERATION_ROWS.filter(({ id }) => differing.some(({ operation }) => operation === id));
    return this.#findings.map(({ calls, operation, ...finding }) => {
      const isValue = finding.id in this.#behaviours;
      if (operation !== undefined || isValue || finding.verdict !== 'differs') return finding;
      const cause = rows.find(({ method, path }) => [...calls].some((call) => matches(call, method, path)));
      if (!cause) return finding;
      return { ...finding, verdict: 'not compared' as const, found: `it depends on ${cause.id}, which differs` };
    });
  }
}

/** What is known of a finding before it is compared. */
type Row = Pick<Finding, 'id' | 'stated' | 'emulator'>;

function matches(call: string, method: string, path: string): boolean {
  const called = call.split('/');
  const parts = `${method} ${path}`.split('/');
  return parts.length === called.length && parts.every((part, index) => part.startsWith('{') || part === called[index]);
}
