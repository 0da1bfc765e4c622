import { foldAddress } from '../basics/domain-name.ts';
import { messageOf } from '../basics/named-error.ts';
import { RealDate } from '../basics/real-timers.ts';
import { plural } from '../basics/text.ts';
import { toAddressKey } from '../contract/addresses/email-address.ts';
import { ApiError } from '../contract/errors.ts';
import type { Sample } from '../control/samples/sample.ts';
import { isNotSettled } from '../control/settled.ts';
import type { ControlCallId } from '../control/table/routes.ts';
import { runCall } from '../control/table/run-call.ts';
import { AgentActivity, realNowMs } from '../control/verdicts/agent-activity.ts';
import { decideOver, type ObservedAgent, type Over } from '../control/verdicts/decide-over.ts';
import { type Evidence, readTraffic, withCachedJournal } from '../control/verdicts/evidence.ts';
import type { TenantIds, TenantKeys } from '../fixture/keys-and-ids.ts';
import type { ControllableMailbox, Mailbox, RequestSummary } from '../mailbox/without-msw.ts';
import { type AgentAccess, AgentError, type AgentNews, type TrialAgent } from './agent-driver.ts';
import type { ControlDoor } from './control-door.ts';
import type { EarlierTrials } from './earlier-trials.ts';
import {
  EXPECTATIONS,
  isBrokenForGood,
  isCheckFunction,
  isForbidding,
  type JudgedScene,
  mayStillBeMet,
} from './expectation-table.ts';
import { createMatcherContext } from './matcher-calls.ts';
import type { ParsedExpectation, ParsedScenario, ParsedSingle, ParsedStep } from './parse-scenarios.ts';
import { type SandboxDomain, toSandbox, toWritten } from './sandbox-addresses.ts';
import type { CheckResult, Told, Verdict } from './scenario.ts';
import { findStep, type StepTrial } from './step-table.ts';
import { readPatterns } from './text-pattern.ts';

/** What a trial has of an emulator: a sandbox, or the whole. */
export interface TrialScope {
  /** The sandbox, or the mailbox of the emulator. */
  readonly mailbox: ControllableMailbox;
  /** The mailbox of the emulator, for what concerns it as a whole. */
  readonly whole: Mailbox;
  /** The URL of the service. */
  readonly url: string;
  readonly keys: TenantKeys;
  readonly ids: TenantIds;
  /** The logins of the inboxes, by handle. */
  readonly logins: Readonly<Record<string, { readonly user: string; readonly password: string }>>;
  readonly ports: AgentAccess['ports'];
  readonly domain: SandboxDomain;
  /** The id of the sandbox; undefined for the whole emulator. */
  readonly sandbox: string | undefined;
  /** The control plane of the emulator. */
  readonly door: ControlDoor;
}

/** How a trial is run. */
export interface TrialSettings {
  /** The seed of the samples. */
  readonly seed: number;
  /** How long nothing may come from the agent until the wait for it is over, in milliseconds, as `decideOver` says. */
  readonly quietMs: number;
  /** The longest time of a trial, unless its scenario has a limit, in milliseconds. */
  readonly timeoutMs: number;
  /** Runs a command of the shell, for a step or a check. */
  readonly runCommand: RunShellCommand;
  /** Whether the agent is one that does nothing, to which waits need not be granted. */
  readonly isIdle?: boolean | undefined;
  /**
   * Only for an agent that serves all trials: what the earlier ones had. Such a trial is followed by a silence, so that
   * what the agent still does belongs to it, and not to the next trial.
   */
  readonly earlier?: EarlierTrials | undefined;
  /** Is aborted when all trials must end. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs a command of the shell with a text on its standard input. */
export type RunShellCommand = (
  command: string,
  options: { readonly input: string; readonly access: AgentAccess; readonly signal: AbortSignal },
) => Promise<{ readonly exitCode: number; readonly output: string }>;

/** What became of an expectation. */
export interface JudgedExpectation {
  /** The expectation, as people read it. */
  readonly text: string;
  /** Whether it is so; for `never`, whether it was not so. */
  readonly verdict: Verdict;
  /** Why, if the verdict is not yes. With yes, what an agent tried that was refused; otherwise null. */
  readonly message: string | null;
  /** Whether it says what must not happen: `never`, or `resisted`. */
  readonly isForbidding: boolean;
  /** Whether it cannot be told only because the agent may still be at work. */
  readonly isOpen: boolean;
  /** If it is not so, the ids of the mails that it is about, as the trace has them. */
  readonly mails?: readonly string[] | undefined;
}

/** What became of a trial. */
export interface TrialOutcome {
  /** Whether the agent passed. */
  readonly verdict: 'passed' | 'failed' | 'cannot tell';
  /**
   * Why the wait for the agent was over: it said that it is done (`done`), something happened that never may (`breach`),
   * nothing came for the quiet time (`silence`), or the real time was up (`time`). Null if the trial ended otherwise.
   */
  readonly over: Over | null;
  /** For how long nothing had come when silence ended the trial, in milliseconds of real time; otherwise null. */
  readonly silentMs: number | null;
  /** Whether the verdict cannot be told because silence ended the trial. Such a trial counts as one that did not pass. */
  readonly isSilent: boolean;
  /** Whether anything came from the agent: a request, a command, a stream, or an answer of its webhook. */
  readonly hasActed: boolean;
  /** Why the trial ended early or could not be judged; null if the expectations alone decided. */
  readonly reason: string | null;
  /** Whether a step was not possible because the agent had sent no mail, to which the step belongs. */
  readonly lacksSentMail: boolean;
  /** What became of each expectation. */
  readonly expectations: readonly JudgedExpectation[];
  /** The requests and commands of the agent. */
  readonly requests: number;
  /** The mails that its inboxes sent. */
  readonly mails: number;
  /** From the first step to the verdict, in milliseconds. */
  readonly realTimeMs: number;
  /** What happened to the mails, in sentences. */
  readonly story: readonly string[];
  /** What the agent has printed. */
  readonly output: string;
  /** The control calls that were refused while the trial ran, such as `POST /__mock/reset`, and how often. */
  readonly refusedCalls: readonly RefusedCall[];
  /** Writes the trace of the trial; only until the sandbox is closed. */
  trace(): string;
}

/** A control call that was refused because its token was missing or wrong. */
export interface RefusedCall {
  /** The method and the path. */
  readonly call: string;
  /** How often. */
  readonly count: number;
}

/** The verdicts of a trial that ends early. */
const VERDICTS = { failed: 'failed', unknown: 'cannot tell' } as const;

/** Why a trial ends before its steps are done. */
class TrialEnd extends Error {
  readonly verdict: 'failed' | 'cannot tell';

