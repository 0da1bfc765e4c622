import type { MailboxServer } from 'agent-mailbox-mock/server';
import { expect } from 'vitest';
import { IDS } from './ids.ts';
import { openConnection, request } from './raw-http.ts';
import { openSocket, type SocketClient } from './stream-client.ts';
import { KEYS } from './streams.ts';

export const KEY = `X-API-Key: ${KEYS.acme.tenant}`;

const { helpdesk } = IDS.acme.inboxes;

/** The lines by which a client asks for a WebSocket; a field given as `undefined` is left out. */
export function upgrade(fields: Record<string, string | undefined> = {}): string[] {
  const all = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...fields,
  };
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
}

export type Served = Pick<MailboxServer, 'mailbox' | 'url' | 'port'>;

export const withKey = (headers: Record<string, string> = {}) => ({ 'X-API-Key': KEYS.acme.tenant, ...headers });

/** Opens a stream of Acme that gets every event. */
export async function listen({ url }: Pick<Served, 'url'>, headers = withKey()): Promise<SocketClient> {
  const client = await openSocket(`${url}/v1/ws`, headers);
  await client.next('connected');
  await client.subscribe();
  return client;
}

/** Shows that streams are served: a client is told of an event. */
export async function expectServed(server: Pick<Served, 'url' | 'mailbox'>): Promise<void> {
  await using client = await listen(server);
  server.mailbox.trigger('message.received', { inboxId: helpdesk });
  expect(await client.next()).toMatchObject({ type: 'event', message: { inbox_id: helpdesk } });
}

/** A frame as a client writes it: masked, unless it does wrong. */
export function frameOf(text: string | Buffer, { opcode = 1, masked = true, final = true } = {}): Buffer {
  const payload = Buffer.from(text);
  const mask = Buffer.from([1, 2, 3, 4]);
  const length = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 0xff];
  const head = [(final ? 0x80 : 0) | opcode, (masked ? 0x80 : 0) | (length[0] ?? 0), ...length.slice(1)];
  if (!masked) return Buffer.concat([Buffer.from(head), payload]);
  return Buffer.concat([Buffer.from(head), mask, payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))]);
}

/** A stream by a raw socket, past its upgrade. */
export async function openRawStream(server: Served) {
  const connection = await openConnection(server);
  await connection.send(request('GET /v1/ws', [KEY, ...upgrade()]));
  expect((await connection.reply()).status).toBe(101);
  return connection;
}
