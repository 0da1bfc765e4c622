import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { createControlClient, RefusedCallError, undefinedIfRefused } from '../../../src/control/table/client.ts';

test('the client calls the control plane by the rows of its table', async () => {
  await using server = await startServer({ port: 0, controlToken: 'token-of-this-test' });
  const client = createControlClient({ control: server.control, token: 'token-of-this-test' });
  expect(await client.getControlHealth()).toMatchObject({ status: 'ok' });
  await client.changeClock({ freeze: '2026-03-01T09:00:00Z' });
  expect(await client.getClock({ tenant: undefined })).toEqual({ now: '2026-03-01T09:00:00.000Z', frozen: true });
  const { name } = await client.addCheckpoint({ name: 'Über 1.0' });
  expect(await client.diffCheckpoints({ from: name, to: 'now' })).toEqual({ added: {}, removed: {}, changed: {} });
  const { messages } = await client.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'dana@customer.test',
    plainBody: 'Hi',
  });
  const id = String(messages[0]?.id);
  expect(await (await client.getMailSource({ id })).text()).toContain('Hi');
  expect((await client.searchMail({ threads: true, limit: 1 })).messages).toHaveLength(1);
  expect((await client.listMail({ since: '2026-03-01T09:00:00Z' })).messages.map((mail) => mail.id)).toEqual([id]);
});

test('a client of a sandbox calls only that, and a single call can name another', async () => {
  await using server = await startServer({ port: 0 });
  const whole = createControlClient({ control: server.control });
  const { id } = await whole.createSandbox({ name: 'Mine' });
  const own = createControlClient({ control: server.control, sandbox: id });
  await own.changeClock({ freeze: true });
  const isFrozen = async (...input: Parameters<typeof whole.getClock>) => (await whole.getClock(...input)).frozen;
  expect([await isFrozen(), await isFrozen({}, { sandbox: id })]).toEqual([false, true]);
});

test('a refused call rejects with the sentence of the emulator', async () => {
  await using server = await startServer({ port: 0 });
  const client = createControlClient({ control: server.control });
  const refused = client.removeFault({ id: crypto.randomUUID() });
  await expect(refused).rejects.toThrow(new RefusedCallError('There is no fault with this id.'));
  expect(await refused.catch(undefinedIfRefused)).toBeUndefined();
  const other = createControlClient({ control: server.control, send: async () => new Response('', { status: 502 }) });
  await expect(other.reset()).rejects.toThrow(/^The reply has status \d{3} and no error message\.$/);
});

test('events are read whole, wherever their bytes are split', async () => {
  const bytes = new TextEncoder().encode(':\n\ndata: {"name":"Ä"}\n\nid: 2\ndata: {"name":"b"}\n\ndata: {"na');
  let cancelled = false;
  const parts = [...bytes].map((byte) => new Uint8Array([byte]));
  const body = new ReadableStream({
    pull(controller) {
      const part = parts.shift();
      if (part) controller.enqueue(part);
    },
    cancel() {
      cancelled = true;
    },
  });
  const send = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const names: unknown[] = [];
  for await (const event of await createControlClient({ control: '', send }).readFeed()) {
    names.push('name' in event && event.name);
    if (names.length === 2) break;
  }
  expect([names, cancelled]).toEqual([['Ä', 'b'], true]);
});
