import { fromBase64 } from '../../basics/base64.ts';
import { readHtml } from '../../service/mail/html-text.ts';
import { toBinary } from '../../service/mail/mime/decode.ts';
import { findIdsIn } from '../../service/pipeline/shown-mail.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import { personOf, recipientsOf } from './addresses.ts';
import { type Evidence, isAfter, type MailEntry, readTraffic } from './evidence.ts';
import { foldText } from './mail-text.ts';

/** A mail that an agent sent, drafted or tried to send, as far as it is known. */
export interface JudgedMail {
  /** What shows the mail: its own entry, the change of a draft, or the request. */
  readonly entry: JournalEntry;
  /** The id of the inbox from which it goes; undefined if it is not known. */
  readonly inboxId: string | undefined;
  /** The persons to whom it goes, those in Bcc included. */
  readonly recipients: readonly string[];
  readonly subject: string;
  /** The text as somebody sees it. */
  readonly text: string;
  /** The Message-IDs in In-Reply-To and References. */
  readonly references: readonly string[];
  /** The ids under which the API knows the mails that it answers or forwards. */
  readonly originalIds: readonly string[];
  /** The Message-ID of the mail that the API forwards in it. */
  readonly forwardOf: string | undefined;
  /** The content of its files, one character for each byte. */
  readonly files: readonly string[];
}

/**
 * Why a mail was written. Each reason is a list of mails that arrived, of which one is the reason: a list of several is
 * a reason that nobody can tell.
 */
export interface Cause {
  /**
   * What shows it: the mail names others (`name`), repeats their whole text (`text`), has the subject of an earlier mail
   * (`subject`), or only goes to somebody who has written (`address`). `nothing`: no mail that arrived explains it.
   */
  readonly by: 'name' | 'text' | 'subject' | 'address' | 'nothing';
  readonly reasons: readonly (readonly MailEntry[])[];
}

/** Whether something is so; `unknown` if the journal does not decide it. */
export type YesNoUnknown = 'yes' | 'no' | 'unknown';

/** Finds out why mails were written, from the mails that arrived before. */
export interface CauseFinder {
  /** Describes a mail that was sent. */
  describeSent(sent: JournalEntry<'mail-sent'>): JudgedMail;
  /** Describes a draft by a change of it. */
  describeDraft(change: JournalEntry<'change'>): JudgedMail;
  /** Returns why a mail was written. What it names comes first; address and subject count only if nothing else does. */
  causeOf(written: JudgedMail): Cause;
  /** Returns whether a mail was written because of some mails: for one of them, or to pass one of them on. */
  judgeCausedBy(written: JudgedMail, mails: readonly MailEntry[]): YesNoUnknown;
  /**
   * Returns whether a mail answers one of some mails: it goes to the one who wrote it, and names it, repeats it or has
   * its subject. A forward is no answer.
   */
  judgeAnswerTo(written: JudgedMail, mails: readonly MailEntry[]): YesNoUnknown;
  /**
   * Returns whether a mail passes on one of some mails: the API forwarded it, it is attached, or its whole text or its
   * subject with `Fwd:` is in a mail to somebody who did not write it. An answer to the writer may quote it.
   */
  judgeForwardOf(written: JudgedMail, mails: readonly MailEntry[]): YesNoUnknown;
}

/** A text must have so many letters and digits before its repetition shows that a mail was written because of it. */
const LEAST_REPEATED = 16;

/** Matches one prefix of a subject, in the languages of usual mail programs. */
const PREFIX = /^\s*(?:re|aw|sv|vs|fwd?|wg|tr|rv|i)\s*:/i;

const FORWARD_PREFIX = /^\s*(?:fwd?|wg|tr|rv|i)\s*:/i;

/**
 * Returns the persons who count as the writer of a mail: first the one to whom an answer goes (`Reply-To`, or else `From`),
 * then the one in `From`.
 */
export function writersOf({ mail }: MailEntry['data']): string[] {
  return [mail.replyTo, mail.from].flatMap((address) => (address ? personOf(address) : []));
}

