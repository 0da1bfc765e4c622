import { compareTexts } from '../../../basics/text.ts';
import { showView, type ViewedMail } from '../../../service/mail/mail-views.ts';
import { matchesSearch, parseSearch, type SearchedMail, wordsToMark } from './search-terms.ts';

/** A mail that a list can show. */
export interface ListedMail extends SearchedMail {
  /** The id of its tenant. */
  readonly tenantId: string;
  /**
   * When it arrived or was sent, as a number that is higher for later mail of any tenant: the clocks of tenants may
   * differ. A mail has 0 if it was there from the
   * start, or if the journal no longer has it.
   */
  readonly arrival: number;
  readonly mail: SearchedMail['mail'] & ViewedMail<'summary'>;
  /** How many messages are in its thread, including deleted messages. */
  readonly messagesInThread: number;
}

/** A mail with what its details need. */
export interface DetailedMail extends ListedMail {
  readonly mail: ListedMail['mail'] & ViewedMail<'details'>;
  /** The address of its inbox; empty if it is gone. */
  readonly inbox: string;
}

/** Which part of a list is shown. */
export interface PageOptions {
  /** How many mails to skip. Default: 0. */
  readonly offset?: number | undefined;
  /** How many mails to show at most. Default: 50. */
  readonly limit?: number | undefined;
  /** The id of the mail whose position is shown. */
  readonly indexOf?: string | undefined;
}

/** Returns the candidates that match a search, newest first. The candidates come oldest first. */
export function searchCandidates<Candidate extends ListedMail>(
  candidates: readonly Candidate[],
  search = '',
): Candidate[] {
  const terms = parseSearch(search);
  const found = candidates.filter((each) => matchesSearch(each, terms)).reverse();
  return found.sort(
    (one, other) =>
      other.arrival - one.arrival ||
      // All times are UTC texts in the same format, so the order of the texts is the order of the times.
      compareTexts(other.mail.receivedAt, one.mail.receivedAt),
  );
}

/** Returns a page of the candidates that match a search, newest first, as `searchMail` replies it. */
export function listPage(candidates: readonly ListedMail[], search: string | undefined, options: PageOptions) {
  const { offset = 0, limit = 50, indexOf } = options;
  const found = searchCandidates(candidates, search);
  const index = found.findIndex(({ mail }) => mail.id === indexOf);
  return {
    total: found.length,
    index: index < 0 ? null : index,
    messages: found.slice(offset, offset + limit).map(summariseMail),
    words: wordsToMark(parseSearch(search ?? '')),
  };
}

/** Returns the summary of a mail, as a list shows it. */
export function summariseMail({ tenantId, mail, fileCount, messagesInThread }: ListedMail) {
  return { ...showView('summary', tenantId, mail), attachments: fileCount, messagesInThread };
}

/** Returns a mail with its details, the address of its inbox, and the mails of its thread, oldest first. */
export function detailMail(found: DetailedMail, thread: readonly ListedMail[]) {
  const { tenantId, mail, inbox } = found;
  return { ...summariseMail(found), ...showView('details', tenantId, mail), inbox, thread: thread.map(summariseMail) };
}
