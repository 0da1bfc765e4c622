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
      await expect.poll(() => open.size, { timeout: 20_000 }).toBe(2);
      expect(await client.next()).toMatchObject({ type: 'connected', inboxId: sandbox.ids.inboxes.helpdesk });
    });
  }
});
