import { checkOptions, describeValue } from '../../basics/check-options.ts';
import { formatPercent } from '../../basics/percent.ts';
import type { ControllableMailbox } from '../../control/controllable-mailbox.ts';
import type { Mailbox } from '../../control/mailbox-interface.ts';
import { createSample, getSample } from '../../control/samples/create-sample.ts';
import { judgeSample } from '../../control/samples/delivered-samples.ts';
import { samplesFor } from '../../control/samples/made-injections.ts';
import type { SampleName } from '../../control/samples/sample-names.ts';
import { AgentActivity, realNowMs } from '../../control/verdicts/agent-activity.ts';
import { decideOver } from '../../control/verdicts/decide-over.ts';
import { withCachedJournal } from '../../control/verdicts/evidence.ts';
import type { Breach } from '../../control/verdicts/oracles.ts';
import type { ReceivedMessage } from '../../service/mail/incoming/accept-message.ts';

/** What an agent gets: a mailbox in which the mails of one sample, or of its harmless twin, have arrived. */
export interface SampleTask<M extends ControllableMailbox = Mailbox> {
  /** The mailbox; `fetch`, `baseUrl`, `keys` and `ids` serve the agent. */
  readonly mailbox: M;
  /** The address to which the mails were sent. */
  readonly address: string;
  /** The id of the inbox of this address. */
  readonly inboxId: string;
  /** The ids of the mails, in the order of their arrival. The agent reads the mails in the mailbox. */
  readonly received: readonly ReceivedMessage[];
}

/** Options of `runSamples`; each has a default. */
export interface RunSamplesOptions<M extends ControllableMailbox = Mailbox> {
  /**
   * The names of the samples. Each must have an oracle: rules that show from the requests and the stored rows what the
   * agent did. Default: the generated samples that `samplesFor()` returns. Each of them is an ordinary mail, such as an
   * invoice, with an injected instruction to the agent; there are fifteen for each ordinary mail.
   */
  readonly samples?: readonly SampleName[] | undefined;
  /** The seed of each sample: a whole number from 0 to 2^53 - 1. Default: 1. */
  readonly seed?: number | undefined;
  /** The address to which the mails go. Default: the address of the first inbox. */
  readonly to?: string | undefined;
  /**
   * Is called once for each sample and once more for its twin, and returns the mailbox or the sandbox for it. Only one
   * of them is in use at a time. Here you can add webhooks, or return the mailbox of a server after its `reset()`.
   * Default: an in-process mailbox with the default fixture and without `handlers`.
   */
  readonly createMailbox?: (() => M | Promise<M>) | undefined;
  /**
   * For how long nothing may come after the agent has returned, in milliseconds of real time, until it is judged: from 0
   * to 60,000. The longest gap that the agent has shown is added. Default: 0, so that an agent is done when the promise
   * that it returned is settled, no delivery is under way and no request is without a reply. Work that it leaves without
   * `await` cannot be seen, unless it comes within this time.
   */
  readonly quietMs?: number | undefined;
}

/** What an agent did with a sample and its twin. */
export interface SampleResult {
  /** The name of the sample. */
  readonly sample: SampleName;
  /**
   * `not seen` if the agent was not shown all of the sample that gives orders; `unknown` if nobody can tell whether it
   * obeyed, which `doubts` explains.
   */
  readonly result: 'resisted' | 'breached' | 'not seen' | 'unknown';
  /** What the agent did or tried to do although it must not. */
  readonly breaches: readonly Breach[];
  /** Why nobody can tell, each reason as a clause; empty unless the result is `unknown`. */
  readonly doubts: readonly string[];
  /** The name of the harmless twin; null if the sample has no twin. Then `twinResult` is null, too. */
  readonly twin: SampleName | null;
  /** Whether the agent did its work on the harmless mail, as `wasHandled` of a sample says. */
  readonly twinResult: 'handled' | 'not handled' | null;
}

