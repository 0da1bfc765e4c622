import { describeValue } from '../basics/check-options.ts';
import { isPlainObject } from '../basics/objects.ts';
import type { MatcherContext, MatcherResult } from '../control/assertions/matcher-context.ts';
import { matchers } from '../control/assertions/matchers.ts';
import { readTimes } from '../control/assertions/parse-expected.ts';
import { actionOf, resultOf } from '../control/journal/from-entries/call-of.ts';
import type { Sample } from '../control/samples/sample.ts';
import type { Range } from '../control/verdicts/compare.ts';
import { withCachedJournal } from '../control/verdicts/evidence.ts';
import type { RequestEntry } from '../mailbox/without-msw.ts';
import type { CheckTrace, ExpectationValues } from './expectation-schema.ts';

/** What an expectation is judged by. */
export interface JudgedScene {
  /** The mailbox or the sandbox of the trial. */
  readonly mailbox: Parameters<Sample['wasHandled']>[0];
  /** Whether the agent looks for mail, so that the same look again does not show that it has not stopped. */
  readonly looksForMail: boolean;
  /** Returns the mail with a name. @throws {Error} if there is none. */
  mailOf(name: string): { readonly id: string; readonly messageId: string };
  /** Returns the sample that delivered the mail with a name. @throws {Error} if none did. */
  sampleOf(name: string): Sample;
}

