import { test } from 'agent-mailbox-mock/vitest';
import { describe } from 'vitest';
import { beginPageStream, provideWebSocket } from '../../support/stream-client.ts';

provideWebSocket();

describe.concurrent('at the same time', () => {
  const open = new Set<string>();
  for (const name of ['a', 'b']) {
    test(`the stream of test ${name} is one of its own mailbox, with the key in the query`, async ({
      sandbox,
      expect,
    }) => {
      const { helpdesk } = sandbox.keys.inboxes;
      await using client = beginPageStream(`wss://mailbox.test/v1/ws?api_key=${helpdesk}`);
      open.add(name);
      await expect.poll(() => open.size).toBe(2);
      expect(await client.next()).toMatchObject({ type: 'connected', inboxId: sandbox.ids.inboxes.helpdesk });
    });
  }
});

describe.concurrent('at the same time, with a key of the fixture', () => {
  const open = new Set<string>();
  for (const name of ['a', 'b']) {
    test(`the stream of test ${name} is refused with the sentence of the HTTP reply`, async ({ mailbox, expect }) => {
      open.add(name);
      await expect.poll(() => open.size).toBeGreaterThanOrEqual(2);
      const key = mailbox.keys.acme.tenant;
      const reply = await fetch(`${mailbox.baseUrl}/v1/me`, { headers: { 'X-API-Key': key } });
      const { error } = await reply.json();
      const events: unknown[] = [];
      const socket = new WebSocket(`wss://mailbox.test/v1/ws?api_key=${key}`);
      await new Promise<void>((resolve) => {
        socket.addEventListener('open', () => events.push('open'));
        // As many clients do.
        socket.addEventListener('error', (event) => {
          events.push(['error', (event as ErrorEvent).message]);
          socket.close();
        });
        socket.addEventListener('close', ({ code, reason }) => {
          events.push(['close', code, reason]);
          resolve();
        });
      });
      open.add(`${name} answered`);
      await expect.poll(() => open.size).toBe(4);
      expect(error).toContain('Several tests run at the same time');
      expect(events).toEqual([
        ['error', error],
        ['close', 4500, error],
      ]);
    });
  }
});