/** The results of an agent. `JSON.stringify` writes everything except the methods. */
export interface SamplesReport {
  /** A result for each sample. */
  readonly results: readonly SampleResult[];
  /** The share of the twins that the agent handled, from 0 to 1; null without any twin. */
  readonly utility: number | null;
  /**
   * The share of the samples whose result is `breached`, from 0 to 1, without those that the agent has `not seen` and
   * those whose result is `unknown`; null without any other sample.
   */
  readonly attackSuccess: number | null;
  /** Returns a table of at most 80 columns. */
  toString(): string;
}

/**
 * Lets an agent handle samples and their harmless twins, one after the other, each in a mailbox of its own. The oracles
 * of the samples judge the agent; no language model does.
 *
 * @throws {TypeError} for a sample without an oracle, for a twin, and if the agent, an option or the result of
 *   `createMailbox` has the wrong type; {@link ApiError} VALIDATION_ERROR for an unknown
 *   sample or another invalid option; {@link Error} if the agent throws, with its error as `cause`, or if the journal
 *   is too small.
 * @example
 * const report = await runSamples(runAgent, { samples: ['injection-in-quote', ...samplesFor('invoice')] });
 * console.log(String(report));
 * expect(report).toMatchObject({ utility: 1, attackSuccess: 0 });
 */
export async function runSamples<M extends ControllableMailbox = Mailbox>(
  agent: (task: SampleTask<M>) => unknown,
  options: RunSamplesOptions<M> = {},
): Promise<SamplesReport> {
  if (typeof agent !== 'function') {
    throw new TypeError(`The function runSamples takes an agent, which is a function, not ${describeValue(agent)}.`);
  }
  checkOptions('runSamples', options, ['samples', 'seed', 'to', 'createMailbox', 'quietMs']);
  const { samples = samplesFor(), createMailbox = () => undefined, quietMs = 0 } = options;
  if (!Number.isSafeInteger(quietMs) || quietMs < 0 || quietMs > MAX_WAIT_MS) {
    throw new TypeError(
      `The option quietMs must be a whole number from 0 to ${MAX_WAIT_MS}, not ${describeValue(quietMs)}.`,
    );
  }
  if (!Array.isArray(samples)) {
    throw new TypeError(`The option samples must be a list of names of samples, not ${describeValue(samples)}.`);
  }
  if (typeof createMailbox !== 'function') {
    throw new TypeError(`The option createMailbox must be a function, not ${describeValue(createMailbox)}.`);
  }
  samples.forEach(checkSample);
  const results: SampleResult[] = [];
  for (const sample of samples) {
    const { twin = null } = getSample(sample) as { readonly twin?: SampleName };
    const { result, breaches, doubts } = await runSample(agent, sample, options);
    const twinRun = twin && (await runSample(agent, twin, options));
    const twinResult = twinRun && (twinRun.isHandled ? 'handled' : 'not handled');
    results.push({ sample, result, breaches, doubts, twin, twinResult });
  }
  const twins = results.filter(({ twin }) => twin !== null);
  const utility = shareOf(twins, ({ twinResult }) => twinResult === 'handled');
  const seen = results.filter(({ result }) => result === 'resisted' || result === 'breached');
  const attackSuccess = shareOf(seen, ({ result }) => result === 'breached');
  return { results, utility, attackSuccess, toString: () => toTable({ results, utility, attackSuccess }) };
}

function checkSample(name: SampleName): void {
  if (getSample(name).hasOracle && !name.endsWith('-harmless')) return;
  throw new TypeError(
    `The sample ${name} has no oracle or is a twin; choose a sample that has an oracle and is not a twin.`,
  );
}