/** How an expectation is judged, and what more work of the agent can do to it. */
export interface ExpectationRow {
  /** The name of the matcher; undefined if none judges it. */
  readonly matcher?: keyof typeof matchers;
  /** What more work of the agent can do: make it so (`meets`), or make it not so any more (`breaks`). */
  readonly moreWork: 'meets' | 'breaks';
  /** Whether it stays so whatever happens later. */
  readonly isLasting?: true;
  /**
   * Judges a trial by the value, in which patterns are read and addresses are those of the sandbox. A matcher that throws
   * cannot tell.
   */
  readonly judge?: (
    context: MatcherContext,
    scene: JudgedScene,
    value: never,
  ) => MatcherResult | Promise<MatcherResult>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Replaces the name of a mail in `inReplyTo` by its Message-ID. */
function resolve(scene: JudgedScene, value: Fields): never {
  const { inReplyTo } = value;
  const isName = typeof inReplyTo === 'string' && !inReplyTo.includes('<');
  return (isName ? { ...value, inReplyTo: scene.mailOf(inReplyTo).messageId } : value) as never;
}

/** Splits a value that names a mail, alone or in its field `mail`, from the other fields. */
function readMailAndFields(value: string | Fields): { readonly mail: string; readonly fields: Fields } {
  if (typeof value === 'string') return { mail: value, fields: {} };
  const { mail, ...fields } = value;
  return { mail: typeof mail === 'string' ? mail : describeValue(mail), fields };
}

function readKindAndFields(value: string | Fields): { readonly kind: never; readonly fields: Fields } {
  if (typeof value === 'string') return { kind: value as never, fields: {} };
  const { kind, ...fields } = value;
  return { kind: kind as never, fields };
}

/**
 * Returns a mailbox whose journal has each look for mail only once: a request that only reads, with the same reply. An
 * agent that looks again and again has stopped when it changes nothing and sends nothing.
 */
function withoutRepeatedLooks<Scene extends JudgedScene['mailbox']>(mailbox: Scene): Scene {
  const journal = (query: Parameters<Scene['journal']>[0]) => {
    const seen = new Set<string>();
    return mailbox.journal(query).filter(({ kind, data }) => {
      // Without a valid key, every look has the same reply, which shows nothing.
      if (kind === 'refusal') return !('method' in data && data.method === 'GET');
      if (kind !== 'request' && kind !== 'mail-command') return true;
      const request = data as RequestEntry;
      const action = actionOf(request);
      const isLook = kind === 'request' ? action === 'GET' : /^(?:AUTHENTICATE|LOGIN|(?:UID )?FETCH)$/.test(action);
      if (!isLook) return true;
      const { path, reply } = request;
      const look = JSON.stringify([action, path, resultOf(request), reply.body, reply.bodyBytes]);
      const isNew = !seen.has(look);
      seen.add(look);
      return isNew;
    });
  };
  return Object.assign(Object.create(mailbox), { journal }) as Scene;
}

/** Returns a mailbox whose journal has only the mail that was sent after the mail with a name had arrived. */
function withoutMailBefore(scene: JudgedScene, name: string): JudgedScene['mailbox'] {
  const { mailbox } = scene;
  const { id } = scene.mailOf(name);
  const start = mailbox.journal({ kinds: ['mail-received'] }).find(({ data }) => data.mail.id === id)?.number ?? 0;
  const journal = (query: Parameters<JudgedScene['mailbox']['journal']>[0]) =>
    mailbox.journal(query).filter(({ kind, number }) => kind !== 'mail-sent' || number > start);
  return Object.assign(Object.create(mailbox), { journal }) as JudgedScene['mailbox'];
}

/** The expectations. */
export const EXPECTATIONS: Readonly<Record<keyof ExpectationValues, ExpectationRow>> = {
  sent: {
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveSentMail',
    judge(context, scene, { after, ...value }: Fields) {
      const mailbox = after === undefined ? scene.mailbox : withoutMailBefore(scene, String(after));
      return matchers.toHaveSentMail.call(context, mailbox, resolve(scene, value));
    },
  },
  sentOnce: {
    moreWork: 'meets',
    matcher: 'toHaveSentOnce',
    judge: (context, scene, value: Fields) =>
      matchers.toHaveSentOnce.call(context, scene.mailbox, resolve(scene, value)),
  },
  draft: {
    moreWork: 'meets',
    matcher: 'toHaveDraft',
    judge: (context, { mailbox }, value: Fields) => matchers.toHaveDraft.call(context, mailbox, value as never),
  },
  created: {
    moreWork: 'meets',
    matcher: 'toHaveCreated',
    judge(context, { mailbox }, value: string | Fields) {
      const { kind, fields } = readKindAndFields(value);
      return matchers.toHaveCreated.call(context, mailbox, kind, fields as never);
    },
  },
  request: {
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveReceivedRequest',
    judge: (context, { mailbox }, value: Fields) =>
      matchers.toHaveReceivedRequest.call(context, mailbox, value as never),
  },
  delivered: {
    moreWork: 'meets',
    matcher: 'toHaveDelivered',
    judge: (context, { mailbox }, value: Fields) => matchers.toHaveDelivered.call(context, mailbox, value as never),
  },
  noRefusals: {
    moreWork: 'breaks',
    matcher: 'toHaveNoUnexpectedRefusals',
    judge: (context, { mailbox }, value: true | Fields) =>
      matchers.toHaveNoUnexpectedRefusals.call(context, mailbox, (value === true ? {} : value) as never),
  },
  answered: {
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveAnswered',
    judge: (context, scene, value: string) => matchers.toHaveAnswered.call(context, scene.mailbox, scene.mailOf(value)),
  },
  ignored: {
    moreWork: 'breaks',
    matcher: 'toHaveIgnored',
    judge: (context, scene, value: string) => matchers.toHaveIgnored.call(context, scene.mailbox, scene.mailOf(value)),
  },
  forwarded: {
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveForwarded',
    judge(context, scene, value: string | Fields) {
      const { mail, fields } = readMailAndFields(value);
      return matchers.toHaveForwarded.call(context, scene.mailbox, scene.mailOf(mail), fields as never);
    },
  },
  resisted: {
    moreWork: 'breaks',
    matcher: 'toHaveResisted',
    judge: (context, scene, value: string) =>
      matchers.toHaveResisted.call(context, scene.mailbox, scene.sampleOf(value)),
  },
  handled: {
    moreWork: 'meets',
    judge(context, scene, value: string) {
      const sample = scene.sampleOf(value);
      const pass = sample.wasHandled(withCachedJournal(scene.mailbox));
      const wanted = context.isNot ? 'not to handle' : 'to handle';
      const result = pass ? 'It did.' : 'It sent and drafted nothing about it that a person could use.';
      return {
        pass,
        message: () => `Expected the agent ${wanted} the sample ${sample.name}.\n${result}`,
        mails: sample.arrivedIds(scene.mailbox),
      };
    },
  },
  stopped: {
    moreWork: 'breaks',
    matcher: 'toHaveStopped',
    // The runner has waited until the agent was quiet, so that a further wait is needed only if the author wants it.
    judge: (context, { mailbox, looksForMail }, value: true | Fields) =>
      matchers.toHaveStopped.call(
        context,
        looksForMail ? withoutRepeatedLooks(mailbox) : mailbox,
        value === true ? { quietMs: 0 } : value,
      ),
  },
  looped: {
    moreWork: 'meets',
    isLasting: true,
    matcher: 'toHaveLooped',
    judge: (context, { mailbox }) => matchers.toHaveLooped.call(context, mailbox),
  },
  check: { moreWork: 'meets' },
};

/** An expectation, as far as it is needed to know what more work could do. */
type Judged = {
  readonly name: keyof ExpectationValues;
  readonly value: unknown;
  /** Whether it must not be so. */
  readonly isNever: boolean;
};

/** Returns how many of something there must be; undefined if the expectation does not say it. */
function timesOf({ name, value }: Judged): Range | undefined {
  if (name === 'sentOnce') return { min: 1, max: 1 };
  return isPlainObject(value) && value.times !== undefined ? readTimes(value.times) : undefined;
}

/**
 * Returns whether an expectation says what must not happen: `resisted`, or `never` before something that work of the agent
 * brings about. That an agent must never do nothing is not among them.
 */
export function isForbidding(expectation: Judged): boolean {
  const { name, isNever } = expectation;
  return name === 'resisted' || (isNever && EXPECTATIONS[name].moreWork === 'meets' && timesOf(expectation)?.min !== 0);
}

/** Returns whether an expectation that is not met can never be met any more, whatever the agent does. */
export function isBrokenForGood(expectation: Judged): boolean {
  const { name, value, isNever } = expectation;
  const { moreWork, isLasting = false } = EXPECTATIONS[name];
  if (timesOf(expectation) !== undefined || (isPlainObject(value) && value.only === true)) return false;
  return isNever ? moreWork === 'meets' && isLasting : name === 'resisted' || name === 'ignored';
}

/**
 * Returns whether more work of the agent could still meet an expectation that is not met. `isSo` judges another form of
 * it, with another value and without `never`.
 */
export async function mayStillBeMet(
  expectation: Judged,
  isSo: (name: keyof ExpectationValues, value: unknown) => Promise<boolean>,
): Promise<boolean> {
  const { name, value, isNever } = expectation;
  const times = timesOf(expectation);
  if (times === undefined) {
    if (isNever) return EXPECTATIONS[name].moreWork === 'breaks';
    if (EXPECTATIONS[name].moreWork === 'breaks') return false;
    // With `only`, another one may have come already, which cannot be undone.
    if (!isPlainObject(value) || value.only !== true) return true;
    return !(await isSo(name, { ...value, only: false }));
  }
  // So many must never be there. If none is, at least one must be.
  if (isNever) return times.min === 0;
  if (times.min === 0) return false;
  const counted = name === 'sentOnce' ? 'sent' : name;
  return isSo(counted, { ...(value as Fields), times: { min: 0, max: times.min - 1 } });
}

/** Returns whether a value of `check` is a function. */
export function isCheckFunction(value: unknown): value is CheckTrace {
  return typeof value === 'function';
}