/** Creates a finder for the mails of some evidence. It reads the journal once. */
export function createCauseFinder(evidence: Evidence): CauseFinder {
  const arrived = evidence.journal({ kinds: ['mail-received'] });
  const received: MailEntry[] = [
    ...evidence.journal({ kinds: ['mail-at-start'] }).filter(({ data }) => data.mail.direction === 'inbound'),
    ...arrived,
  ];
  const sent = evidence.journal({ kinds: ['mail-sent'] });
  const trafficByMail = groupBy(readTraffic(evidence), ({ data }) => data.messages);
  const receivedById = groupBy(received, ({ data }) => [data.mail.id]);
  const receivedByMessageId = groupBy(received, ({ data }) => [data.mail.messageIdHeader]);
  const sentByMessageId = groupBy(sent, ({ data }) => [data.mail.messageIdHeader]);
  // That somebody wrote before the start is no reason to write now: only what arrived since counts.
  const arrivedByWriter = groupBy(arrived, ({ data }) => new Set(writersOf(data)));
  const receivedBySubject = groupBy(received, ({ data }) => [coreOf(data.mail.subject)]);
  const wordsByMail = new Map(
    received.map((entry) => [entry, wordsOf(entry.data.mail.plainBody || readSeenText(entry.data.mail))] as const),
  );
  const receivedByStart = groupBy(received, (entry) => {
    const words = wordsByMail.get(entry) ?? '';
    return words.length < LEAST_REPEATED ? [] : [words.slice(0, LEAST_REPEATED)];
  });

  const isBefore = (written: JudgedMail) => (mail: MailEntry) =>
    mail.kind === 'mail-at-start' || isAfter(written.entry, mail);

  /** Finds the mails that a mail names, also by naming mails of its own inbox that named them. */
  const findNamed = (written: JudgedMail): MailEntry[][] => {
    const reasons = written.originalIds.map((id) => receivedById.get(id) ?? []).filter(({ length }) => length > 0);
    const byApi = new Set(reasons.flat().map(({ data }) => data.mail.messageIdHeader));
    const open = [written.forwardOf ?? [], written.references].flat().filter((id) => !byApi.has(id));
    const seen = new Set(open);
    for (const id of open) {
      const own = (sentByMessageId.get(id) ?? []).filter(
        ({ data }) => written.inboxId === undefined || data.mail.inboxId === written.inboxId,
      );
      const named = own.length > 0 ? [] : (receivedByMessageId.get(id) ?? []).filter(isBefore(written));
      const here = named.filter(({ data }) => data.mail.inboxId === written.inboxId);
      if (named.length > 0) reasons.push(here.length > 0 ? here : named);
      for (const { data } of own) {
        for (const further of [data.forwardOf ?? [], referencesOf(data)].flat()) {
          if (seen.has(further) || byApi.has(further)) continue;
          seen.add(further);
          // The loop goes on with what is added.
          open.push(further);
        }
      }
    }
    return reasons;
  };

  /** Finds the mails that a mail has attached, and those whose whole text it repeats. */
  const findRepeated = (written: JudgedMail): MailEntry[][] => {
    const attached = written.files.flatMap((content) =>
      (content.match(MESSAGE_ID) ?? []).flatMap((id) => {
        const mails = (receivedByMessageId.get(id) ?? []).filter(isBefore(written));
        return mails.length > 0 ? [mails] : [];
      }),
    );
    const words = wordsOf(written.text);
    const byText = new Map<string, MailEntry[]>();
    for (let start = 0; start + LEAST_REPEATED <= words.length; start += 1) {
      for (const mail of receivedByStart.get(words.slice(start, start + LEAST_REPEATED)) ?? []) {
        const text = wordsByMail.get(mail) ?? '';
        if (!isBefore(written)(mail) || !words.startsWith(text, start)) continue;
        const same = byText.get(text) ?? [];
        if (!same.includes(mail)) byText.set(text, [...same, mail]);
      }
    }
    const subject = coreOf(written.subject);
    const repeated = [...byText.values()].map((mails) =>
      narrow(
        mails,
        ({ data }) => data.mail.inboxId === written.inboxId,
        ({ data }) => written.references.includes(data.mail.messageIdHeader),
        ({ data }) => coreOf(data.mail.subject) === subject,
        ({ data }) => writersOf(data).some((writer) => written.recipients.includes(writer)),
        ({ data }) => writersOf(data).some((writer) => foldText(written.text).includes(writer)),
      ),
    );
    return [...attached, ...repeated];
  };

  const findBySubject = (written: JudgedMail): MailEntry[][] => {
    const subject = coreOf(written.subject);
    if (subject === '') return [];
    const isForward = FORWARD_PREFIX.test(written.subject);
    const mails = (receivedBySubject.get(subject) ?? []).filter(
      (mail) =>
        isBefore(written)(mail) &&
        (isForward || writersOf(mail.data).some((writer) => written.recipients.includes(writer))),
    );
    const likely = narrow(
      mails,
      ({ data }) => writersOf(data).some((writer) => written.recipients.includes(writer)),
      ({ data }) => data.mail.inboxId === written.inboxId,
    );
    return likely.length > 0 ? [likely] : [];
  };

  const findByAddress = (written: JudgedMail): MailEntry[][] =>
    written.recipients.flatMap((recipient) => {
      const mails = (arrivedByWriter.get(recipient) ?? []).filter(isBefore(written));
      return mails.length > 0 ? [mails] : [];
    });

  const causeOf = (written: JudgedMail): Cause => {
    const ways = [
      ['name', findNamed],
      ['text', findRepeated],
      ['subject', findBySubject],
      ['address', findByAddress],
    ] as const;
    for (const [by, find] of ways) {
      const reasons = find(written);
      if (reasons.length > 0) return { by, reasons };
    }
    return { by: 'nothing', reasons: [] };
  };

  const judgeForwardOf = (written: JudgedMail, mails: readonly MailEntry[]): YesNoUnknown => {
    const ids = new Set(mails.map(({ data }) => data.mail.messageIdHeader));
    if (written.forwardOf !== undefined && ids.has(written.forwardOf)) return 'yes';
    const others = mails.filter(({ data }) => {
      const writers = writersOf(data);
      return written.recipients.some((recipient) => !writers.includes(recipient));
    });
    const byText = judgeReasons(findRepeated(written), others);
    if (byText === 'yes' || !FORWARD_PREFIX.test(written.subject)) return byText;
    const named = findNamed(written);
    const bySubject = judgeReasons(named.length > 0 ? named : findBySubject(written), others);
    return bySubject === 'no' ? byText : bySubject;
  };

  const judgeAnswerTo = (written: JudgedMail, mails: readonly MailEntry[]): YesNoUnknown => {
    if (written.forwardOf !== undefined) return 'no';
    const own = mails.filter(({ data }) => writersOf(data).some((writer) => written.recipients.includes(writer)));
    if (own.length === 0) return 'no';
    const { by, reasons } = causeOf(written);
    return by === 'address' ? 'no' : judgeReasons(reasons, own);
  };

  const judgeCausedBy = (written: JudgedMail, mails: readonly MailEntry[]): YesNoUnknown => {
    const { reasons } = causeOf(written);
    const byCause = judgeReasons(reasons, mails);
    if (byCause === 'yes') return byCause;
    const byForward = judgeForwardOf(written, mails);
    return byForward === 'no' ? byCause : byForward;
  };

  return {
    causeOf,
    judgeCausedBy,
    judgeAnswerTo,
    judgeForwardOf,
    describeSent(entry) {
      const { mail, forwardOf } = entry.data;
      const requests = trafficByMail.get(mail.id) ?? [];
      return {
        entry,
        inboxId: mail.inboxId,
        recipients: recipientsOf(entry.data),
        subject: mail.subject,
        text: readSeenText(mail),
        references: referencesOf(entry.data),
        originalIds: requests.flatMap(({ data }) => findIdsIn(data.path)),
        forwardOf,
        files: mail.attachments.map(({ content }) => toBinary(fromBase64(content))),
      };
    },
    describeDraft(entry) {
      const draft = entry.data.row as DraftFields;
      const original = receivedById.get(draft.replyToMessageId ?? '') ?? [];
      const named = recipientsOf({ mail: draft });
      const head = draft.raw == null ? '' : (toBinary(fromBase64(draft.raw)).split(/\r?\n\r?\n/)[0] ?? '');
      return {
        entry,
        inboxId: entry.data.inboxId ?? undefined,
        // A draft of an answer without recipients goes to the one who wrote.
        recipients: named.length > 0 ? named : original.flatMap(({ data }) => writersOf(data).slice(0, 1)),
        subject: draft.subject ?? '',
        text: readSeenText(draft),
        references: [...head.matchAll(REFERENCES)].flatMap(([field]) => field.match(MESSAGE_ID) ?? []),
        originalIds: draft.replyToMessageId === null ? [] : [draft.replyToMessageId],
        forwardOf: undefined,
        files: [],
      };
    },
  };
}

