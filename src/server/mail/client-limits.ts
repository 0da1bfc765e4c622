import type { Environment } from '../../world/environment.ts';
import { LIMITS } from '../server-limits.ts';

/** A connection over SMTP or IMAP. */
interface MailClient {
  /** The id of the inbox to which it has logged in; `undefined` before the login. */
  readonly inboxId: string | undefined;
  /** Whether it is sending a mail. */
  readonly isSendingMail: boolean;
}

/**
 * Returns the client that must go because there are too many; `undefined` if there are not. `clients` has the oldest
 * first and the new one last. The oldest one goes that has not logged in and sends no mail. If that is the new one, the
 * oldest of an inbox with more than its share of the places goes instead of it, so that no login keeps the others out.
 */
export function findClientToEnd<Client extends MailClient>(clients: readonly Client[]): Client | undefined {
  const { mailConnections, share } = LIMITS;
  if (clients.length <= mailConnections.value) return undefined;
  const stranger = clients.find(({ inboxId, isSendingMail }) => inboxId === undefined && !isSendingMail);
  if (stranger !== clients.at(-1)) return stranger;
  const counts = new Map<string, number>();
  for (const { inboxId = '' } of clients) counts.set(inboxId, (counts.get(inboxId) ?? 0) + 1);
  counts.delete('');
  const [greediest = '', most = 0] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
  const isGreedy = most > mailConnections.value * share.value;
  return isGreedy ? clients.find(({ inboxId }) => inboxId === greediest) : stranger;
}

/** What `watchPace` looks at. */
interface PaceOptions {
  /** Returns how many bytes have arrived since the last start. */
  countReceived(): number;
  /** How long they may arrive at any pace. */
  readonly unhurriedMs?: number;
  /** How long they may take in all. */
  readonly withinMs?: number;
  /** Returns whether they may arrive at any pace for now, because they take no room. */
  mayBeSlow?(): boolean;
  /** Called once if they arrive too slowly. */
  onTooSlow(): void;
}

/**
 * Watches how fast a mail or a command arrives: `LIMITS.pace` in each `LIMITS.paceInterval`, because what arrives slowly
 * keeps its room from others. Returns a function that ends this.
 */
export function watchPace(
  { setTimer }: Pick<Environment, 'setTimer'>,
  { countReceived, unhurriedMs = 0, withinMs = Infinity, mayBeSlow = () => false, onTooSlow }: PaceOptions,
): () => void {
  const intervalMs = LIMITS.paceInterval.value;
  let cancel = () => {};
  const watch = (remainingMs: number) => {
    const before = countReceived();
    cancel = setTimer(intervalMs, () => {
      const isSlow = !mayBeSlow() && countReceived() - before < LIMITS.pace.value;
      if (isSlow || remainingMs <= intervalMs) onTooSlow();
      else watch(remainingMs - intervalMs);
    });
  };
  if (unhurriedMs === 0) watch(withinMs);
  else cancel = setTimer(unhurriedMs, () => watch(withinMs - unhurriedMs));
  return () => cancel();
}
