import { parseDuration } from '../clock/duration.ts';
import { ApiError } from '../contract/errors.ts';
import { parseOrRefuse } from '../contract/invalid.ts';
import type { LoggedMail, MailLog } from '../journal/mail-log.ts';
import { type Mail, showMail } from '../mail/show-mail.ts';
import {
  isSelected,
  type Locate,
  type MailFilter,
  mailFilter,
  type ParsedMailFilter,
  selectMail,
  type WaitOptions,
  waitOptions,
} from './mail-filter.ts';

/** The control methods for mail. */
export interface MessageControls {
  /**
   * Returns the mail that arrived or was sent since the start, oldest first: at most the latest 1,000 of each tenant,
   * without that of the fixture and without deleted mail.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter, NOT_FOUND for an unknown tenant, or message in `since`.
   * @example
   * mailbox.messages({ to: 'dana@customer.test', direction: 'outbound' });
   */
  messages(filter?: MailFilter): Mail[];
  /**
   * Resolves with the newest mail since the start that matches, or else with the first one that arrives. Mail of the
   * fixture does not count.
   *
   * @throws {ApiError} NOT_FOUND after 4 seconds or the given `timeout`, with the mail that did arrive; CONFLICT if the
   *   mailbox is reset or its server is closed; VALIDATION_ERROR for invalid options.
   * @example
   * const { plainBody } = await mailbox.waitForMessage({ to: 'dana@customer.test', subject: /code/i });
   */
  waitForMessage(options: WaitOptions): Promise<Mail>;
}

/** Shorter than the default timeout of test runners, so that this more specific error comes first. */
const DEFAULT_TIMEOUT_MS = 4_000;

/** Maximum number of messages that an error lists. */
const MAX_NAMED = 10;

/** Creates the mail methods of a mailbox, or of the tenant of a sandbox. */
export function createMessageControls(log: MailLog, locate: Locate, owner?: string): MessageControls {
  return {
    messages(filter = {}) {
      const parsed = parseOrRefuse('The filter', mailFilter, filter);
      return selectMail(log.list(owner ?? parsed.tenant), parsed, locate).map(show);
    },
    async waitForMessage(options) {
      const parsed = parseOrRefuse('The input of waitForMessage', waitOptions, options);
      const { timeout = DEFAULT_TIMEOUT_MS, sandbox, ...filter } = parsed;
      const tenant = owner ?? sandbox ?? filter.tenant;
      const present = selectMail(log.list(tenant), filter, locate).at(-1);
      return show(present ?? (await nextMail(log, { filter, locate, tenant, timeoutMs: parseDuration(timeout) })));
    },
  };
}

function show({ world, message, streams }: LoggedMail): Mail {
  return { ...showMail(world, message), ...(streams > 0 && { streams }) };
}

interface Wait {
  readonly filter: ParsedMailFilter;
  readonly locate: Locate;
  /** The only tenant whose mail matters. */
  readonly tenant: string | undefined;
  readonly timeoutMs: number;
}

/** Resolves with the next mail that matches, or rejects when the time is up or the wait is ended. */
function nextMail(log: MailLog, { filter, locate, tenant, timeoutMs }: Wait): Promise<LoggedMail> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      stop();
      settle();
    };
    const stop = log.listen({
      tenant,
      arrived(mail) {
        if (isSelected(mail, filter, locate)) end(() => resolve(mail));
      },
      ended: (reason) => end(() => reject(new ApiError('CONFLICT', `${reason} before ${describe(filter)} arrived.`))),
    });
    // Unlike the timers of the environment, this one keeps the process alive, because the caller awaits it.
    const timer = setTimeout(() => end(() => reject(notArrived(filter, timeoutMs, log.list(tenant)))), timeoutMs);
  });
}

function notArrived(filter: ParsedMailFilter, timeoutMs: number, others: readonly LoggedMail[]): ApiError {
  const named = others.slice(-MAX_NAMED).map(({ message: { subject, to, direction, receivedAt } }) => {
    const verb = direction === 'inbound' ? 'received' : 'sent';
    return `${JSON.stringify(subject)} to ${to.join(', ')} (${verb} ${receivedAt})`;
  });
  const more = others.length > named.length ? ` and ${others.length - named.length} before that` : '';
  const came = named.length > 0 ? `; what came instead: ${named.join(', ')}${more}` : ', and no other mail either';
  return new ApiError('NOT_FOUND', `No ${describe(filter)} arrived within ${timeoutMs} ms${came}.`);
}

function describe({ to, subject, direction, since }: ParsedMailFilter): string {
  const kind = direction === undefined ? 'mail' : `${direction} mail`;
  const wanted = typeof subject === 'string' ? JSON.stringify(subject) : subject;
  const about = wanted === undefined ? '' : ` with ${wanted} in its subject`;
  return `${kind} to ${to}${about}${since === undefined ? '' : ` since ${since}`}`;
}