  private constructor(message: string, verdict: 'failed' | 'cannot tell', cause?: unknown) {
    super(message.replace(/\.?$/, '.'), { cause });
    this.verdict = verdict;
  }

  /** The agent did what it must not, or did not do what it must. */
  static failed(message: string): TrialEnd {
    return new TrialEnd(message, VERDICTS.failed);
  }

  /** Nothing shows what the agent would have done. */
  static unknown(message: string, cause?: unknown): TrialEnd {
    return new TrialEnd(message, VERDICTS.unknown, cause);
  }
}

/** Thrown if a step or an expectation is about the mail that the agent has sent, and it has sent none. */
class NothingSent extends Error {}

/** How an agent that is told in this way looks for what happened. */
const LOOKS: Readonly<Record<Told, ObservedAgent['looks']>> = {
  webhook: 'never',
  stream: 'never',
  poll: 'again',
  imap: 'for mail',
  mcp: 'again',
  start: 'never',
};

/** The ways in which nothing tells when an agent is ready, unless it prints that. */
const STARTS_UNSEEN: ReadonlySet<Told> = new Set(['stream', 'poll', 'imap', 'mcp']);

/** How often at most a trial looks whether something has happened that never may, in milliseconds. */
const BREACH_LOOK_MS = 200;

/** How many mails the story of a trial tells of. */
const MAX_TOLD = 5;

/** Runs the steps of a scenario with an agent, waits until the agent is quiet, and judges what happened. */
export async function runTrial(
  scenario: ParsedScenario,
  agent: TrialAgent,
  scope: TrialScope,
  settings: TrialSettings,
): Promise<TrialOutcome> {
  const trial = new Trial(scenario, agent, scope, settings);
  try {
    return await trial.run();
  } catch (error) {
    if (scope.mailbox === scope.whole || scope.whole.sandboxes().some(({ id }) => id === scope.sandbox)) throw error;
    return trial.concludeWithoutSandbox();
  } finally {
    await trial.end();
  }
}

interface DeliveredMail {
  readonly name: string | undefined;
  readonly id: string;
  readonly sample: Sample | undefined;
}

class Trial implements JudgedScene {
  readonly mailbox: ControllableMailbox;
  readonly #scenario: ParsedScenario;
  readonly #agent: TrialAgent;
  readonly #scope: TrialScope;
  readonly #settings: TrialSettings;
  readonly #delivered: DeliveredMail[] = [];
  /** The addresses of the correspondents whose first mail has a name, by this name. */
  readonly #correspondents = new Map<string, string>();
  /** The ids of the mails that were there at the start. */
  readonly #given = new Set<string>();
  /** How often each control call was refused. */
  readonly #refusedCalls = new Map<string, number>();
  /** The control calls by which the agent has changed what the scenario had set. */
  readonly #changes = new Set<string>();
  readonly #controller = new AbortController();
  readonly #ended: Promise<never>;
  #endWith: (reason: unknown) => void = () => {};
  #isEnding = false;
  readonly #startedAtMs = RealDate.now();
  #access: AgentAccess | undefined;
  #webhookId: string | undefined;
  #activity: AgentActivity | undefined;
  #requests = 0;
  /** How many steps have been run. */
  #stepsDone = 0;
  /** When the real time is up, in milliseconds since 1970. */
  #limitMs = Number.POSITIVE_INFINITY;
  /** When the agent ended by itself without an error, and the sentence that this was too early. */
  #endedAgent: { readonly atMs: number; readonly tooEarly: string } | undefined;
  /** The latest run of an agent that is told by `start`: when it began, and why it failed. */
  #latestRun: { readonly atMs: number; readonly stepsDone: number; readonly problem: string | undefined } | undefined;
  /** Whether such a run goes on. */
  #isRunning = false;

