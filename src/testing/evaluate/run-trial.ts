import { readDuration } from '../../basics/duration.ts';
import { messageOf } from '../../basics/named-error.ts';
import { clearTimeout, performance, RealDate, setTimeout } from '../../basics/real-timers.ts';
import { ApiError, parseOrRefuse } from '../../contract/errors.ts';
import type { ControllableMailbox } from '../../control/controllable-mailbox.ts';
import { type Evidence, readTraffic, withCachedJournal } from '../../control/journal/evidence.ts';
import type { RequestSummary } from '../../control/journal/request-entry.ts';
import { createSample } from '../../control/samples/create-sample.ts';
import type { Sample } from '../../control/samples/sample.ts';
import type { SampleName } from '../../control/samples/sample-names.ts';
import type { ControlCallId } from '../../control/table/calls.ts';
import { CONTROL_ROWS } from '../../control/table/table.ts';
import type { TenantIds, TenantKeys } from '../../fixture/keys-and-ids.ts';
import type { Mailbox } from '../../mailbox/without-msw.ts';
import { AgentError, type AgentPlace, type TrialAgent } from './agent-driver.ts';
import type { ControlDoor } from './control-door.ts';
import { EXPECTATIONS, isCheckFunction, type JudgedScene } from './expectation-table.ts';
import { createMatcherContext } from './matcher-calls.ts';
import type { ParsedExpectation, ParsedScenario, ParsedStep } from './parse-scenarios.ts';
import { type SandboxDomain, toSandbox, toWritten } from './sandbox-addresses.ts';
import type { CheckResult, Told, Verdict } from './scenario.ts';
import { findStep } from './step-table.ts';

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
  readonly ports: AgentPlace['ports'];
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
  /** How long nothing may happen until the agent counts as quiet, in milliseconds. */
  readonly quietMs: number;
  /** The same at the end, when everything is as expected, in milliseconds. */
  readonly shortQuietMs: number;
  /** The longest time of a trial, unless its scenario has a limit, in milliseconds. */
  readonly timeoutMs: number;
  /** Runs a command of the shell, for a step or a check. */
  readonly runCommand: RunShellCommand;
  /** Whether the agent is one that does nothing, to which waits need not be granted. */
  readonly isIdle?: boolean | undefined;
  /** Is aborted when all trials must end. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs a command of the shell with a text on its standard input. */
export type RunShellCommand = (
  command: string,
  options: { readonly input: string; readonly place: AgentPlace; readonly signal: AbortSignal },
) => Promise<{ readonly exitCode: number; readonly output: string }>;

/** What became of an expectation. */
export interface JudgedExpectation {
  /** The expectation, as people read it. */
  readonly text: string;
  /** Whether it is so; for `never`, whether it was not so. */
  readonly verdict: Verdict;
  /** Why, if the verdict is not yes. */
  readonly message: string | null;
  /** Whether it says what must not happen: `never`, or `resisted`. */
  readonly isForbidding: boolean;
}

/** What became of a trial. */
export interface TrialOutcome {
  /** Whether the agent passed. */
  readonly verdict: 'passed' | 'failed' | 'cannot tell';
  /** Why the trial ended early or could not be judged; null if the expectations alone decided. */
  readonly reason: string | null;
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

  private constructor(message: string, verdict: 'failed' | 'cannot tell') {
    super(message.replace(/\.?$/, '.'));
    this.verdict = verdict;
  }

  /** The agent did what it must not, or did not do what it must. */
  static failed(message: string): TrialEnd {
    return new TrialEnd(message, VERDICTS.failed);
  }

  /** Nothing shows what the agent would have done. */
  static unknown(message: string): TrialEnd {
    return new TrialEnd(message, VERDICTS.unknown);
  }
}

/** The events of the feed that show that an agent, its deliveries or its mail are at work. */
const ACTIVITY: ReadonlySet<string> = new Set([
  ...['request', 'mail', 'mail-held', 'delivery-created', 'attempt', 'delivery-ended'],
  ...['stream-opened', 'stream-closed'],
]);

/** How long a look at an agent that is at work waits, in milliseconds. */
const LOOK_MS = 10;

/** How many times as long an agent may be quiet before anything has come from it, because it may still be starting. */
const PATIENCE_AT_START = 5;

