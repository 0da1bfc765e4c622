import type { Evidence } from '../control/verdicts/evidence.ts';
import type { ControllableMailbox, JournalEntry, RequestEntry } from '../mailbox/without-msw.ts';

/** Matches the ids of the service, and Message-IDs. */
const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|<[^<>\s]+>/gi;

/** Matches what stands between two addresses, or between an address and other words. */
const BETWEEN = /[\s<>"'(),;:]+/;

const LETTER = /[\p{L}\p{N}]/u;

type AnyMail = JournalEntry<'mail-received' | 'mail-sent' | 'mail-at-start'>['data']['mail'];

/** Returns the ids by which a mail can be named. */
function idsOfMail({ id, threadId, messageIdHeader }: AnyMail): string[] {
  return [id, threadId, messageIdHeader];
}

/** Returns every address in the fields and the text of a mail, in lower case. */
function addressesIn({ from, to, cc, replyTo, plainBody, htmlBody, subject }: AnyMail): string[] {
  return addressesOf([from, ...to, ...cc, replyTo, subject, plainBody, htmlBody].join('\n'));
}

/** Returns every address in a text, in lower case, without the full stop of a sentence behind it. */
function addressesOf(text: string): string[] {
  return text.split(BETWEEN).flatMap((word) => {
    const [name = '', host = '', ...others] = word.toLowerCase().split('@');
    const letters = [...host];
    const bareHost = letters.slice(0, letters.findLastIndex((letter) => LETTER.test(letter)) + 1).join('');
    return name === '' || bareHost === '' || others.length > 0 ? [] : `${name}@${bareHost}`;
  });
}

/**
 * What the trials so far had, for an agent that serves all trials. What it does late for an earlier trial comes while a
 * later one runs, and must not count there.
 */
export class EarlierTrials {
  readonly #ids = new Set<string>();
  readonly #addresses = new Set<string>();

  /** Keeps what a trial had that its successors have not. What every trial begins with belongs to none. */
  add(evidence: Evidence): void {
    const atStart = evidence.journal({ kinds: ['mail-at-start'] }).flatMap(({ data }) => idsOfMail(data.mail));
    const mails = evidence.journal({ kinds: ['mail-received', 'mail-sent'] }).map(({ data }) => data.mail);
    const created = evidence
      .journal({ kinds: ['change'] })
      .flatMap(({ data }) => (data.action === 'created' ? data.id : []));
    for (const id of [...mails.flatMap(idsOfMail), ...created])
      if (!atStart.includes(id)) this.#ids.add(id.toLowerCase());
    for (const { data } of evidence.journal({ kinds: ['mail-received'] })) {
      for (const address of addressesIn(data.mail)) this.#addresses.add(address);
    }
  }

  /** Returns whether a text names anything of an earlier trial by its id. */
  isNamedIn(text: string): boolean {
    return (text.match(ID) ?? []).some((id) => this.#ids.has(id.toLowerCase()));
  }

  /** Returns a mailbox whose journal lacks what belongs to an earlier trial. */
  without<Mailbox extends ControllableMailbox>(mailbox: Mailbox): Mailbox {
    const journal: ControllableMailbox['journal'] = (query) => {
      const foreign = this.#findForeign(mailbox);
      if (foreign.size === 0) return mailbox.journal(query);
      const isForeign = ({ tenantId, number }: Pick<JournalEntry, 'tenantId' | 'number'>) =>
        foreign.has(`${tenantId} ${number}`);
      return mailbox.journal(query).filter((entry) => !isForeign(entry) && !(entry.cause && isForeign(entry.cause)));
    };
    const requests: ControllableMailbox['requests'] = (filter) => {
      const foreignMails = new Set(mailbox.journal({ kinds: ['mail-sent'] }).flatMap(({ data }) => data.mail.id));
      for (const { data } of journal({ kinds: ['mail-sent'] })) foreignMails.delete(data.mail.id);
      return mailbox
        .requests(filter)
        .filter((request) => !this.#isNamedBy(request) && !request.messages.some((id) => foreignMails.has(id)));
    };
    return Object.assign(Object.create(mailbox), { journal, requests }) as Mailbox;
  }

  /** Counts the requests and the mails of a mailbox that belong to an earlier trial. */
  count(mailbox: ControllableMailbox): number {
    return this.#findForeign(mailbox).size;
  }

  #isNamedBy({ path, request }: RequestEntry): boolean {
    return this.isNamedIn(`${path}\n${JSON.stringify(request.query)}\n${request.body ?? ''}`);
  }

  /**
   * Finds the requests that name something of an earlier trial, and the mails that answer such a mail, or that go only to
   * people whom only mail that arrived in an earlier trial has named.
   */
  #findForeign(mailbox: ControllableMailbox): ReadonlySet<string> {
    const foreign = new Set<string>();
    if (this.#ids.size === 0) return foreign;
    for (const { tenantId, number, data } of mailbox.journal({ kinds: ['request', 'mail-command'] })) {
      if (this.#isNamedBy(data)) foreign.add(`${tenantId} ${number}`);
    }
    const arrived = mailbox.journal({ kinds: ['mail-received', 'mail-at-start'] });
    const known = new Set(arrived.flatMap(({ data }) => addressesIn(data.mail)));
    for (const { tenantId, number, cause, data } of mailbox.journal({ kinds: ['mail-sent'] })) {
      const { mail, forwardOf = '' } = data;
      const names = [mail.threadId, mail.inReplyTo ?? '', mail.headers.references ?? '', forwardOf].join('\n');
      const recipients = [...mail.to, ...mail.cc, ...mail.bcc].flatMap(addressesOf);
      const isForOthers =
        recipients.every((address) => !known.has(address)) &&
        recipients.some((address) => this.#addresses.has(address));
      if (!this.isNamedIn(names) && !isForOthers) continue;
      foreign.add(`${tenantId} ${number}`);
      if (cause) foreign.add(`${cause.tenantId} ${cause.number}`);
    }
    return foreign;
  }
}