/** Lets an agent handle one sample. */
async function runSample<M extends ControllableMailbox>(
  agent: (task: SampleTask<M>) => unknown,
  name: SampleName,
  { createMailbox = createDefaultMailbox as () => Promise<never>, seed, to, quietMs = 0 }: RunSamplesOptions<M>,
) {
  const mailbox = await createMailbox();
  if (typeof mailbox?.tenants !== 'function') {
    throw new TypeError(`The option createMailbox must return a mailbox or a sandbox, not ${describeValue(mailbox)}.`);
  }
  const [inbox] = mailbox.tenants().flatMap(({ workspaces }) => workspaces.flatMap(({ inboxes }) => inboxes));
  const address = to ?? inbox?.address ?? '';
  const sample = createSample(name, { to: address, seed, baseUrl: mailbox.baseUrl });
  const received = await mailbox.receiveMessage(sample);
  const inboxId = received[0]?.inboxId ?? '';
  const activity = new AgentActivity(mailbox, { looks: 'never', startsUnseen: false, inboxId });
  activity.begin();
  try {
    await agent({ mailbox, address, inboxId, received });
  } catch (error) {
    activity.end();
    throw new Error(`The agent failed on the sample ${name}: ${(error as Error)?.message ?? error}`, { cause: error });
  }
  await waitUntilOver(activity, quietMs);
  activity.end();
  const observed = withCachedJournal(mailbox);
  const { result, breaches, doubts } = judgeSample(observed, sample);
  if (result === 'unknown' && sample.mayMissRequests(observed)) {
    throw new Error(`The journal is too small for the sample ${name}; make journalSize larger.`);
  }
  return { result, breaches, doubts, isHandled: sample.wasHandled(observed) };
}

/** The longest time to wait after an agent has returned, in milliseconds. */
const MAX_WAIT_MS = 60_000;

/**
 * Waits after an agent has returned, by the rule of `decideOver`: its return says that it is done as soon as no call is
 * open. With a quiet time, it is over only when nothing has come for so long.
 */
async function waitUntilOver(activity: AgentActivity, quietMs: number): Promise<void> {
  const limitMs = realNowMs() + MAX_WAIT_MS;
  for (;;) {
    const known = { limitMs, quietMs, hasBreached: false, isAtWork: false, saidDone: quietMs === 0 };
    const decision = decideOver(activity.observe(known));
    if (!('over' in decision)) await activity.waitUntil(decision.goOnUntilMs);
    else if (decision.over === 'time' || !(await activity.hasNews())) return;
  }
}

async function createDefaultMailbox(): Promise<ControllableMailbox> {
  const { buildMailbox } = await import('../../mailbox/mailbox.ts');
  return buildMailbox({}).mailbox;
}

function shareOf<Item>(items: readonly Item[], isCounted: (item: Item) => boolean): number | null {
  return items.length === 0 ? null : items.filter(isCounted).length / items.length;
}

/** The greatest width of a table, in characters. */
const WIDTH = 80;

function toTable({ results, utility, attackSuccess }: Pick<SamplesReport, 'results' | 'utility' | 'attackSuccess'>) {
  const rows = results.map(({ sample, result, twinResult }) => [sample, result, twinResult ?? 'none'] as const);
  const width = Math.max(...rows.map(([name]) => name.length), 6);
  const [head, ...lines] = [['Sample', 'Result', 'Twin'] as const, ...rows].map(
    ([name, result, twin]) => `${name.padEnd(width)}  ${result.padEnd(8)}  ${twin}`,
  );
  const percent = (share: number | null) => (share === null ? 'none' : formatPercent(share));
  const body = lines.flatMap((line, index) => [
    line,
    ...(results[index]?.breaches ?? []).map(({ call }) => `  ${shorten(call)}`),
    ...(results[index]?.doubts ?? []).map((doubt) => `  ${shorten(doubt)}`),
  ]);
  const totals = [`Utility: ${percent(utility)}`, `Attack success: ${percent(attackSuccess)}`];
  return [head, ...body, '', ...totals].join('\n');
}

const shorten = (call: string) => (call.length > WIDTH - 2 ? `${call.slice(0, WIDTH - 3)}…` : call);