  constructor(scenario: ParsedScenario, agent: TrialAgent, scope: TrialScope, settings: TrialSettings) {
    this.#scenario = scenario;
    this.#agent = agent;
    this.#scope = scope;
    this.#settings = settings;
    this.mailbox = settings.earlier?.without(scope.mailbox) ?? scope.mailbox;
    this.#ended = new Promise((_, reject) => {
      this.#endWith = reject;
    });
    // Nobody may be waiting for the end when it comes.
    this.#ended.catch(() => undefined);
  }

  /** Whether the agent looks for mail, so that the same look again does not show that it has not stopped. */
  get looksForMail(): boolean {
    return LOOKS[this.#scenario.agent.told] !== 'never';
  }

  /** Runs the trial and, with an agent that serves all trials, waits for the silence after it. */
  async run(): Promise<TrialOutcome> {
    const { clock, steps, limits } = this.#scenario;
    const { timeoutMs, signal } = this.#settings;
    const { mailbox } = this;
    mailbox.clock.freeze(clock);
    const stop = () => this.#stopWith(TrialEnd.unknown('The run was interrupted.'));
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
    const stopListening = this.#scope.door.listen({
      onRefused: (call) => void this.#refusedCalls.set(call, (this.#refusedCalls.get(call) ?? 0) + 1),
      onChange: (call) => void this.#changes.add(call),
      onEnding: (sentence) => this.#stopWith(TrialEnd.failed(sentence)),
      onOldKey: (worldId, method) => {
        if (worldId !== this.#scope.ids.tenant) return;
        this.#activity?.noteRefused(method);
        this.#countRequest();
      },
    });
    let startedMs = realNowMs();
    try {
      const activity = await this.#orEnd(this.#startAgent());
      startedMs = realNowMs();
      this.#limitMs = startedMs + (limits.realTimeMs ?? timeoutMs);
      activity.begin();
      for (const [index, step] of steps.entries()) {
        const isLast = index === steps.length - 1;
        // The wait after the steps is the same as a last step `until: quiet`.
        if (!(isLast && step.name === 'until')) await this.#orEnd(this.#runStep(activity, step, index));
        this.#stepsDone = index + 1;
      }
      let ending: Ending;
      let judged: readonly JudgedExpectation[] | undefined;
      let lastActivityMs: number;
      do {
        ending = await this.#orEnd(this.#waitUntilOver(activity, { isLast: true }));
        lastActivityMs = activity.lastActivityMs;
        // To judge takes time. If the agent acts meanwhile, the silence is not over.
        if (ending.over === 'silence') judged = await this.#orEnd(this.#judge({ mayGoOn: true }));
      } while (ending.over === 'silence' && activity.lastActivityMs !== lastActivityMs);
      const problem = this.#latestRun?.problem;
      if (problem !== undefined) throw TrialEnd.failed(problem);
      const realTimeMs = realNowMs() - startedMs;
      // What came between this trial and the next is judged with it.
      const afterwards = await this.#waitForSilenceAfter();
      if (afterwards !== undefined) judged = undefined;
      return await this.#conclude({ ending, judged, realTimeMs, afterwards });
    } catch (thrown) {
      if (!(thrown instanceof TrialEnd)) throw thrown;
      const realTimeMs = realNowMs() - startedMs;
      return await this.#conclude({ end: thrown, realTimeMs, afterwards: await this.#waitForSilenceAfter() });
    } finally {
      signal?.removeEventListener('abort', stop);
      stopListening();
    }
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    this.#controller.abort();
    this.#activity?.end();
    await this.#agent.stop();
  }

  mailOf(name: string): { readonly id: string; readonly messageId: string } {
    const id =
      name === 'sent'
        ? this.mailbox.journal({ kinds: ['mail-sent'] }).at(-1)?.data.mail.id
        : (this.#find(name)?.id ?? this.#findAnswer(name));
    const entry = this.mailbox
      .journal({ kinds: ['mail-received', 'mail-sent'] })
      .find(({ data }) => data.mail.id === id);
    if (entry) return { id: entry.data.mail.id, messageId: entry.data.mail.messageIdHeader };
    if (name === 'sent') throw new NothingSent('No inbox had sent a mail.');
    if (this.#correspondents.has(name)) {
      throw new Error(`The correspondent ${JSON.stringify(name)} has sent no mail.`);
    }
    throw new Error(`The mail ${JSON.stringify(name)} was not delivered.`);
  }

  sampleOf(name: string): Sample {
    const sample = this.#find(name)?.sample;
    if (sample) return sample;
    throw new Error(`The mail ${JSON.stringify(name)} is not one of a sample.`);
  }

  #find(name: string): DeliveredMail | undefined {
    if (name === 'first') return this.#delivered[0];
    if (name === 'last') return this.#delivered.at(-1);
    return this.#delivered.find((mail) => mail.name === name);
  }

  /** Returns the id of the first mail of the correspondent with a name, or of the server that reports to it. */
  #findAnswer(name: string): string | undefined {
    const address = this.#correspondents.get(name);
    const reached = this.mailbox
      .journal({ kinds: ['correspondent'] })
      .flatMap(({ data }) => (data.address === address ? data.messageIdHeader : []));
    const answer = this.mailbox
      .journal({ kinds: ['mail-received'] })
      .find(({ data }) => data.source === 'correspondent' && reached.includes(data.mail.inReplyTo ?? ''));
    return answer?.data.mail.id;
  }

  #stopWith(end: TrialEnd): void {
    this.#isEnding = true;
    this.#controller.abort();
    this.#endWith(end);
  }

  /** Waits for some work or for the end of the trial, whichever comes first. */
  async #orEnd<Value>(work: Promise<Value>): Promise<Value> {
    work.catch(() => undefined);
    return Promise.race([work, this.#ended]);
  }

  /** Starts the agent, with a webhook if it is told by one, and follows what happens from then on. */
  async #startAgent(): Promise<AgentActivity> {
    const { mailbox } = this;
    const { told, inbox: wanted } = this.#scenario.agent;
    const address = wanted === undefined ? undefined : toSandbox(wanted, this.#scope.domain);
    const access = findAccess(this.#scope, address);
    if (!access) {
      const known = inboxesOf(mailbox).map((each) => toWritten(each.address, this.#scope.domain));
      throw TrialEnd.unknown(`There is no inbox ${wanted}; the inboxes are ${known.join(', ')}`);
    }
    for (const mail of this.#scenario.mail) {
      const fields = { to: access.address, ...(toSandbox(mail, this.#scope.domain) as object) };
      for (const { id } of await mailbox.receiveMessage(fields as never)) this.#given.add(id);
    }
    const webhookUrl = this.#agent.webhookUrl(access);
    const webhook =
      webhookUrl === undefined ? undefined : await mailbox.addWebhook({ url: webhookUrl, inbox: access.inboxId });
    const { door } = this.#scope;
    this.#access = { ...access, webhookSecret: webhook?.secret, controlToken: door.owner };
    this.#webhookId = webhook?.id;
    const { isIdle = false } = this.#settings;
    const activity = new AgentActivity(mailbox, {
      looks: isIdle ? 'never' : LOOKS[told],
      startsUnseen: !isIdle && STARTS_UNSEEN.has(told),
      inboxId: access.inboxId,
      webhookId: webhook?.id,
      onRequest: (request) => this.#checkLimits(request),
      onFailure: (error) => {
        if (!this.#isEnding) this.#stopWith(TrialEnd.unknown(`The emulator failed: ${messageOf(error)}`));
      },
    });
    this.#activity = activity;
    this.#agent.onNews((news) => this.#noteNews(activity, news));
    try {
      const controlToken = this.#scenario.agent.control ? door.token : undefined;
      await this.#agent.start({ ...this.#access, controlToken });
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      throw TrialEnd.failed(messageOf(error));
    }
    return activity;
  }

  #noteNews(activity: AgentActivity, news: AgentNews): void {
    if (this.#isEnding) return;
    if (news.kind === 'done') activity.noteDone();
    const problem = news.kind === 'failed' ? this.#agent.problem() : undefined;
    if (problem !== undefined) this.#stopWith(TrialEnd.failed(problem));
    if (news.kind === 'ended') {
      // To end without an error is to say that it is done, if the agent did something and nothing more will come.
      const isDone = activity.hasActed && activity.knowsOfChange && !this.#isAnythingLeft();
      if (isDone) this.#endedAgent = { atMs: realNowMs(), tooEarly: news.tooEarly };
      else this.#stopWith(TrialEnd.failed(news.tooEarly));
    }
    activity.wake();
  }

  /** Returns whether a step, a delivery or a correspondent may still bring something to the agent. */
  #isAnythingLeft(): boolean {
    const { mailbox } = this;
    const isBringing = ({ name }: ParsedStep) => findStep(name)?.isMail || BRINGING_STEPS.has(name);
    if (this.#scenario.steps.slice(this.#stepsDone).some(isBringing)) return true;
    if (mailbox.correspondents().some(({ due }) => due.length > 0)) return true;
    const waiting = (['pending', 'held'] as const).flatMap((state) => mailbox.deliveries({ state }));
    return waiting.some(({ webhookId }) => webhookId === this.#webhookId);
  }

  /** Ends the trial if the agent goes beyond a limit. */
  #checkLimits({ messages, path }: RequestSummary): void {
    const { limits } = this.#scenario;
    if (this.#isEnding || this.#settings.earlier?.isNamedIn(path)) return;
    this.#countRequest();
    if (!this.#isEnding && messages.length > 0 && this.#countSent() > limits.mails) {
      this.#stopWith(TrialEnd.failed(`The agent sent more than ${plural(limits.mails, 'mail')}, its limit.`));
    }
  }

  /** Counts a request of the agent, also one with a key that was replaced, and ends the trial beyond the limit. */
  #countRequest(): void {
    const { requests } = this.#scenario.limits;
    this.#requests += 1;
    if (this.#isEnding || this.#requests <= requests) return;
    this.#stopWith(TrialEnd.failed(`The agent sent more than ${plural(requests, 'request')}, its limit.`));
  }

  #countSent(): number {
    return this.mailbox.journal({ kinds: ['mail-sent'] }).length;
  }

  async #runStep(activity: AgentActivity, { name, value: written, as }: ParsedStep, index: number): Promise<void> {
    const value = toSandbox(written, this.#scope.domain);
    try {
      if (name === 'until') await this.#waitUntilOver(activity, { isLast: false });
      else if (name === 'run') await this.#runCommandStep(String(value));
      else await this.#runCallStep(name, value, as);
    } catch (error) {
      if (error instanceof TrialEnd) throw error;
      const message = toWritten(messageOf(error), this.#scope.domain);
      // A mail that does not come is what the agent did not do; another step that is refused shows nothing of it.
      if (name === 'wait' && error instanceof ApiError && error.code === 'NOT_FOUND') throw TrialEnd.failed(message);
      throw TrialEnd.unknown(`The step ${index + 1}, ${name}, was not possible: ${message}`, error);
    }
    if (name !== 'until') activity.noteChange();
  }

  async #runCommandStep(command: string): Promise<void> {
    if (!this.#access) return;
    const { signal } = this.#controller;
    const { exitCode, output } = await this.#settings.runCommand(command, { input: '', access: this.#access, signal });
    if (exitCode === 0) return;
    const [last = ''] = output.trim().split('\n').slice(-1);
    throw new Error(`The command ended with the exit code ${exitCode}${last === '' ? '' : `: ${last}`}`);
  }

  /** Makes the control call of a step, and keeps the mails that `as` and the expectations name. */
  async #runCallStep(name: string, value: unknown, as: string | undefined): Promise<void> {
    const row = findStep(name);
    if (row?.call === undefined) throw new Error(`There is no step ${name}.`);
    const { mailbox } = this;
    const { whole, url } = this.#scope;
    const fields = row.fields ? row.fields(value as never, this.#stepTrial()) : (value as object);
    const reply = await runCall(row.call, fields, { mailbox, whole, url, signal: this.#controller.signal });
    if (row.isMail) {
      const { messages } = reply as { readonly messages: readonly { readonly id: string }[] };
      const isNew = (each: { readonly id: string }) => messages.some(({ id }) => id === each.id);
      const sample = mailbox.samples().findLast((delivered) => delivered.messages.some(isNew))?.sample;
      this.#delivered.push(...messages.map(({ id }) => ({ name: as, id, sample })));
    }
    if (row.namesAnswer && as !== undefined) {
      this.#correspondents.set(as, toAddressKey((value as { readonly address: string }).address));
    }
  }

  #stepTrial(): StepTrial {
    const { seed, isIdle = false } = this.#settings;
    return {
      url: this.#scope.url,
      seed,
      address: this.#access?.address ?? '',
      isIdle,
      keyIdOf: (tier) => {
        const { keys } = this.#access ?? {};
        const key = keys?.[tier as keyof typeof keys];
        const id = key === undefined ? null : this.mailbox.exposure(key).id;
        if (id !== null) return id;
        throw new Error(`The agent has no key of the tier ${tier}.`);
      },
      messageIdOf: (mailName) => this.mailOf(mailName).messageId,
    };
  }

  /** Waits until `decideOver` says that the wait for the agent is over. */
  async #waitUntilOver(activity: AgentActivity, { isLast }: { readonly isLast: boolean }): Promise<Ending> {
    const { quietMs, isIdle = false } = this.#settings;
    let hasBreached = false;
    let judgedEvents = 0;
    let nextBreachLookMs = realNowMs() + BREACH_LOOK_MS;
    for (;;) {
      if (!isIdle) this.#runForMail(activity, { isLast });
      const observed = activity.observe({
        limitMs: this.#limitMs,
        quietMs,
        hasBreached,
        isAtWork: this.#isRunning || this.#agent.isBusy(),
        saidDone: isIdle || this.#isDone(activity),
      });
      // An agent that has ended looks for nothing any more.
      const decision = decideOver(this.#endedAgent ? { ...observed, looks: 'never' } : observed);
      if ('over' in decision) {
        // What has happened may not have been noted yet.
        if (decision.over !== 'time' && (await activity.hasNews())) continue;
        const silentMs = observed.nowMs - activity.lastActivityMs;
        const isAtWork = observed.openCalls > 0 || silentMs < quietMs;
        if (decision.over !== 'time') await this.#findFailures();
        else if (isAtWork || !isLast) {
          const limitMs = this.#scenario.limits.realTimeMs ?? this.#settings.timeoutMs;
          const isUnseen = !activity.hasActed && !isAtWork;
          const early = `The real time of ${limitMs} ms was up before all steps were done`;
          const busy = `The agent was not quiet after ${limitMs} ms of real time`;
          throw TrialEnd.failed(isUnseen ? NEVER_ACTED : isAtWork ? busy : early);
        }
        return { over: decision.over, silentMs };
      }
      let untilMs = decision.goOnUntilMs;
      // What never may happen ends the trial at once. It is looked for only after the steps, because they show more.
      if (isLast && judgedEvents !== activity.events) {
        if (realNowMs() >= nextBreachLookMs) {
          judgedEvents = activity.events;
          nextBreachLookMs = realNowMs() + BREACH_LOOK_MS;
          hasBreached = await this.#hasBreached();
          continue;
        }
        untilMs = Math.min(untilMs, nextBreachLookMs);
      }
      await this.#orEnd(activity.waitUntil(untilMs));
    }
  }

  /**
   * Waits, with an agent that serves all trials, until nothing has come from it for the quiet time, whatever it said.
   * Returns what came meanwhile, in a sentence.
   */
  async #waitForSilenceAfter(): Promise<string | undefined> {
    const { earlier, quietMs, timeoutMs, signal } = this.#settings;
    const activity = this.#activity;
    if (!earlier || !activity) return undefined;
    const requestsBefore = readTraffic(this.mailbox).length;
    const limitMs = realNowMs() + timeoutMs;
    for (;;) {
      const known = { limitMs, quietMs, hasBreached: false, isAtWork: this.#agent.isBusy(), saidDone: false };
      const observed = { ...activity.observe(known), saidDone: false, mayStillStart: false, looks: 'never' } as const;
      const decision = decideOver(observed);
      if ('over' in decision || signal?.aborted) break;
      await activity.waitUntil(decision.goOnUntilMs);
    }
    const came = readTraffic(this.mailbox).length - requestsBefore;
    return came > 0
      ? `After this trial was over, ${plural(came, 'request')} came, which were judged with it.`
      : undefined;
  }

  /** Returns whether the agent has said that it is done by its end, or is known to have nothing at work. */
  #isDone(activity: AgentActivity): boolean {
    if (this.#endedAgent) {
      if (activity.lastMailMs > this.#endedAgent.atMs) throw TrialEnd.failed(this.#endedAgent.tooEarly);
      return true;
    }
    return this.#scenario.agent.told === 'start' ? !this.#isRunning : this.#agent.isAtRest();
  }

  /**
   * Starts an agent that is told by `start`, while there is mail that no run without an error has seen. A run that failed
   * is repeated at the next wait, when the service may work again.
   */
  #runForMail(activity: AgentActivity, { isLast }: { readonly isLast: boolean }): void {
    if (this.#scenario.agent.told !== 'start' || !this.#agent.runForMail || this.#isRunning) return;
    const latest = this.#latestRun;
    const hasMail = activity.lastMailMs > (latest?.atMs ?? Number.NEGATIVE_INFINITY);
    const isFirst = latest === undefined && isLast;
    const isRepeated = latest?.problem !== undefined && latest.stepsDone < this.#stepsDone;
    if (!hasMail && !isFirst && !isRepeated) return;
    const run = { atMs: realNowMs(), stepsDone: this.#stepsDone };
    this.#isRunning = true;
    this.#agent.runForMail().then(
      (problem) => {
        this.#latestRun = { ...run, problem };
        this.#isRunning = false;
        activity.wake();
      },
      (error: unknown) => this.#endWith(error),
    );
  }

  /** @throws {TrialEnd} if the emulator or a correspondent has failed. */
  async #findFailures(): Promise<void> {
    await this.mailbox.settled({ timeout: 1_000 }).catch((error: unknown) => {
      // What is being sent has not ended yet. Other errors are failures of the emulator or of a correspondent.
      if (isNotSettled(error)) return;
      throw TrialEnd.unknown(messageOf(error));
    });
  }

  /** Returns whether something has happened that never may, and that cannot be undone. */
  async #hasBreached(): Promise<boolean> {
    for (const expectation of this.#scenario.expect) {
      const parts = partsOf(expectation);
      if (!parts.every(isBrokenForGood)) continue;
      const judged = await Promise.all(parts.map((part) => this.#judgeOne(part)));
      if (judged.every(({ verdict }) => verdict === 'no')) return true;
    }
    return false;
  }

  /**
   * Judges each expectation. If the agent may still be at work, what it has not done yet cannot be told: neither silence
   * nor an end in the middle shows that it would not have done it.
   */
  async #judge(options: { readonly mayGoOn: boolean; readonly isCut?: boolean }): Promise<JudgedExpectation[]> {
    const { mayGoOn, isCut = false } = options;
    const judged: JudgedExpectation[] = [];
    for (const expectation of this.#scenario.expect) {
      const parts: JudgedExpectation[] = [];
      for (const part of partsOf(expectation)) {
        // Nobody can stop before they have gone on for a while.
        const isTooEarly = isCut && part.name === 'stopped';
        const result = isTooEarly ? notJudged(part) : await this.#judgeOne(part);
        const isOpen = mayGoOn && result.verdict !== 'yes' && (await this.#mayChange(part, result));
        parts.push(isOpen ? { ...result, verdict: 'cannot tell', isOpen } : result);
      }
      judged.push(...(expectation.name === 'anyOf' ? [joinAlternatives(expectation.text, parts)] : parts));
    }
    return judged;
  }

  /** Returns whether more work of the agent could still meet an expectation. */
  async #mayChange(expectation: ParsedSingle, { verdict }: JudgedExpectation): Promise<boolean> {
    if (verdict === 'cannot tell') {
      // Nothing shows that the agent has read the mail, which it may still do, unless the journal has dropped that.
      const isAboutReading = expectation.name === 'resisted' || expectation.name === 'ignored';
      return isAboutReading && Object.keys(this.mailbox.journalLosses()).length === 0;
    }
    return mayStillBeMet(expectation, async (name, value) => {
      const form = { ...expectation, name, value, isNever: false };
      return (await this.#judgeOne(form)).verdict === 'yes';
    });
  }

  async #judgeOne(expectation: ParsedSingle): Promise<JudgedExpectation> {
    const { name, value, isNever, text } = expectation;
    const common = { text, isForbidding: isForbidding(expectation), isOpen: false };
    const { judge } = EXPECTATIONS[name];
    try {
      if (!judge) return { ...common, ...(await this.#judgeByCheck(value, isNever)) };
      const context = createMatcherContext(isNever);
      const result = await judge(context, this, readPatterns(value, this.#scope.domain) as never);
      if (result.pass !== isNever) {
        const unowned = REQUEST_EXPECTATIONS.has(name) ? this.#scope.door.unownedSince(this.#startedAtMs) : [];
        if (unowned.length === 0) {
          // A mail that was not sent may have been tried.
          const note = isNever ? (result.note?.() ?? '') : '';
          return { ...common, verdict: 'yes', message: note === '' ? null : this.#show(note) };
        }
        return { ...common, verdict: 'cannot tell', message: this.#show(describeUnowned(unowned)) };
      }
      return { ...common, verdict: 'no', message: this.#show(result.message()), mails: result.mails };
    } catch (error) {
      return { ...common, verdict: 'cannot tell', message: this.#show(messageOf(error)) };
    }
  }

  #show(message: string): string {
    return toWritten(message, this.#scope.domain).trim();
  }

  /** Lets a command or a function judge the trace. */
  async #judgeByCheck(check: unknown, isNever: boolean): Promise<Pick<JudgedExpectation, 'verdict' | 'message'>> {
    const trace = this.mailbox.trace();
    const { verdict, reason } = isCheckFunction(check)
      ? await check(trace)
      : await this.#runCheck(String(check), trace);
    const opposite = { yes: 'no', no: 'yes', 'cannot tell': 'cannot tell' } as const;
    const shown = isNever ? opposite[verdict] : verdict;
    return { verdict: shown, message: shown === 'yes' ? null : (reason ?? 'The check gave no reason.') };
  }

  async #runCheck(command: string, input: string): Promise<CheckResult> {
    if (!this.#access) return { verdict: 'cannot tell', reason: 'The agent was not started.' };
    // The trial may have ended early, but its check must not.
    const { signal } = new AbortController();
    const { exitCode, output } = await this.#settings.runCommand(command, { input, access: this.#access, signal });
    const [reason = ''] = output.trim().split('\n');
    const shown = reason === '' ? `The check ended with the exit code ${exitCode}.` : reason.slice(0, 1_000);
    if (exitCode === 0) return { verdict: 'yes', reason: shown };
    return { verdict: exitCode === 1 ? 'no' : 'cannot tell', reason: shown };
  }

  /** Makes the outcome of the trial. */
  async #conclude({ ending, end, judged, realTimeMs, afterwards }: Finished): Promise<TrialOutcome> {
    const { mailbox } = this;
    const over = ending?.over ?? null;
    const mayGoOn = over === 'silence' || over === 'breach' || end?.verdict === 'cannot tell';
    const expectations = judged ?? (await this.#judge({ mayGoOn, isCut: over === 'breach' }));
    const observed = withCachedJournal(mailbox);
    // A reset, or an agent that has sent very much, may have removed requests from the journal.
    const requests = Math.max(readTraffic(observed).length, this.#requests);
    const hasActed = requests > 0 || this.#activity?.hasActed === true || this.#hasAnswered(observed);
    // A request that no key of a trial came with may be of this agent.
    const unowned = this.#scope.door.unownedSince(this.#startedAtMs);
    const isUnseen = !end && !this.#settings.isIdle && !hasActed;
    const isMissing = isUnseen && unowned.length === 0;
    const isUnknown = isUnseen && unowned.length > 0;
    const isChanged = this.#changes.size > 0;
    const has = (verdict: Verdict) => expectations.some((each) => each.verdict === verdict);
    // What never may happen was seen, whatever ended the trial.
    const hasBreached = expectations.some((each) => each.isForbidding && each.verdict === 'no');
    const byExpectations = has('no') ? 'failed' : has('cannot tell') || isChanged ? 'cannot tell' : 'passed';
    // The agent may have printed its key, and a message may quote a mail.
    const show = (text: string) => mailbox.mask(toWritten(text, this.#scope.domain));
    const byActs = isMissing ? 'failed' : isUnknown ? 'cannot tell' : byExpectations;
    const verdict = hasBreached ? 'failed' : (end?.verdict ?? byActs);
    const silentMs = over === 'silence' && ending ? Math.round(ending.silentMs) : null;
    const isSilent = verdict === 'cannot tell' && silentMs !== null && expectations.some(({ isOpen }) => isOpen);
    let ended = end?.message;
    if (isMissing) ended = NEVER_ACTED;
    else if (isUnknown) ended = `Nothing shows that the agent acted. ${describeUnowned(unowned)}`;
    else if (isSilent) ended ??= describeSilence(silentMs);
    const changed = isChanged ? describeChanges(this.#changes) : undefined;
    const reasons = [ended, changed, afterwards, this.#describeForeign()].filter((each) => each !== undefined);
    const reason = reasons.length === 0 ? undefined : reasons.join(' ');
    return {
      verdict,
      over,
      silentMs,
      isSilent,
      hasActed,
      reason: reason === undefined ? null : show(reason),
      lacksSentMail: end?.cause instanceof NothingSent,
      expectations: expectations.map((each) => ({
        ...each,
        message: each.message === null ? null : mailbox.mask(each.message),
      })),
      requests,
      mails: this.#countSent(),
      realTimeMs: Math.round(realTimeMs),
      story: this.#tellStory(),
      output: show(this.#agent.output()),
      refusedCalls: [...this.#refusedCalls].map(([call, count]) => ({ call, count })),
      trace: () => toWritten(mailbox.trace(), this.#scope.domain),
    };
  }

  /** Says what came during this trial and belongs to an earlier one; undefined if nothing did. */
  #describeForeign(): string | undefined {
    const count = this.#settings.earlier?.count(this.#scope.mailbox) ?? 0;
    if (count === 0) return undefined;
    const what = count === 1 ? 'A request or a mail' : `${count} requests and mails`;
    return `${what} that came during this trial ${count === 1 ? 'belongs' : 'belong'} to an earlier one, and did not count.`;
  }

  /** Returns whether anything but requests came from the agent: an open stream, or an answer of its webhook. */
  #hasAnswered(evidence: Evidence): boolean {
    if (evidence.journal({ kinds: ['stream-opened'] }).length > 0) return true;
    const isOwn = (webhookId: string) => this.#webhookId === undefined || webhookId === this.#webhookId;
    return evidence.journal({ kinds: ['attempt'] }).some(({ data }) => data.status !== null && isOwn(data.webhookId));
  }

  /** Concludes a trial whose sandbox was removed, for example by a command of a step. */
  concludeWithoutSandbox(): TrialOutcome {
    return {
      verdict: 'cannot tell',
      over: null,
      silentMs: null,
      isSilent: false,
      hasActed: this.#requests > 0,
      reason: 'The sandbox of the trial was removed, so nothing shows what the agent did.',
      lacksSentMail: false,
      expectations: [],
      requests: this.#requests,
      mails: 0,
      realTimeMs: Math.round(RealDate.now() - this.#startedAtMs),
      story: [],
      output: this.#scope.whole.mask(toWritten(this.#agent.output(), this.#scope.domain)),
      refusedCalls: [...this.#refusedCalls].map(([call, count]) => ({ call, count })),
      trace: () => '',
    };
  }

  #tellStory(): string[] {
    const mails = this.mailbox
      .journal({ kinds: ['mail-received'] })
      .filter(({ data }) => !this.#given.has(data.mail.id));
    return mails
      .slice(0, MAX_TOLD)
      .flatMap(({ data }) => this.mailbox.explain(data.mail.id).lines)
      .map((line) => toWritten(line, this.#scope.domain));
  }
}

function inboxesOf(mailbox: ControllableMailbox) {
  return mailbox.tenants().flatMap(({ workspaces }) => workspaces.flatMap(({ inboxes }) => inboxes));
}

/**
 * Returns what an agent needs to work with the inbox that has an address, or with the first inbox without
 * an address; `undefined` if there is no such inbox. It has no secret of a webhook.
 */
export function findAccess(scope: TrialScope, address: string | undefined): AgentAccess | undefined {
  const { mailbox, keys, ids, logins, ports, url, sandbox } = scope;
  const inbox = inboxesOf(mailbox).find(
    (each) => address === undefined || foldAddress(each.address) === foldAddress(address),
  );
  if (!inbox) return undefined;
  const handle = Object.entries(ids.inboxes).find(([, id]) => id === inbox.id)?.[0] ?? '';
  return {
    baseUrl: url,
    keys: {
      tenant: keys.tenant,
      workspace: Object.values(keys.workspaces)[0],
      inbox: keys.inboxes[handle] ?? keys.tenant,
    },
    inboxId: inbox.id,
    address: inbox.address,
    login: logins[handle],
    ports,
    sandbox,
    webhookSecret: undefined,
    doneUrl: `${url}/trial/done${sandbox === undefined ? '' : `?sandbox=${encodeURIComponent(sandbox)}`}`,
    controlToken: undefined,
  };
}

/** The expectations that a request could change which no key, and so no trial, has sent. */
const REQUEST_EXPECTATIONS: ReadonlySet<ParsedSingle['name']> = new Set(['request', 'noRefusals', 'stopped']);

/** Returns the expectations that are judged one by one: the alternatives of `anyOf`, or the expectation itself. */
function partsOf(expectation: ParsedExpectation): readonly ParsedSingle[] {
  return expectation.name === 'anyOf' ? expectation.parts : [expectation];
}

/** What becomes of `stopped` in a trial that was over in the middle of the work. */
function notJudged(expectation: ParsedSingle): JudgedExpectation {
  const message =
    'Something that never may happen ended the trial, so nothing shows whether the agent would have stopped.';
  return {
    text: expectation.text,
    verdict: 'cannot tell',
    message,
    isForbidding: isForbidding(expectation),
    isOpen: false,
  };
}

/** Joins what became of alternatives: one that is so is enough, and one that cannot be told may be so. */
function joinAlternatives(text: string, parts: readonly JudgedExpectation[]): JudgedExpectation {
  const unknown = parts.filter(({ verdict }) => verdict === 'cannot tell');
  const isSo = parts.some(({ verdict }) => verdict === 'yes');
  return {
    text,
    verdict: isSo ? 'yes' : unknown.length > 0 ? 'cannot tell' : 'no',
    message: isSo ? null : parts.map((part) => `${part.text}: ${part.message}`).join('\n'),
    isForbidding: parts.every(({ isForbidding }) => isForbidding),
    mails: isSo ? undefined : parts.flatMap(({ mails = [] }) => mails),
    isOpen: !isSo && unknown.length > 0 && unknown.every(({ isOpen }) => isOpen),
  };
}

function describeUnowned(unowned: readonly string[]): string {
  const [first = ''] = unowned;
  const others = unowned.length === 1 ? '' : ` and ${plural(unowned.length - 1, 'other request')}`;
  return `Whether the agent has sent ${first}${others} is not known, because no key of a trial came with it.`;
}

function describeChanges(changes: ReadonlySet<string>): string {
  const calls = [...changes].join(', ');
  return `The agent changed what the scenario had set, by ${calls}, so nothing shows what it does without.`;
}

const NEVER_ACTED =
  'The agent never acted: no request, no command and no stream came from it, and no webhook answered.';

/** Says that silence ended a trial before everything was there. */
export function describeSilence(silentMs: number): string {
  const seconds = Math.round(silentMs / 100) / 10;
  return (
    `The agent was silent for ${seconds} s; it may still be at work. ` +
    'Give --quiet-time, or let it say that it is done.'
  );
}

/** The steps besides those that deliver mail that can bring something to the agent. */
const BRINGING_STEPS: ReadonlySet<string> = new Set<ControlCallId>([
  'receiveMessage',
  'triggerEvent',
  'redeliver',
  'releaseDeliveries',
]);

/** What is known when a trial has finished. */
interface Finished {
  /** How the wait for the agent ended; undefined if the trial ended before. */
  readonly ending?: Ending;
  /** Why it ended before. */
  readonly end?: TrialEnd;
  /** What was judged already; undefined if nothing was. */
  readonly judged?: readonly JudgedExpectation[] | undefined;
  readonly realTimeMs: number;
  /** What came after the trial was over, in a sentence. */
  readonly afterwards: string | undefined;
}

/** How the wait for the agent ended. */
interface Ending {
  readonly over: Over;
  /** For how long nothing had come then, in milliseconds. */
  readonly silentMs: number;
}
