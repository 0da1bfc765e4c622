import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { toPrintableJson } from '../basics/printable.ts';
import type { ProcessTree, ProcessTrees } from '../server/process-tree.ts';
import {
  type AgentAccess,
  AgentError,
  type AgentNews,
  CannotStartError,
  OutputTail,
  type TrialAgent,
} from './agent-driver.ts';
import { variablesOf } from './shell-command.ts';

/** How an agent is started. */
export interface ProcessAgentOptions {
  /** The command and its arguments, or one text for the shell. */
  readonly command: readonly string[];
  /** Whether the shell runs the command. */
  readonly isShell?: boolean | undefined;
  /** The environment variables of the agent, besides those of the trial. */
  readonly env: NodeJS.ProcessEnv;
  /** The path at which the agent receives deliveries; undefined if it is not told by a webhook. */
  readonly path: string | undefined;
  /** The text of the line that the agent prints when it is ready; undefined if it is ready when its port answers. */
  readonly readyText: string | undefined;
  /** How long the agent may take until it is ready, in milliseconds. Default: 30,000. */
  readonly readyMs?: number | undefined;
  /** The text of the line that the agent prints when it is done; undefined if it does not say that in this way. */
  readonly doneText: string | undefined;
  /** Starts the processes of all agents. */
  readonly trees: ProcessTrees;
  /** Is called with a sentence that names the processes of the agent which could not be ended. */
  readonly onLeft: (sentence: string) => void;
}

/** How long an agent may take until it is ready, in milliseconds. */
const READY_MS = 30_000;

/** What an agent that has no webhook may need. */
const NEEDS_NO_WEBHOOK =
  'If it has no webhook, say how it learns of mail, for example by --told poll or by agent: { told: poll } in the scenario.';

/** What an agent that has ended at once may need. */
const LOOKS_ONCE =
  ' If it looks for mail once and ends, say so by --told start or by agent: { told: start } in the scenario.';

/** The time between two tries to connect to the agent, in milliseconds. */
const TRY_MS = 20;

/** How long an agent that has ended may still print, in milliseconds. */
const LAST_OUTPUT_MS = 500;

/**
 * How much of the latest output is kept to find the text by which an agent is ready, in characters. The text may come in
 * several pieces.
 */
const MAX_RECENT = 4_096;

/** An agent that is a process of its own: the command is started for each trial, and ends with it. */
export class ProcessAgent implements TrialAgent {
  readonly #options: ProcessAgentOptions;
  readonly #port: number;
  readonly #output = new OutputTail();
  #tree: ProcessTree | undefined;
  #problem: string | undefined;
  #isReady = false;
  #isStopping = false;
  #listener: (news: AgentNews) => void = () => {};

  constructor(options: ProcessAgentOptions, port: number) {
    this.#options = options;
    this.#port = port;
  }

  webhookUrl(): string | undefined {
    const { path } = this.#options;
    return path === undefined ? undefined : `http://127.0.0.1:${this.#port}${path}`;
  }

