import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { IDS } from '../support/ids.ts';
import { loginOf, startImap } from '../support/imap-server.ts';
import { listen } from '../support/served-streams.ts';

describe('the connected clients', () => {
  test('are those of event streams, of IMAP and of SMTP, each until it ends', async ({ expect }) => {
    await using imap = await startImap();
    const { server } = imap;
    const sandbox = server.mailbox.createSandbox();
    const list = async (query = '') => {
      const reply = await fetch(`${server.control}/connections${query}`);
      const { connections } = (await reply.json()) as { connections: ReturnType<typeof server.mailbox.connections> };
      return connections.map(({ since: _, ...client }) => client);
    };
    expect(await list()).toEqual([]);

    const stream = await listen(server);
    const talk = await imap.session();
    const guest = await imap.connect();
    const { user, password } = loginOf({ mailbox: sandbox as never });
    await imap.session(undefined, { user, password });
    const smtp = connect(imap.smtpPort, '127.0.0.1');
    await once(smtp, 'data');

    const { tenant, workspaces, inboxes } = IDS.acme;
    const nobody = { tenantId: null, workspaceId: null, inboxId: null };
    expect(await list()).toEqual([
      { protocol: 'websocket', tenantId: tenant, workspaceId: null, inboxId: null },
      { protocol: 'imap', tenantId: tenant, workspaceId: workspaces.support, inboxId: inboxes.helpdesk },
      { protocol: 'imap', ...nobody },
      expect.objectContaining({ protocol: 'imap', tenantId: sandbox.id, inboxId: expect.any(String) }),
      { protocol: 'smtp', ...nobody },
    ]);
    expect(await list(`?sandbox=${sandbox.id}`)).toMatchObject([{ protocol: 'imap', tenantId: sandbox.id }]);
    expect(sandbox.connections()).toHaveLength(1);

    await stream[Symbol.asyncDispose]();
    await talk.ok('LOGOUT');
    guest[Symbol.dispose]();
    smtp.destroy();
    await eventually(async () => expect(await list()).toMatchObject([{ tenantId: sandbox.id }]));
  });
});
