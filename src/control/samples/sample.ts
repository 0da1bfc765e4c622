import type { YesNoUnknown } from '../verdicts/cause.ts';
import type { Evidence } from '../verdicts/evidence.ts';
import type { Breach } from '../verdicts/oracles.ts';
import type { SampleFamily } from './sample-names.ts';

/** What a sample is, and what an agent should do with it. */
export interface SampleInfo<Name extends string = string> {
  /** Its name, such as `injection-in-quote`. */
  readonly name: Name;
  /** The kind of difficulty. */
  readonly family: SampleFamily;
  /** The standard that the mail follows or breaks, such as `RFC 3464, section 2.3`. */
  readonly standard: string;
  /** What an agent should do, in one sentence. */
  readonly should: string;
  /** What an agent must not do, in one sentence. */
  readonly mustNot: string;
  /** Whether the sample has an oracle: rules by which the emulator can see that an agent did what it must not do. */
  readonly hasOracle: boolean;
  /** The name of the twin, a harmless sample that is like this one but gives no orders; undefined if there is none. */
  readonly twin?: string | undefined;
}

/** Options of `createSample`. */
export interface SampleOptions {
  /** The recipients: inboxes of the emulator. */
  readonly to: string | readonly string[];
  /** The seed of the names, numbers and codes in the mail: a whole number from 0 to 2^53 - 1. Default: 1. */
  readonly seed?: number | undefined;
  /**
   * The Message-ID of the mail that the sample is about, such as your mail that bounced. Default: an invented
   * Message-ID.
   */
  readonly inReplyTo?: string | undefined;
  /** The URL of the emulator, to which the link of `injection-link` leads. Default: `https://mailbox.test`. */
  readonly baseUrl?: string | undefined;
}

/** The result of a check of the sender, as RFC 8601 writes it. */
export type SampleVerdict = 'none' | 'pass' | 'fail' | 'permerror';

/** The results of the checks of the sender by a receiving mail server (RFC 8601). */
export interface SampleAuth {
  /** Whether the host that sent the mail may send for the domain of the envelope sender. */
  readonly spf: SampleVerdict;
  /** Whether the signature of the mail is valid. */
  readonly dkim: SampleVerdict;
  /** Whether SPF or DKIM passed for the domain in `From`. */
  readonly dmarc: SampleVerdict;
}

/** One mail of a sample. */
export interface SampleMail {
  /** The raw mail (RFC 5322). */
  readonly eml: Uint8Array;
  /** The recipients of the envelope. */
  readonly to: readonly string[];
  /** The sender of the envelope; empty for the null sender `<>`. Default: the address in `From`. */
  readonly envelopeFrom?: string | undefined;
  /** The results of the checks of the sender. Default: no results. */
  readonly auth?: SampleAuth | undefined;
}

/** A sample for certain recipients; `receiveMessage` accepts it. */
export interface Sample<Name extends string = string> extends SampleInfo<Name> {
  /** The mails, in the order in which they arrive; most samples have one. */
  readonly mails: readonly SampleMail[];
  /**
   * Returns whether an agent did what it must not do, or tried to, as far as the journal shows, also if the agent has
   * removed its traces since. A sample without an oracle always returns false. False means that there is no sign of it;
   * see `doubts`.
   *
   * @example
   * expect(sample.breached(mailbox)).toBe(false);
   */
  breached(mailbox: Evidence): boolean;
  /**
   * Returns everything that the agent did or tried to do although it must not, oldest first: the mail that it sent, what
   * it created, changed or removed, and what its other requests and commands show, whatever the reply was.
   */
  breaches(mailbox: Evidence): Breach[];
  /**
   * Returns why nobody can tell whether there is a breach that `breaches` does not have, each reason as a clause, such as
   * `the journal may lack requests or mail since it arrived`. The list is empty if there is no doubt.
   */
  doubts(mailbox: Evidence): string[];
  /** Returns whether a mail of this sample or of its twin has arrived, even if it was deleted since. */
  hasArrived(mailbox: Evidence): boolean;
  /** Returns the ids of the mails of this sample or of its twin that have arrived, even if they were deleted since. */
  arrivedIds(mailbox: Evidence): string[];
  /**
   * Returns whether an agent can know of the sample: a webhook got a delivery of it and answered 2xx, an event stream
   * got an event of it, or a request named the sample in its path or got it in its reply.
   */
  wasNoticed(mailbox: Evidence): boolean;
  /**
   * Returns whether each part of the mails that gives orders was shown to a client, so that an agent could obey them:
   * a list with the beginning of the text, or an answer to a mail that was never read, shows no orders. `unknown`: the
   * journal has dropped what clients were shown. A sample without orders returns `yes`.
   */
  wasRead(mailbox: Evidence): YesNoUnknown;
  /**
   * Returns whether an agent did its work on the sample: the agent can know of the sample, and has sent or drafted a text
   * that answers it, or forwarded it to a person of its own domain. Where a person must be asked, any text counts, such as
   * a question to the owner. After a bounce, an automatic mail, and other mail that needs no answer, nothing needs to be
   * sent. White space, or only a quote, is no text.
   */
  wasHandled(mailbox: Evidence): boolean;
  /**
   * Returns whether requests or mail since the sample arrived may be missing in the journal, because it is full or keeps
   * none, so that `breached` may be wrong.
   */
  mayMissRequests(mailbox: Evidence): boolean;
}
