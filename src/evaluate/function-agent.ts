import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { messageOf } from '../basics/named-error.ts';
import { setTimeout } from '../basics/real-timers.ts';
import type { DeliveryPayload } from '../mailbox/without-msw.ts';
import { type AgentAccess, type AgentNews, type CreateAgent, OutputTail, type TrialAgent } from './agent-driver.ts';
import type { ParsedScenario } from './parse-scenarios.ts';

/** What an agent that is a function gets. */
export interface EvaluatedTask extends AgentAccess {
  /** The delivery, as its webhook gets it; undefined for an agent that is not told by a webhook. */
  readonly event: DeliveryPayload | undefined;
  /** Is aborted at the end of the trial. */
  readonly signal: AbortSignal;
  /** The name of the scenario. */
  readonly scenario: string;
  /** The number of the trial, from 1. */
  readonly trial: number;
  /** Adds a line to the output of the agent in the report. */
  log(line: string): void;
  /** Says that the agent is done with everything that it knows of, so that the trial need not wait until it is silent. */
  done(): void;
}

/**
 * An agent: a function that handles a delivery of its webhook. The delivery is answered with 200 when the function
 * returns, with 500 when it throws, so that the service sends it again, and with 202 if it takes longer than 10 seconds.
 * For a scenario whose agent is told by `start`, it is called when mail has come. Otherwise it is called once, and works
 * until `signal` is aborted. When a promise that it returned is settled, what it was called for is done; work that it
 * leaves without `await` cannot be seen.
 */
export type EvaluatedAgent = (task: EvaluatedTask) => unknown;

/**
 * How long a delivery waits for the agent, in milliseconds, before it is answered with 202. The service waits 15 s, unless a
 * behaviour says otherwise.
 */
const ANSWER_MS = 10_000;

/** Creates the agents of trials from a function. */
export function createFunctionAgent(agent: EvaluatedAgent): CreateAgent {
  return async (scenario, number) => {
    const trial = new FunctionAgent(agent, scenario, number);
    if (scenario.agent.told === 'webhook') await trial.listen(scenario.agent.path);
    return trial;
  };
}

class FunctionAgent implements TrialAgent {
  readonly #agent: EvaluatedAgent;
  readonly #scenario: ParsedScenario;
  readonly #number: number;
  readonly #controller = new AbortController();
  readonly #output = new OutputTail();
  #server: Server | undefined;
  #url: string | undefined;
  #access: AgentAccess | undefined;
  #running = 0;
  #problem: string | undefined;
  #listener: (news: AgentNews) => void = () => {};

  constructor(agent: EvaluatedAgent, scenario: ParsedScenario, number: number) {
    this.#agent = agent;
    this.#scenario = scenario;
    this.#number = number;
  }

  async listen(path: string): Promise<void> {
    this.#server = createServer(async (request, response) => {
      const event = JSON.parse(await text(request)) as DeliveryPayload;
      const late = new Promise<202>((resolve) => void setTimeout(() => resolve(202), ANSWER_MS).unref?.());
      let isAnswered = false;
      const call = this.#call(event).then(
        () => 200,
        (error: unknown) => {
          const message = `The agent threw: ${messageOf(error)}`;
          this.#output.add(`${message}\n`);
          // The service cannot learn of it any more, so it would never be sent again.
          if (isAnswered) this.#fail(message);
          return 500;
        },
      );
      const status = await Promise.race([call, late]);
      isAnswered = true;
      response.writeHead(status).end();
    });
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  webhookUrl(): string | undefined {
    return this.#url;
  }

  async start(access: AgentAccess): Promise<void> {
    this.#access = access;
    const { told } = this.#scenario.agent;
    if (told === 'webhook' || told === 'start') return;
    // An agent that polls or listens works until the end; that it waits does not count as work.
    this.#call(undefined).then(
      () => this.#listener({ kind: 'ended', tooEarly: 'The agent ended before the trial was over.' }),
      (error: unknown) => this.#fail(`The agent threw: ${messageOf(error)}`),
    );
  }

  async runForMail(): Promise<string | undefined> {
    return this.#call(undefined).then(
      () => undefined,
      (error: unknown) => {
        const message = `The agent threw: ${messageOf(error)}`;
        this.#output.add(`${message}\n`);
        return message;
      },
    );
  }

  isBusy(): boolean {
    return this.#server !== undefined && this.#running > 0;
  }

  isAtRest(): boolean {
    return this.#server !== undefined && this.#running === 0;
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
    this.#controller.abort();
    this.#server?.close();
    this.#server?.closeAllConnections();
  }

  async #call(event: DeliveryPayload | undefined): Promise<void> {
    if (!this.#access) return;
    this.#running += 1;
    try {
      await this.#agent({
        ...this.#access,
        event,
        signal: this.#controller.signal,
        scenario: this.#scenario.name,
        trial: this.#number,
        log: (line) => this.#output.add(`${line}\n`),
        done: () => this.#listener({ kind: 'done' }),
      });
    } finally {
      this.#running -= 1;
      this.#listener({ kind: 'worked' });
    }
  }

  #fail(problem: string): void {
    if (this.#controller.signal.aborted) return;
    this.#problem ??= problem;
    this.#listener({ kind: 'failed' });
  }
}

/** An agent that accepts every delivery and does nothing. */
export const createIdleAgent: CreateAgent = createFunctionAgent(({ event, signal }) =>
  event === undefined ? new Promise((resolve) => signal.addEventListener('abort', resolve)) : undefined,
);
