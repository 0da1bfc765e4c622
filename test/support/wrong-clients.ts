import type { MailboxServer } from 'agent-mailbox-mock/server';
import { expect } from 'vitest';
import { checkReply } from './check-reply.ts';
import { expectEqual } from './expect-equal.ts';
import { exchange, type RawReply, request } from './raw-http.ts';

export const KEY = 'X-API-Key: tk_acme_tenant_key';

export type Served = Pick<MailboxServer, 'port' | 'mailbox'>;

/** Runs what a client does wrong, and checks that it did no harm: the state is as before and requests are served. */
export async function expectNoHarm(server: Served, act: () => Promise<void>): Promise<void> {
  const before = server.mailbox.snapshot();
  await act();
  expectEqual(server.mailbox.snapshot(), before);
  expect((await exchange(server, request('GET /v1/webhooks', [KEY]))).status).toBe(200);
}

export function expectError(server: Served, reply: RawReply, status: number, code: string): void {
  checkReply(server.mailbox, 'GET', '/', reply);
  expect([reply.status, reply.json]).toEqual([status, { error: expect.any(String), code }]);
}

/** A webhook that is this many bytes long. */
export function webhookOf(length: number): string {
  const text = JSON.stringify({ url: 'http://127.0.0.1:9/', events: ['message.received'], pad: '' });
  return text.replace('"pad":""', `"pad":"${'x'.repeat(length - text.length)}"`);
}

/** A body in chunks, without the last. */
export function chunked(body: string): string {
  const chunks = body.match(/.{1,50000}/gs) ?? [];
  return chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
}
