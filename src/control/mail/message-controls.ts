import { clearTimeout, setTimeout } from '../../basics/real-timers.ts';
import { ApiError, parseOrRefuse } from '../../contract/errors.ts';
import { type Mail, showMail } from '../../service/mail/show-mail.ts';
import { parseDuration } from '../../world/clock.ts';
import { findOwner } from '../../world/store/parts.ts';
import type { ReachableWorlds } from '../../world/store/reachable-worlds.ts';
import { removeMessage } from '../../world/store/removal.ts';
import type { MessageRow } from '../../world/store/rows.ts';
import type { World } from '../../world/store/world.ts';
import { type ControlScope, findStoredRow, findWorlds, notFound } from '../control-scope.ts';
import { tellLatest } from '../verdicts/story.ts';
import type { MailFilter, ParsedMailFilter, WaitOptions } from './mail-filter.ts';
import { isSelected, mailFilter, selectMail, waitOptions } from './mail-filter.ts';
import type { LoggedMail, MailListener } from './mail-log.ts';
import { findMail, type MailSelection, mailSelection } from './mail-search.ts';

/** The control methods for mail. */
export interface MessageControls {
  /**
   * Returns the mail that arrived or was sent since the start, oldest first: at most the latest 10,000 of each tenant,
   * without mail of the fixture and without deleted mail.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid filter, NOT_FOUND for an unknown tenant or an unknown message in
   *   `since`.
   * @example
   * mailbox.messages({ to: 'dana@customer.test', direction: 'outbound' });
   */
  messages(filter?: MailFilter): Mail[];
  /**
   * Resolves with the newest matching mail that arrived or was sent since the start. If there is none, waits for the
   * first mail that matches. Mail of the fixture does not count.
   *
   * @throws {ApiError} NOT_FOUND after 4 seconds or the given `timeout`, with the mail that came instead; CONFLICT if
   *   the mailbox is reset or its server is closed; VALIDATION_ERROR for invalid options.
   * @example
   * const { plainBody } = await mailbox.waitForMessage({ to: 'dana@customer.test', subject: /code/i });
   */
  waitForMessage(options: WaitOptions): Promise<Mail>;
  /** Removes a mail for good, with its files. @throws {ApiError} NOT_FOUND for an unknown id. */
  removeMail(id: string): void;
  /**
   * Removes for good the mail that `searchMail` finds with the same fields, and returns how many mails it removed.
   * Without `folder`, mail in the trash stays.
   *
   * @throws {ApiError} VALIDATION_ERROR for an invalid selection, NOT_FOUND for an unknown tenant.
   * @example
   * mailbox.clearMail({ inbox: mailbox.ids.acme.inboxes.helpdesk, folder: 'trash' });
   */
  clearMail(selection?: MailSelection): number;
}

/** The default timeout is shorter than the timeout of test runners, so that this more specific error comes first. */
const DEFAULT_TIMEOUT_MS = 4_000;

/** Maximum number of messages that an error lists. */
const MAX_NAMED = 10;

/** Creates the mail methods of a mailbox or a sandbox. */
export function createMessageControls(scope: ControlScope): MessageControls {
  const { worlds, service, mailLog: log, findInbox } = scope;
  const remove = (found: readonly { readonly world: World; readonly mail: MessageRow }[]) => {
    // `found` begins with the latest mail, which is at the end of the lists of the store, where removal is fastest.
    for (const { world, mail } of found) removeMessage(world, mail);
    for (const world of new Set(found.map(({ world }) => world))) {
      const messageIds = found.flatMap((each) => (each.world === world ? each.mail.id : []));
      const removed = { action: 'removed', tenantId: world.id, name: null, messageIds } as const;
      service.journals.publish(world, 'messages', removed);
    }
    return found.length;
  };
  return {
    messages(filter = {}) {
      const parsed = parseOrRefuse('The filter', mailFilter(), filter);
      return selectMail(log.list(findWorlds(worlds, parsed)), parsed, findInbox).map(show);
    },
    async waitForMessage(options) {
      const parsed = parseOrRefuse('The input of waitForMessage', waitOptions(), options);
      const { timeout = DEFAULT_TIMEOUT_MS, sandbox, ...filter } = parsed;
      const tenant = sandbox ?? filter.tenant;
      const list = () => log.list(findWorlds(worlds, { tenant }));
      const present = selectMail(list(), filter, findInbox).at(-1);
      if (present) return show(present);
      const timeoutMs = parseDuration(timeout);
      const listen = (listener: MailListener) => log.listen(findOwner(worlds, tenant), listener);
      const isWanted = (mail: LoggedMail) => isSelected(mail, filter, findInbox);
      return show(await waitForNextMail(listen, isWanted, describeFilter(filter), { timeoutMs, list, scope }));
    },
    removeMail(id) {
      const found = findStoredRow(worlds, 'messages', id);
      if (!found) throw notFound('message');
      remove([{ world: found.world, mail: found.row }]);
    },
    clearMail: (selection = {}) => remove(findMail(scope, parseOrRefuse('The selection', mailSelection(), selection))),
  };
}

function show({ world, message, streams }: LoggedMail): Mail {
  const mail = showMail(world, message);
  return streams > 0 ? { ...mail, streams } : mail;
}

/** Resolves with the next wanted mail. Rejects after the timeout, or when no mail can come any more. */
function waitForNextMail(
  listen: (listener: MailListener) => () => void,
  isWanted: (mail: LoggedMail) => boolean,
  description: string,
  { timeoutMs, list, scope }: { readonly timeoutMs: number; list(): LoggedMail[]; readonly scope: ControlScope },
): Promise<LoggedMail> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => {
      clearTimeout(timer);
      stop();
      settle();
    };
    const stop = listen({
      onMail(mail) {
        if (isWanted(mail)) end(() => resolve(mail));
      },
      onEnd: (reason) => end(() => reject(new ApiError('CONFLICT', `${reason} before ${description} arrived.`))),
    });
    // Unlike the timers of the environment, this timer keeps the process alive, because the caller awaits it.
    const timer = setTimeout(
      () => end(() => reject(createTimeoutError(description, timeoutMs, list(), scope))),
      timeoutMs,
    );
  });
}

function createTimeoutError(
  description: string,
  timeoutMs: number,
  others: readonly LoggedMail[],
  scope: ControlScope,
): ApiError {
  const named = others.slice(-MAX_NAMED).map(({ message: { subject, to, direction, receivedAt } }) => {
    const verb = direction === 'inbound' ? 'received' : 'sent';
    return `${JSON.stringify(subject)} to ${to.join(', ')} (${verb} ${receivedAt})`;
  });
  const more = others.length > named.length ? ` and ${others.length - named.length} before that` : '';
  const came = named.length > 0 ? `; what came instead: ${named.join(', ')}${more}` : ', and no other mail either';
  return new ApiError('NOT_FOUND', `No ${description} arrived within ${timeoutMs} ms${came}.${tellLatest(scope)}`);
}

function describeFilter({ to, subject, direction, since }: ParsedMailFilter): string {
  const kind = direction === undefined ? 'mail' : `${direction} mail`;
  const text = typeof subject === 'string' ? JSON.stringify(subject) : subject;
  const about = text === undefined ? '' : ` with ${text} in its subject`;
  return `${kind} to ${to}${about}${since === undefined ? '' : ` since ${since}`}`;
}