  async start(access: AgentAccess): Promise<void> {
    const { command, isShell = false, env, path, readyText, readyMs = READY_MS, doneText, trees } = this.#options;
    const [file = '', ...args] = command;
    const variables = { ...env, ...variablesOf(access), MAILBOX_AGENT_PORT: String(this.#port) };
    const isWindows = process.platform === 'win32';
    // A group of its own does not get the Ctrl-C of the terminal. On Windows, only a shell finds commands such as npm, which
    // are scripts there.
    this.#tree = trees.start(file, args, {
      env: variables,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: !isWindows,
      shell: isShell || isWindows,
    });
    const { child } = this.#tree;
    const readyTextPrinted = new Promise<void>((resolve) => {
      let recent = '';
      const read = (piece: string) => {
        this.#output.add(piece);
        if (readyText === undefined) return;
        recent = (recent + piece).slice(-Math.max(piece.length, MAX_RECENT));
        if (recent.includes(readyText)) resolve();
      };
      child.stdout?.setEncoding('utf8').on('data', read);
      child.stderr?.setEncoding('utf8').on('data', read);
      if (doneText !== undefined) this.#listenForDone(child.stdout, doneText);
    });
    const startFailed = new Promise<never>((_, reject) => {
      child.once('error', ({ code, message }: NodeJS.ErrnoException) => {
        const reason = code === 'ENOENT' ? 'it was not found' : message;
        reject(new CannotStartError(`The command ${toPrintableJson(file)} cannot run: ${reason}.`));
      });
    });
    const ended = new Promise<never>((_, reject) => {
      let isReported = false;
      const report = (code: number | null, signal: NodeJS.Signals | null) => {
        if (isReported) return;
        isReported = true;
        const how = signal === null ? `with the exit code ${code}` : `by the signal ${signal}`;
        const isLook = code === 0 && path !== undefined;
        const problem = this.#isReady
          ? `The agent ended ${how} before the trial was over.`
          : `The agent ended ${how} before it was ready.${isLook ? LOOKS_ONCE : ''}`;
        if (code === 0 && !this.#isStopping) {
          // A further trial cannot begin with an agent that has ended.
          this.#problem ??= problem;
          this.#listener({ kind: 'ended', tooEarly: problem });
        } else this.#fail(problem);
        reject(new AgentError(problem));
      };
      // `close` comes after the last output, which says why the agent has ended. It does not come while a process that the
      // agent has started keeps the output open.
      child.once('exit', (code, signal) => {
        const timer = setTimeout(() => report(code, signal), LAST_OUTPUT_MS);
        child.once('close', () => {
          clearTimeout(timer);
          report(code, signal);
        });
      });
    });
    // Both promises may be rejected when nobody waits for them any more.
    ended.catch(() => undefined);
    startFailed.catch(() => undefined);
    await Promise.race([startFailed, once(child, 'spawn')]);
    this.#isReady = readyText === undefined && path === undefined;
    if (this.#isReady) return;
    const ready = readyText === undefined ? this.#waitForPort() : readyTextPrinted;
    const missing =
      readyText === undefined
        ? `nothing listens on its port ${this.#port}. ${NEEDS_NO_WEBHOOK}`
        : `it has not printed ${toPrintableJson(readyText)}.`;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timedOut = new Promise<never>((_, reject) => {
      const message = `The agent was not ready after ${readyMs / 1000} s: ${missing}`;
      timer = setTimeout(() => reject(new AgentError(message)), readyMs);
    });
    try {
      await Promise.race([ready, ended, timedOut]);
      this.#isReady = true;
    } finally {
      clearTimeout(timer);
    }
  }

  isBusy(): boolean {
    return false;
  }

  isAtRest(): boolean {
    return false;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  onNews(listener: (news: AgentNews) => void): void {
    this.#listener = listener;
  }

  output(): string {
    return String(this.#output);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const problem = await this.#tree?.end();
    if (problem !== undefined) this.#options.onLeft(problem);
  }

  #fail(problem: string): void {
    if (this.#isStopping) return;
    this.#problem ??= problem;
    this.#listener({ kind: 'failed' });
  }

  /** Tells each time when the agent has printed a whole line with the text by which it is done. */
  #listenForDone(output: NodeJS.ReadableStream | null, doneText: string): void {
    let line = '';
    output?.on('data', (piece: string) => {
      const [first = '', ...others] = piece.split('\n');
      const lines = [line + first, ...others];
      // The last line has not ended yet. Of a very long line, the start is forgotten.
      line = (lines.pop() ?? '').slice(-MAX_RECENT);
      if (lines.some((each) => each.includes(doneText))) this.#listener({ kind: 'done' });
    });
  }

  /** Resolves when something listens on the port of the agent, or when the trial is over. */
  async #waitForPort(): Promise<void> {
    while (!this.#isStopping && !(await answers(this.#port))) {
      await new Promise((resolve) => setTimeout(resolve, TRY_MS));
    }
  }
}

/**
 * An agent that is told by `start`: its command is started when mail has come, and again for later mail. Each run is a
 * process of its own.
 */
export class StartedAgent implements TrialAgent {
  readonly #createRun: () => ProcessAgent;
  readonly #outputs: string[] = [];
  #access: AgentAccess | undefined;
  #run: ProcessAgent | undefined;

  constructor(createRun: () => ProcessAgent) {
    this.#createRun = createRun;
  }

  webhookUrl(): undefined {}

  async start(access: AgentAccess): Promise<void> {
    this.#access = access;
  }

