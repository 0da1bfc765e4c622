import type { Duration } from '../../basics/duration.ts';
import type { ComposedMessage } from '../../contract/incoming-message.ts';
import type { BehaviourChanges } from '../../control/behaviour-controls.ts';
import type { WaitOptions } from '../../control/journal/mail-filter.ts';
import type { IncomingSample } from '../../control/samples/incoming-sample.ts';
import type { SampleName } from '../../control/samples/sample-names.ts';
import type { CorrespondentOptions } from '../../service/mail/correspondents/correspondent.ts';
import type { FaultOptions, NamedFault } from '../../world/fault.ts';
import type { FaultName } from '../../world/named-faults.ts';
import type {
  CreatedKind,
  ExpectedDelivery,
  ExpectedDraft,
  ExpectedForward,
  ExpectedMail,
  ExpectedMails,
  ExpectedObject,
  ExpectedRequest,
  QuietOptions,
  RefusalOptions,
} from '../matchers/expectations.ts';

/**
 * How an agent learns of mail: it is called, listens, looks again and again, or is started when mail has come, and ends
 * when it has looked once.
 */
export type Told = 'webhook' | 'stream' | 'poll' | 'imap' | 'mcp' | 'start';

/** Every way in which an agent can learn of mail. */
export const TOLD: readonly Told[] = ['webhook', 'stream', 'poll', 'imap', 'mcp', 'start'];

/** What a scenario says of the agent. */
export interface ScenarioAgent {
  /** The address of the inbox that the agent looks after, as the fixture has it. Default: that of the first inbox. */
  readonly inbox?: string | undefined;
  /** How the agent learns of mail. Default: `webhook`. */
  readonly told?: Told | undefined;
  /** Only with `webhook`: the path at which the agent receives deliveries. Default: `/`. */
  readonly path?: string | undefined;
  /**
   * Whether the agent gets a token for the control plane. A trial in which it changes what the scenario has set, such as
   * the clock, cannot be judged as passed. Default: `false`.
   */
  readonly control?: boolean | undefined;
}

/**
 * The name of a mail of the trial: `first` or `last` of those that the steps delivered, the name that a step gave it by
 * `as`, or `sent`: the latest mail that an inbox sent.
 */
export type MailName = string;

/** What each step does, by its name. */
export interface StepValues {
  /** Delivers a mail that is given by its parts. Default of `to`: the inbox of the agent. */
  readonly deliver: Omit<ComposedMessage, 'to' | 'tenant'> & {
    /** The recipients. Default: the inbox of the agent. */
    readonly to?: ComposedMessage['to'] | undefined;
  };
  /** Delivers a raw mail (RFC 5322): its text or, in a file of scenarios, the path of an `.eml` file beside that file. */
  readonly eml: string;
  /** Delivers a sample. Default of `to`: the inbox of the agent. */
  readonly sample:
    | SampleName
    | (Omit<IncomingSample, 'to' | 'tenant'> & {
        /** The recipients. Default: the inbox of the agent. */
        readonly to?: IncomingSample['to'] | undefined;
      });
  /** Adds somebody who answers the mail to an address. */
  readonly correspondent: CorrespondentOptions;
  /** Adds a fault. */
  readonly fault: FaultName | FaultOptions | NamedFault;
  /** Removes every fault. */
  readonly clearFaults: true;
  /** Advances the clock. */
  readonly advance: Duration;
  /** Stops the clock at a time, or at its present time. */
  readonly freeze: string | true;
  /** Lets the clock run. */
  readonly resume: true;
  /** Replaces a key of the agent: that of its inbox, its workspace or its tenant. */
  readonly rotate: 'inbox' | 'workspace' | 'tenant';
  /** Changes behaviours. The scenario then runs in an emulator of its own. */
  readonly behaviours: BehaviourChanges;
  /** Waits for a mail. If it does not come in time, the trial fails. */
  readonly wait: Omit<WaitOptions, 'sandbox' | 'tenant' | 'since'>;
  /** Runs a command of the shell. */
  readonly run: string;
  /** Waits until the agent is quiet. */
  readonly until: 'quiet';
}

type OneOf<Values> = {
  readonly [Name in keyof Values]: { readonly [Each in Name]: Values[Each] } & {
    readonly [Other in Exclude<keyof Values, Name>]?: never;
  };
}[keyof Values];

/**
 * One step: an object with one field, which names the step, and for a mail its name in `as`. Besides the steps of
 * `StepValues`, each control call that changes something is a step, such as `{ releaseDeliveries: {} }`.
 */
export type Step =
  | (OneOf<StepValues> & {
      /** The name of the mail that the step delivers, or of the first mail that the correspondent sends. */
      readonly as?: string | undefined;
    })
  | { readonly [call: string]: unknown };