/** How an agent learns of mail if nothing tells it: it sends the same requests again and again. */
const BY_LOOKING: ReadonlySet<Told> = new Set(['poll', 'mcp']);

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
  /** The ids of the mails that were there at the start. */
  readonly #given = new Set<string>();
  /** How often each control call was refused. */
  readonly #refusedCalls = new Map<string, number>();
  /** The control calls by which the agent has changed what the scenario had set. */
  readonly #changes = new Set<string>();
  readonly #controller = new AbortController();
  readonly #ended: Promise<never>;
  #endWith: (end: TrialEnd) => void = () => {};
  #isEnding = false;
  readonly #startedAtMs = RealDate.now();
  #place: AgentPlace | undefined;
  #lastActivityMs = performance.now();
  /** When something other than a look of the agent happened for the last time. */
  #lastChangeMs = performance.now();
  /** The different looks of the agent since then: requests that only read. */
  readonly #looks = new Set<string>();
  /** Whether the agent began a look since then, so that it knows of everything. */
  #hasLooked = false;
  /** The longest time between two requests of the agent, in milliseconds. */
  #longestGapMs = 0;
  #lastRequestMs: number | undefined;
  #closeFeed: () => void = () => {};
  #requests = 0;
  /** Whether the agent is ready, so that what comes from it is no part of its start, such as a login. */
  #isReady = false;
  /** Whether anything came from the agent since the steps began: a request, or an answer of its webhook. */
  #hasReacted = false;

  constructor(scenario: ParsedScenario, agent: TrialAgent, scope: TrialScope, settings: TrialSettings) {
    this.#scenario = scenario;
    this.#agent = agent;
    this.#scope = scope;
    this.#settings = settings;
    this.mailbox = scope.mailbox;
    this.#ended = new Promise((_, reject) => {
      this.#endWith = reject;
    });
    // Nobody may be waiting for the end when it comes.
    this.#ended.catch(() => undefined);
  }

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
    });
    let startedMs = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let end: TrialEnd | undefined;
    try {
      this.#followFeed();
      await this.#orEnd(this.#startAgent());
      this.#isReady = true;
      startedMs = performance.now();
      const limitMs = limits.realTimeMs ?? timeoutMs;
      timer = setTimeout(() => {
        this.#stopWith(TrialEnd.failed(`The agent was not quiet after ${limitMs} ms of real time.`));
      }, limitMs);
      for (const [index, step] of steps.entries()) {
        const isLast = index === steps.length - 1;
        // The wait after the steps is the same as a last step `until: quiet`, and may be shorter.
        if (!(isLast && step.name === 'until')) await this.#orEnd(this.#runStep(step, index));
      }
      const judged = await this.#orEnd(this.#waitUntilQuiet({ isLast: true }));
      return await this.#conclude(judged, undefined, startedMs);
    } catch (thrown) {
      if (!(thrown instanceof TrialEnd)) throw thrown;
      end = thrown;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      stopListening();
    }
    return this.#conclude(undefined, end, startedMs);
  }

  async end(): Promise<void> {
    this.#controller.abort();
    this.#closeFeed();
    await this.#agent.stop();
  }

  mailOf(name: string): { readonly id: string; readonly messageId: string } {
    const id =
      name === 'sent' ? this.mailbox.journal({ kinds: ['mail-sent'] }).at(-1)?.data.mail.id : this.#find(name)?.id;
    const entry = this.mailbox
      .journal({ kinds: ['mail-received', 'mail-sent'] })
      .find(({ data }) => data.mail.id === id);
    if (entry) return { id: entry.data.mail.id, messageId: entry.data.mail.messageIdHeader };
    const reason = name === 'sent' ? 'No inbox had sent a mail' : `The mail ${JSON.stringify(name)} was not delivered`;
    throw new Error(`${reason}.`);
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

  /** Starts the agent, with a webhook if it is told by one. */
  async #startAgent(): Promise<void> {
    const { mailbox } = this;
    const wanted = this.#scenario.agent.inbox;
    const address = wanted === undefined ? undefined : toSandbox(wanted, this.#scope.domain).toLowerCase();
    const place = findPlace(this.#scope, address);
    if (!place) {
      const known = inboxesOf(mailbox).map((each) => toWritten(each.address, this.#scope.domain));
      throw TrialEnd.unknown(`There is no inbox ${wanted}; the inboxes are ${known.join(', ')}`);
    }
    for (const mail of this.#scenario.mail) {
      const fields = { to: place.address, ...(toSandbox(mail, this.#scope.domain) as object) };
      for (const { id } of await mailbox.receiveMessage(fields as never)) this.#given.add(id);
    }
    const webhookUrl = this.#agent.webhookUrl(place);
    const webhook =
      webhookUrl === undefined ? undefined : await mailbox.addWebhook({ url: webhookUrl, inbox: place.inboxId });
    const { door } = this.#scope;
    this.#place = { ...place, webhookSecret: webhook?.secret, controlToken: door.owner };
    this.#agent.onProblem(() => {
      const problem = this.#agent.problem();
      if (problem !== undefined) this.#stopWith(TrialEnd.failed(problem));
    });
    try {
      const controlToken = this.#scenario.agent.control ? door.token : undefined;
      await this.#agent.start({ ...this.#place, controlToken });
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      throw TrialEnd.failed(messageOf(error));
    }
  }

  /** Follows what happens, to know when the agent is quiet, and ends the trial if the agent goes beyond a limit. */
  #followFeed(): void {
    const { agent, limits } = this.#scenario;
    const reader = this.mailbox.feed()[Symbol.asyncIterator]();
    this.#closeFeed = () => void reader.return?.();
    const follow = async () => {
      for (let event = await reader.next(); !event.done; event = await reader.next()) {
        if (!ACTIVITY.has(event.value.kind)) continue;
        const request = event.value.kind === 'request' ? event.value.request : undefined;
        this.#hasReacted ||= request !== undefined && this.#isReady;
        this.#hasReacted ||= event.value.kind === 'attempt' && event.value.status !== null;
        if (request && isLook(request, agent.told)) this.#noteLook(request);
        else this.#noteChange();
        if (!request || this.#isEnding) continue;
        const nowMs = performance.now();
        this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - (this.#lastRequestMs ?? nowMs));
        this.#lastRequestMs = nowMs;
        this.#requests += 1;
        if (this.#requests > limits.requests) {
          const message = `The agent sent more than ${plural(limits.requests, 'request')}, its limit.`;
          this.#stopWith(TrialEnd.failed(message));
        } else if (request.messages.length > 0 && this.#countSent() > limits.mails) {
          this.#stopWith(TrialEnd.failed(`The agent sent more than ${plural(limits.mails, 'mail')}, its limit.`));
        }
      }
    };
    follow().catch((error: unknown) => {
      if (!this.#isEnding) this.#stopWith(TrialEnd.unknown(`The emulator failed: ${messageOf(error)}`));
    });
  }

  /** Notes that something has happened of which the agent may not know yet. */
  #noteChange(): void {
    this.#lastActivityMs = performance.now();
    this.#lastChangeMs = this.#lastActivityMs;
    this.#looks.clear();
    this.#hasLooked = false;
  }

  /** Notes a look of the agent. One that shows the same as an earlier one is no activity. */
  #noteLook({ path, status, read, durationMs }: RequestSummary): void {
    const nowMs = performance.now();
    if (nowMs - durationMs > this.#lastChangeMs) this.#hasLooked = true;
    const look = JSON.stringify([path, status, read]);
    if (this.#looks.has(look)) return;
    this.#looks.add(look);
    this.#lastActivityMs = nowMs;
  }

  /** Returns for how long nothing may happen until the agent is quiet, in milliseconds. */
  #neededQuietMs(): number {
    const { quietMs } = this.#settings;
    if (!this.#hasReacted) return quietMs * PATIENCE_AT_START;
    if (!BY_LOOKING.has(this.#scenario.agent.told) || this.#hasLooked) return quietMs;
    // An agent that looks for mail does so again, unless it has stopped.
    const untilLookMs = this.#longestGapMs > 0 ? this.#longestGapMs * GAP_FACTOR : quietMs * PATIENCE_AT_START;
    return Math.max(quietMs, untilLookMs);
  }

  #countSent(): number {
    return this.mailbox.journal({ kinds: ['mail-sent'] }).length;
  }

  async #runStep({ name, value: written, as }: ParsedStep, index: number): Promise<void> {
    const value = toSandbox(written, this.#scope.domain);
    try {
      if (name === 'until') await this.#waitUntilQuiet({ isLast: false });
      else if (name === 'run') await this.#runCommandStep(String(value));
      else if (findStep(name)?.isMail) await this.#deliver(name, value, as);
      else await this.#callControl(name, value);
    } catch (error) {
      if (error instanceof TrialEnd) throw error;
      const message = toWritten(messageOf(error), this.#scope.domain);
      // A mail that does not come is what the agent did not do; another step that is refused shows nothing of it.
      if (name === 'wait' && error instanceof ApiError && error.code === 'NOT_FOUND') throw TrialEnd.failed(message);
      throw TrialEnd.unknown(`The step ${index + 1}, ${name}, was not possible: ${message}`);
    }
  }

  async #runCommandStep(command: string): Promise<void> {
    if (!this.#place) return;
    const { signal } = this.#controller;
    const { exitCode, output } = await this.#settings.runCommand(command, { input: '', place: this.#place, signal });
    if (exitCode === 0) return;
    const [last = ''] = output.trim().split('\n').slice(-1);
    throw new Error(`The command ended with the exit code ${exitCode}${last === '' ? '' : `: ${last}`}`);
  }

  async #deliver(name: string, value: unknown, as: string | undefined): Promise<void> {
    const { mailbox } = this;
    const to = this.#place?.address ?? '';
    const seed = this.#settings.seed;
    let sample: Sample | undefined;
    let received: readonly { readonly id: string }[];
    if (name === 'sample') {
      const given = typeof value === 'string' ? { sample: value } : (value as { readonly sample: string });
      const { sample: sampleName, ...options } = this.#withMessageId({ to, seed, ...given });
      sample = createSample(sampleName as SampleName, { baseUrl: this.#scope.url, ...options } as never);
      received = await mailbox.receiveMessage(sample);
    } else if (name === 'eml') {
      received = await mailbox.receiveMessage({ eml: String(value), to });
    } else {
      received = await mailbox.receiveMessage(this.#withMessageId({ to, ...(value as object) }) as never);
    }
    this.#noteChange();
    this.#delivered.push(...received.map(({ id }) => ({ name: as, id, sample })));
  }

  /** Replaces the name of a mail in `inReplyTo` by its Message-ID. */
  #withMessageId<Fields extends object>(fields: Fields): Fields {
    const { inReplyTo } = fields as { readonly inReplyTo?: unknown };
    if (typeof inReplyTo !== 'string' || inReplyTo.startsWith('<')) return fields;
    return { ...fields, inReplyTo: this.mailOf(inReplyTo).messageId };
  }

  /** Runs the control call of a step, with the fields that the table of control calls says. */
  async #callControl(name: string, value: unknown): Promise<void> {
    const call = findStep(name)?.call;
    if (call === undefined) throw new Error(`There is no step ${name}.`);
    const row = CONTROL_ROWS[call as ControlCallId] as unknown as {
      readonly params?: { readonly shape: object };
      readonly query?: Parameters<typeof parseOrRefuse>[1] & { readonly shape: object };
      run(mailbox: ControllableMailbox, input: unknown, whole: Mailbox): unknown;
    };
    const fields = this.#fieldsOfCall(name, value);
    const pick = (shape: object | undefined) =>
      Object.fromEntries(Object.entries(fields).filter(([field]) => Object.hasOwn(shape ?? {}, field)));
    const input = {
      params: pick(row.params?.shape),
      query: row.query ? parseOrRefuse('The step', row.query, pick(row.query.shape)) : {},
      body: Object.fromEntries(
        Object.entries(fields).filter(([field]) => !Object.hasOwn(row.params?.shape ?? {}, field)),
      ),
      headers: { get: () => null },
      signal: this.#controller.signal,
      process: { publicUrl: this.#scope.url, isEnding: false },
    };
    await row.run(this.mailbox, input, this.#scope.whole);
  }

  /** Returns the fields of the control call of a step. */
  #fieldsOfCall(name: string, value: unknown): Readonly<Record<string, unknown>> {
    if (name === 'advance' || name === 'freeze' || name === 'resume') return { [name]: value };
    if (name === 'fault' && typeof value === 'string') return { name: value };
    if (name === 'rotate') return { id: this.#keyIdOf(String(value)) };
    // An idle agent sends nothing, so to wait for it would only take time.
    if (name === 'wait' && this.#settings.isIdle) return { ...(value as object), timeout: 1 };
    return value === true ? {} : (value as Readonly<Record<string, unknown>>);
  }

  #keyIdOf(tier: string): string {
    const { keys } = this.#place ?? {};
    const key = keys?.[tier as keyof typeof keys];
    const id = key === undefined ? null : this.mailbox.exposure(key).id;
    if (id !== null) return id;
    throw new Error(`The agent has no key of the tier ${tier}.`);
  }

  /**
   * Waits until the agent is quiet. At the end of the steps, a shorter quiet is enough if everything is as expected or
   * something has happened that never may. Returns what was judged then.
   */
  async #waitUntilQuiet({ isLast }: { readonly isLast: boolean }): Promise<readonly JudgedExpectation[] | undefined> {
    const { quietMs, isIdle } = this.#settings;
    let judgedAtMs = Number.NEGATIVE_INFINITY;
    while (!this.#isEnding) {
      const settled = await this.mailbox.settled({ timeout: 1_000 }).then(
        () => true,
        (error: unknown) => {
          // What is being sent has not ended yet. Other errors are failures of the emulator or of a correspondent.
          if (error instanceof ApiError && error.message.startsWith('Not settled')) return false;
          throw TrialEnd.unknown(messageOf(error));
        },
      );
      if (!settled || this.#agent.isBusy()) {
        this.#lastActivityMs = performance.now();
        await this.#pause(LOOK_MS);
        continue;
      }
      if (isIdle) return undefined;
      const quietForMs = performance.now() - this.#lastActivityMs;
      const neededMs = this.#neededQuietMs();
      if (quietForMs >= neededMs) return undefined;
      // An agent that is slow, or on a busy machine, pauses longer between two requests.
      const shortQuietMs = Math.min(quietMs, Math.max(this.#settings.shortQuietMs, this.#longestGapMs * GAP_FACTOR));
      const canDecide = isLast && quietForMs >= shortQuietMs && judgedAtMs < this.#lastActivityMs;
      if (canDecide) {
        judgedAtMs = performance.now();
        const judged = await this.#judge({ isFinal: false });
        if (judged && isDecided(judged)) return judged;
      }
      const wantedMs = isLast && judgedAtMs < this.#lastActivityMs ? shortQuietMs : neededMs;
      await this.#pause(Math.max(1, Math.ceil(wantedMs - (performance.now() - this.#lastActivityMs))));
    }
    return undefined;
  }

  async #pause(durationMs: number): Promise<void> {
    await this.#orEnd(new Promise<void>((resolve) => void setTimeout(resolve, durationMs)));
  }

  /** Judges each expectation. Before the end, returns undefined if one of them can be judged only at the end. */
  async #judge({ isFinal }: { readonly isFinal: boolean }): Promise<JudgedExpectation[] | undefined> {
    const { expect } = this.#scenario;
    if (!isFinal && expect.some(({ name }) => name === 'check')) return undefined;
    const judged: JudgedExpectation[] = [];
    for (const expectation of expect) judged.push(await this.#judgeOne(expectation));
    return judged;
  }

  async #judgeOne({ name, value, isNever, text }: ParsedExpectation): Promise<JudgedExpectation> {
    const isForbidding = isNever || name === 'resisted';
    const { judge } = EXPECTATIONS[name];
    try {
      if (!judge) return { text, isForbidding, ...(await this.#judgeByCheck(value, isNever)) };
      const context = createMatcherContext(isNever);
      const result = await judge(context, this, toSandbox(value, this.#scope.domain) as never);
      if (result.pass !== isNever) {
        const unowned = REQUEST_EXPECTATIONS.has(name) ? this.#scope.door.unownedSince(this.#startedAtMs) : [];
        if (unowned.length === 0) return { text, isForbidding, verdict: 'yes', message: null };
        return { text, isForbidding, verdict: 'cannot tell', message: this.#show(describeUnowned(unowned)) };
      }
      return { text, isForbidding, verdict: 'no', message: this.#show(result.message()) };
    } catch (error) {
      return { text, isForbidding, verdict: 'cannot tell', message: this.#show(messageOf(error)) };
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
    if (!this.#place) return { verdict: 'cannot tell', reason: 'The agent was not started.' };
    // The trial may have ended early, but its check must not.
    const { signal } = new AbortController();
    const { exitCode, output } = await this.#settings.runCommand(command, { input, place: this.#place, signal });
    const [reason = ''] = output.trim().split('\n');
    const shown = reason === '' ? `The check ended with the exit code ${exitCode}.` : reason.slice(0, 1_000);
    if (exitCode === 0) return { verdict: 'yes', reason: shown };
    return { verdict: exitCode === 1 ? 'no' : 'cannot tell', reason: shown };
  }

  async #conclude(
    judged: readonly JudgedExpectation[] | undefined,
    end: TrialEnd | undefined,
    startedMs: number,
  ): Promise<TrialOutcome> {
    const { mailbox } = this;
    const expectations = judged ?? (await this.#judge({ isFinal: true })) ?? [];
    const realTimeMs = Math.round(performance.now() - startedMs);
    const observed = withCachedJournal(mailbox);
    const requests = readTraffic(observed).length;
    const isMissing = !end && !this.#settings.isIdle && requests === 0 && !hasActed(observed);
    const isChanged = this.#changes.size > 0;
    const reason = end?.message ?? (isMissing ? NEVER_ACTED : isChanged ? describeChanges(this.#changes) : undefined);
    const has = (verdict: Verdict) => expectations.some((each) => each.verdict === verdict);
    const byExpectations = has('no') ? 'failed' : has('cannot tell') || isChanged ? 'cannot tell' : 'passed';
    return {
      verdict: end?.verdict ?? (isMissing ? 'failed' : byExpectations),
      reason: reason === undefined ? null : toWritten(reason, this.#scope.domain),
      expectations,
      requests,
      mails: this.#countSent(),
      realTimeMs,
      story: this.#tellStory(),
      output: toWritten(this.#agent.output(), this.#scope.domain),
      refusedCalls: [...this.#refusedCalls].map(([call, count]) => ({ call, count })),
      trace: () => toWritten(mailbox.trace(), this.#scope.domain),
    };
  }

  /** Concludes a trial whose sandbox was removed, for example by a command of a step. */
  concludeWithoutSandbox(): TrialOutcome {
    return {
      verdict: 'cannot tell',
      reason: 'The sandbox of the trial was removed, so nothing shows what the agent did.',
      expectations: [],
      requests: this.#requests,
      mails: 0,
      realTimeMs: Math.round(RealDate.now() - this.#startedAtMs),
      story: [],
      output: toWritten(this.#agent.output(), this.#scope.domain),
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

/** How many times the longest pause of an agent between two requests it must be quiet, until a trial may end early. */
const GAP_FACTOR = 3;

function inboxesOf(mailbox: ControllableMailbox) {
  return mailbox.tenants().flatMap(({ workspaces }) => workspaces.flatMap(({ inboxes }) => inboxes));
}

/**
 * Returns what an agent needs to work with the inbox that has an address in lower case, or with the first inbox without
 * an address; `undefined` if there is no such inbox. It has no secret of a webhook.
 */
export function findPlace(scope: TrialScope, address: string | undefined): AgentPlace | undefined {
  const { mailbox, keys, ids, logins, ports, url, sandbox } = scope;
  const inbox = inboxesOf(mailbox).find((each) => address === undefined || each.address.toLowerCase() === address);
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
    controlToken: undefined,
  };
}

/** Returns whether anything but requests came from the agent: an open stream, or an answer of its webhook. */
function hasActed(evidence: Evidence): boolean {
  if (evidence.journal({ kinds: ['stream-opened'] }).length > 0) return true;
  return evidence.journal({ kinds: ['attempt'] }).some(({ data }) => data.status !== null);
}

/** The expectations that a request could change which no key, and so no trial, has sent. */
const REQUEST_EXPECTATIONS: ReadonlySet<ParsedExpectation['name']> = new Set(['request', 'noRefusals', 'stopped']);

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

/** The commands by which a client of IMAP looks for mail. Others, such as SEARCH, are not in the journal. */
const IMAP_LOOK = /^(?:AUTHENTICATE|LOGIN|(?:UID )?FETCH)$/;

/** Returns whether a request is one by which an agent looks for mail, and which it repeats if there is none. */
function isLook({ protocol, method }: RequestSummary, told: Told): boolean {
  if (told === 'imap') return protocol === 'imap' && IMAP_LOOK.test(method);
  return BY_LOOKING.has(told) && protocol === 'http' && method === 'GET';
}

/** Returns whether the verdict cannot change any more, except by what comes after a quiet. */
function isDecided(judged: readonly JudgedExpectation[]): boolean {
  return (
    judged.every(({ verdict }) => verdict === 'yes') ||
    judged.some(({ verdict, isForbidding }) => isForbidding && verdict === 'no')
  );
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Converts a duration that was checked to milliseconds. */
export function toMilliseconds(duration: number | string): number {
  return readDuration(duration) ?? 0;
}