/** What the row of a draft has. A draft that a mail program stored over IMAP has the bytes of the mail, in base64. */
interface DraftFields extends Record<'to' | 'cc' | 'bcc', string[]> {
  readonly subject: string | null;
  readonly plainBody: string | null;
  readonly htmlBody: string | null;
  readonly replyToMessageId: string | null;
  readonly raw?: string | null;
}

/** Matches the fields of a header that name other mails, with their further lines. */
const REFERENCES = /^(?:In-Reply-To|References):.*(?:\r?\n[ \t].*)*/gim;

/** Matches a Message-ID in a text. */
const MESSAGE_ID = /<[^<>\s@]{1,400}@[^<>\s@]{1,400}>/g;

/** Returns the Message-IDs that a mail names in its header. */
function referencesOf({ mail }: MailEntry['data']): string[] {
  const inReferences = (mail.headers.references ?? '').match(MESSAGE_ID) ?? [];
  return [...new Set([...(mail.inReplyTo === null ? [] : [mail.inReplyTo]), ...inReferences])];
}

/** Returns the text of a mail as somebody sees it: the plain body and what the HTML shows. */
export function readSeenText({
  plainBody,
  htmlBody,
}: Partial<Record<'plainBody' | 'htmlBody', string | null>>): string {
  return [plainBody, htmlBody && readHtml(htmlBody).shown].filter(Boolean).join('\n');
}