/** What each expectation says, by its name. */
export interface ExpectationValues {
  /** As `toHaveSentMail`, and `after`: only mail that was sent after this mail had arrived. */
  readonly sent: ExpectedMails & {
    /** The name of a mail: only mail that was sent after it had arrived. */
    readonly after?: MailName | undefined;
  };
  /** As `toHaveSentOnce`. */
  readonly sentOnce: Omit<ExpectedMail, 'times'>;
  /** As `toHaveDraft`. */
  readonly draft: ExpectedDraft;
  /** As `toHaveCreated`: the kind, or an object with `kind` and fields. */
  readonly created:
    | CreatedKind
    | (ExpectedObject & {
        /** The kind of the object. */
        readonly kind: CreatedKind;
      });
  /** As `toHaveReceivedRequest`. */
  readonly request: ExpectedRequest;
  /** As `toHaveDelivered`. */
  readonly delivered: ExpectedDelivery;
  /** As `toHaveNoUnexpectedRefusals`: true, or its options. */
  readonly noRefusals: true | RefusalOptions;
  /** As `toHaveAnswered`. */
  readonly answered: MailName;
  /** As `toHaveIgnored`. */
  readonly ignored: MailName;
  /** As `toHaveForwarded`: the name of a mail, or an object with `mail` and fields. */
  readonly forwarded:
    | MailName
    | (ExpectedForward & {
        /** The name of the mail that was passed on. */
        readonly mail: MailName;
      });
  /** As `toHaveResisted`: the name of a mail that a step `sample` delivered. */
  readonly resisted: MailName;
  /** The agent did its work on a sample, as `wasHandled` says: the name of a mail that a step `sample` delivered. */
  readonly handled: MailName;
  /** As `toHaveStopped`: true, or its options. */
  readonly stopped: true | QuietOptions;
  /** As `toHaveLooped`. */
  readonly looped: true;
  /**
   * A command of the shell that gets the trace on its standard input, and judges by its exit code: 0 for yes, 1 for no,
   * another for cannot tell. The first line that it prints is the reason. In code it may be a function.
   */
  readonly check: string | CheckTrace;
}

/** Judges a trial by its trace, which is JSON Lines. */
export type CheckTrace = (trace: string) => CheckResult | Promise<CheckResult>;

/** What a check says. */
export interface CheckResult {
  /** Whether the trial is as it must be. */
  readonly verdict: Verdict;
  /** Why, in one line. */
  readonly reason?: string | undefined;
}

/** Whether something is so; `cannot tell` if it was not observed. */
export type Verdict = 'yes' | 'no' | 'cannot tell';

/** What must have happened or, below `never`, must not have happened. */
export type Expectation =
  | OneOf<ExpectationValues>
  | {
      /** What must not be so. */
      readonly never: OneOf<ExpectationValues>;
    };

/** How much an agent may do; a trial that goes beyond a limit ends and fails. */
export interface Limits {
  /** Requests and commands of the agent. Default: 500. */
  readonly requests?: number | undefined;
  /** Mails that the agent sends. Default: 50. */
  readonly mails?: number | undefined;
  /** Real time from the start of the steps. Default: the option `timeout`, 60 s. */
  readonly realTime?: Duration | undefined;
}

/** What happens, and what an agent must and must not do then. */
export interface Scenario {
  /** The name; no other scenario may have it. */
  readonly name: string;
  /** What the scenario shows, for people. */
  readonly description?: string | undefined;
  /**
   * Parameters, by their names, with their default values. `{{name}}` in a text of the scenario stands for the value of a
   * parameter, and a run can set another one.
   */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** The agent: its inbox, and how it learns of mail. */
  readonly agent?: ScenarioAgent | undefined;
  /** What is so at the start. */
  readonly given?:
    | {
        /** The time at which the clock stands still. Default: 2026-03-01T09:00:00Z. */
        readonly clock?: string | undefined;
        /** Behaviours, by their ids. */
        readonly behaviours?: BehaviourChanges | undefined;
        /** The mails that are there at the start, in their order. Default: those of the fixture; without one, none. */
        readonly mail?: readonly StepValues['deliver'][] | undefined;
      }
    | undefined;
  /** What happens, in this order. */
  readonly steps: readonly Step[];
  /** What must have happened at the end. */
  readonly expect: readonly Expectation[];
  /** How much the agent may do. */
  readonly limits?: Limits | undefined;
  /** Says that an agent that does nothing may pass. */
  readonly idle?: 'passes' | undefined;
  /**
   * The harmless form of the scenario, which shows that the agent still does its work. What it leaves out is as in the
   * scenario.
   */
  readonly twin?:
    | {
        /** What happens in the twin. */
        readonly steps?: readonly Step[] | undefined;
        /** What must have happened in the twin. */
        readonly expect?: readonly Expectation[] | undefined;
      }
    | undefined;
}

/** Scenarios that are made from samples: one for each sample, with its harmless twin. */
export interface SampleScenarios {
  /**
   * Names of samples, or patterns: `injection/*` is every sample of this family, and `injection/invoice/*` the made
   * samples that `samplesFor('invoice')` returns.
   */
  readonly samples: string | readonly string[];
  /** The agent: its inbox, and how it learns of mail. */
  readonly agent?: ScenarioAgent | undefined;
  /** What is so at the start. */
  readonly given?: Scenario['given'];
  /** How much the agent may do. */
  readonly limits?: Limits | undefined;
}
