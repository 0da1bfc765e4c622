import type { ControlClient, ReplyTo } from '../control/table/client.ts';
import { sendOnce } from './inspector.ts';

type Key = ReplyTo<'listKeys'>['keys'][number];

/**
 * Calls the service as a client of a tenant would do, with the key that `choose` returns. Faults apply as to any request.
 *
 * @throws {Error} if the service refuses it, with its status, code and message, or if there is no answer.
 */
export async function callService(
  client: ControlClient,
  tenant: string,
  choose: (keys: readonly Key[]) => Key | undefined,
  path: string,
  call: RequestInit,
): Promise<void> {
  const { keys } = await client.listKeys({ tenant });
  const key = choose(keys)?.text ?? '';
  const response = await sendOnce(path, { ...call, headers: { 'X-API-Key': key, 'Content-Type': 'application/json' } });
  if (response.ok) return;
  const { code, error } = (await response.json().catch(() => ({}))) as { code?: string; error?: string };
  throw new Error([response.status, code, error].filter(Boolean).join(' '));
}