  async runForMail(): Promise<string | undefined> {
    if (!this.#access) return undefined;
    const run = this.#createRun();
    this.#run = run;
    const ended = new Promise<string | undefined>((resolve) => {
      run.onNews(({ kind }) => {
        if (kind === 'ended') resolve(undefined);
        if (kind === 'failed') resolve(run.problem()?.replace(' before the trial was over', ''));
      });
    });
    await run.start(this.#access);
    const problem = await ended;
    await run.stop();
    this.#outputs.push(run.output());
    this.#run = undefined;
    return problem;
  }

  isBusy(): boolean {
    return this.#run !== undefined;
  }

  isAtRest(): boolean {
    return this.#run === undefined;
  }

  problem(): undefined {}

  onNews(): void {}

  output(): string {
    return [...this.#outputs, this.#run?.output() ?? ''].join('');
  }

  async stop(): Promise<void> {
    await this.#run?.stop();
  }
}

const FIRST_PORT = 20_000;
const PORT_COUNT = 12_000;

/**
 * The ports for the webhooks of agents. A port that the system chooses could be given to an outgoing connection before the
 * agent listens on it. These ports are below those that Linux, macOS and Windows give to connections.
 */
export class AgentPorts {
  #next = Math.floor(Math.random() * PORT_COUNT);

  /** Returns a port on which nothing listens, and which was not returned for a long time. */
  async take(): Promise<number> {
    for (let tries = 0; tries < PORT_COUNT; tries += 1) {
      const port = FIRST_PORT + (this.#next % PORT_COUNT);
      this.#next += 1;
      if (await isFree(port)) return port;
    }
    throw new CannotStartError(
      `No port from ${FIRST_PORT} to ${FIRST_PORT + PORT_COUNT - 1} is free for the webhook of the agent.`,
    );
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Returns whether something listens on a port of this machine. */
async function answers(port: number): Promise<boolean> {
  return (await findConnectProblem('127.0.0.1', port)) === undefined;
}

/** How long a connection to an agent that runs already may take, in milliseconds. */
const CONNECT_MS = 5_000;

/** Connects to a port, and returns why that is not possible; undefined if something listens there. */
function findConnectProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    const end = (problem: string | undefined) => {
      resolve(problem);
      socket.destroy();
    };
    socket.once('connect', () => end(undefined));
    socket.once('timeout', () => end(`it did not answer in ${CONNECT_MS / 1000} s`));
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const isUnknown = code === 'ENOTFOUND' || code === 'EAI_AGAIN';
      end(isUnknown ? 'there is no such host' : code === 'ECONNREFUSED' ? 'the connection was refused' : message);
    });
  });
}

/**
 * Checks that the shell knows the first word of a command, so far as the word alone shows it. What the shell makes of
 * quotes, of variables and of another `PATH`, only the shell knows.
 *
 * @throws {CannotStartError} if it does not.
 */
export async function checkShellCommand(command: string, env: NodeJS.ProcessEnv): Promise<void> {
  const word = /^\s*(?:(?!PATH=)\w+=[\w./:,@%+-]*\s+)*([\w./:@%+-]+)(?=\s|$)/.exec(command)?.[1];
  if (word === undefined || process.platform === 'win32') return;
  const isKnown = await new Promise<boolean>((resolve) => {
    execFile('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', word], { env }, (error) => resolve(error === null));
  });
  if (!isKnown) throw new CannotStartError(`The command ${toPrintableJson(word)} cannot run: it was not found.`);
}

/**
 * Checks that something listens at the URL of an agent that runs already, unless its host differs between trials.
 *
 * @throws {CannotStartError} if nothing does.
 */
export async function checkAgentListens(agentUrl: string): Promise<void> {
  const [one, other] = ['a', 'b'].map((value) => new URL(agentUrl.replace(PLACEHOLDER, value)));
  if (!one || one.host !== other?.host) return;
  const host = one.hostname.replace(/^\[|\]$/g, '');
  const problem = await findConnectProblem(host, Number(one.port) || (one.protocol === 'https:' ? 443 : 80));
  if (problem === undefined) return;
  // The rest of the URL may have a key.
  throw new CannotStartError(
    `Nothing listens at ${one.origin}, which --agent-url names: ${problem}; start the agent first.`,
  );
}

/** The placeholders of the URL of an agent that runs already. */
const PLACEHOLDER = /\{(key|inboxId|baseUrl|doneUrl)\}/g;

/** An agent that runs already, somewhere else. Its URL may have placeholders for what differs between trials. */
export class RunningAgent implements TrialAgent {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  webhookUrl({ keys, inboxId, baseUrl, doneUrl }: AgentAccess): string {
    const values: Readonly<Record<string, string>> = { key: keys.inbox, inboxId, baseUrl, doneUrl };
    return this.#url.replace(PLACEHOLDER, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  }

  async start(): Promise<void> {}

  isBusy(): boolean {
    return false;
  }

  isAtRest(): boolean {
    return false;
  }

  problem(): undefined {}

  onNews(): void {}

  output(): string {
    return '';
  }

  async stop(): Promise<void> {}
}

/** Returns whether a URL has a placeholder. */
export function hasPlaceholder(url: string): boolean {
  return url.search(PLACEHOLDER) >= 0;
}
