import type { ExchangeObserver } from '../../pipeline/exchange.ts';
import type { Log } from './log-format.ts';

/** Returns an observer that logs why the URL of a new or changed webhook may not be called. */
export function logRefusedWebhooks(log: Log, findReason: (url: string) => string | undefined): ExchangeObserver {
  return ({ row, received, reply }) => {
    const isWebhook = row?.id === 'createWebhook' || row?.id === 'updateWebhook';
    if (!isWebhook || reply.status >= 300 || !(received instanceof Uint8Array)) return;
    const { url }: { url?: unknown } = JSON.parse(new TextDecoder().decode(received));
    const reason = typeof url === 'string' ? findReason(url) : undefined;
    if (reason !== undefined) log(`! a webhook will get nothing: ${reason}`, 403);
  };
}
