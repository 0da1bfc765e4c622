import type { ParsedScenario } from './parse-scenarios.ts';

/** What an agent gets to work in the emulator of its trial. */
export interface AgentAccess {
  /** The URL of the service, such as `http://127.0.0.1:4025`. */
  readonly baseUrl: string;
  /** The keys of the agent's tenant, workspace and inbox. */
  readonly keys: {
    /** The key of its tenant. */
    readonly tenant: string;
    /** The key of its first workspace; undefined if there is none. */
    readonly workspace: string | undefined;
    /** The key of its inbox. */
    readonly inbox: string;
  };
  /** The id of the agent's inbox. */
  readonly inboxId: string;
  /** The address of the agent's inbox. */
  readonly address: string;
  /** The login of the inbox for IMAP and SMTP; undefined if it is not known. */
  readonly login:
    | {
        /** The canonical address of the inbox. */
        readonly user: string;
        /** Its password. */
        readonly password: string;
      }
    | undefined;
  /** The ports of SMTP and IMAP; undefined if they are not served. */
  readonly ports: {
    /** The port of SMTP. */
    readonly smtp: number | undefined;
    /** The port of IMAP. */
    readonly imap: number | undefined;
  };
  /** The id of the sandbox; undefined if the agent has the whole emulator. */
  readonly sandbox: string | undefined;
  /** The secret of the agent's webhook; undefined if it has none. */
  readonly webhookSecret: string | undefined;
  /** The URL that the agent may call by POST, without a key, to say that it is done with everything that it knows of. */
  readonly doneUrl: string;
  /** The token of the control plane; undefined for an agent that may not control the emulator. */
  readonly controlToken: string | undefined;
}

/** What happened to an agent by itself. */
export type AgentNews =
  /** It says that it is done. */
  | { readonly kind: 'done' }
  /** It ended without an error. `tooEarly` says so in a sentence, for a trial in which something is left to do. */
  | { readonly kind: 'ended'; readonly tooEarly: string }
  /** It failed, as `problem()` says. */
  | { readonly kind: 'failed' }
  /** It began or ended to work on a delivery. */
  | { readonly kind: 'worked' };

/** An agent in one trial. */
export interface TrialAgent {
  /** Returns the URL at which it gets deliveries; undefined if no webhook is to be added for it. */
  webhookUrl(access: AgentAccess): string | undefined;
  /**
   * Starts the agent, and resolves when it is ready. An agent that is told by `start` only remembers its access.
   *
   * @throws {AgentError} if it does not become ready.
   */
  start(access: AgentAccess): Promise<void>;
  /**
   * Only for an agent that is told by `start`: starts it for the mail that has come, and resolves when it has ended, with
   * the reason if it failed.
   */
  runForMail?(): Promise<string | undefined>;
  /** Returns whether the agent is known to be at work, although nothing comes from it. */
  isBusy(): boolean;
  /** Returns whether it is known that nothing of it is at work, so that it is done until the next delivery. */
  isAtRest(): boolean;
  /** Why it failed by itself; undefined while it works. */
  problem(): string | undefined;
  /** Sets what is called with what happens to it by itself. */
  onNews(listener: (news: AgentNews) => void): void;
  /** What it has printed, at most the last part of it. */
  output(): string;
  /** Ends the agent and everything that it has started. */
  stop(): Promise<void>;
}

/** Thrown if an agent does not become ready, with the reason. The trial then fails. Other errors end the run. */
export class AgentError extends Error {}

/** Thrown if no agent can be started, such as if its command does not exist: no trial can run. */
export class CannotStartError extends Error {}

/** Creates the agent of a trial, before it is started. */
export type CreateAgent = (scenario: ParsedScenario, number: number) => Promise<TrialAgent>;

/** How much of the output of an agent is kept, in characters. */
const MAX_OUTPUT = 8_192;

/** Keeps the last part of a text that grows. */
export class OutputTail {
  #text = '';
  #isCut = false;

  /** Adds a piece. */
  add(piece: string): void {
    this.#text += piece;
    if (this.#text.length <= MAX_OUTPUT * 2) return;
    this.#text = this.#text.slice(-MAX_OUTPUT);
    this.#isCut = true;
  }

  toString(): string {
    if (this.#text.length > MAX_OUTPUT) return `…${this.#text.slice(-MAX_OUTPUT)}`;
    return this.#isCut ? `…${this.#text}` : this.#text;
  }
}
