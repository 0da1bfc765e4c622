import type { Sandbox } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';

interceptRequests();

const SECRET = `whsec_${btoa('a secret of these tests.')}`;

everywhere(
  'one receiver verifies the webhooks of a fixture in every sandbox, but not one that a client created',
  async ({ mailbox, send }) => {
    await using receiver = createReceiver({ secret: SECRET });
    const url = await receiver.listen();
    const events = ['message.received'];
    const fixture = {
      tenants: {
        a: {
          workspaces: { main: { inboxes: { desk: { username: 'desk' } } } },
          webhooks: { hook: { url, secret: SECRET, events } },
        },
      },
    } as const;
    const sandboxes = [1, 2].map(() => mailbox.createSandbox({ fixture }) as unknown as Sandbox);
    for (const sandbox of sandboxes) sandbox.trigger('message.received');
    await mailbox.settled();
    expect(receiver.requests.map(({ verified }) => verified)).toEqual([true, true]);

    const [{ keys, trigger } = sandboxes[0] as Sandbox] = sandboxes;
    const created = await send('POST', '/v1/webhooks', { key: keys.tenant, json: { url, events } });
    expect(created.json.secret).not.toBe(SECRET);
    trigger('message.received', { webhookId: created.json.id });
    await mailbox.settled();
    expect(receiver.requests.at(-1)?.verified).toBe(false);
  },
);