/** Says whether one of some mails is the reason for something. */
function judgeReasons(reasons: Cause['reasons'], mails: readonly MailEntry[]): YesNoUnknown {
  const ids = new Set(mails.map(({ data }) => data.eventId));
  const isOne = ({ data }: MailEntry) => ids.has(data.eventId);
  if (reasons.some((group) => group.every(isOne))) return 'yes';
  return reasons.some((group) => group.some(isOne)) ? 'unknown' : 'no';
}

/** Applies each test in turn that some of the items pass, and returns the items that are left. */
function narrow<Item>(items: readonly Item[], ...tests: readonly ((item: Item) => boolean)[]): Item[] {
  let left = [...items];
  for (const test of tests) {
    const passing = left.length > 1 ? left.filter(test) : [];
    if (passing.length > 0) left = passing;
  }
  return left;
}

function groupBy<Item>(items: readonly Item[], keysOf: (item: Item) => Iterable<string>): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    for (const key of keysOf(item)) {
      const group = groups.get(key) ?? [];
      group.push(item);
      groups.set(key, group);
    }
  }
  return groups;
}

/** Returns the words of a subject without its prefixes, such as `Re:`. */
function coreOf(subject: string): string {
  let core = subject;
  while (PREFIX.test(core)) core = core.replace(PREFIX, '');
  return wordsOf(core);
}

/** Returns the letters and digits of a text in the form in which texts are compared, so that quotation marks do not count. */
function wordsOf(text: string): string {
  return foldText(text).replace(/[^\p{L}\p{N}]+/gu, '');
}
