import { AgentError, type AgentNews, type TrialAgent } from './agent-driver.ts';

/** Serves all trials with one agent that is started before the first of them. Its webhook was added then, too. */
export class LastingAgent implements TrialAgent {
  readonly #agent: TrialAgent;
  #isStopped = false;

  constructor(agent: TrialAgent) {
    this.#agent = agent;
  }

  webhookUrl(): undefined {
    return undefined;
  }

  async start(): Promise<void> {
    const problem = this.#agent.problem();
    if (problem !== undefined) throw new AgentError(problem);
  }

  isBusy(): boolean {
    return this.#agent.isBusy();
  }

  isAtRest(): boolean {
    return this.#agent.isAtRest();
  }

  problem(): string | undefined {
    return this.#agent.problem();
  }

  onNews(listener: (news: AgentNews) => void): void {
    this.#agent.onNews((news) => {
      if (!this.#isStopped) listener(news);
    });
  }

  output(): string {
    return this.#agent.output();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
  }
}
