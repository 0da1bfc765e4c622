import type { Mailbox } from 'agent-mailbox-mock';
import { createReply, type Reply, type SendOptions } from './send.ts';

/** Makes what sends requests to a mailbox by its own `fetch`, without a network or an interceptor. */
export function senderTo(mailbox: Pick<Mailbox, 'baseUrl' | 'fetch'>) {
  return async (method: string, path: string, { key = '', json }: SendOptions = {}): Promise<Reply> => {
    const request = new Request(mailbox.baseUrl + path, {
      method,
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    const reply = await mailbox.fetch(request);
    return createReply(reply.status, reply.headers, new Uint8Array(await reply.arrayBuffer()));
  };
}
