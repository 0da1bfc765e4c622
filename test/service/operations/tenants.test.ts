import { describe, expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

describe('tenants', () => {
  everywhere(
    'a created tenant has a key that works, a default workspace and nothing else',
    async ({ send, mailbox }) => {
      const created = await send('POST', '/v1/tenants', { key: mailbox.keys.operator, json: { name: 'Initech' } });
      expect([created.status, created.json.name]).toEqual([201, 'Initech']);
      const key = created.json.apiKey;
      expect((await send('GET', '/v1/webhooks', { key })).json).toEqual({ webhooks: [] });
      const path = `/v1/workspaces/${created.json.defaultWorkspaceId}/keys`;
      expect((await send('GET', path, { key })).json).toEqual({ keys: [] });
      const workspaceKey = await send('POST', path, { key, json: {} });
      expect((await send('GET', '/v1/webhooks', { key: workspaceKey.json.key })).status).toBe(200);
    },
  );

  everywhere('deleting a tenant revokes all its keys and changes no other tenant', async ({ send, mailbox }) => {
    const { operator, acme, globex } = mailbox.keys;
    const deleted = await send('DELETE', `/v1/tenants/${IDS.acme.tenant}`, { key: operator });
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: IDS.acme.tenant }]);
    for (const key of [acme.tenant, ...Object.values(acme.workspaces), ...Object.values(acme.inboxes)]) {
      expect((await send('GET', '/v1/webhooks', { key })).status).toBe(401);
    }
    expect((await send('GET', '/v1/webhooks', { key: globex.tenant })).json.webhooks).toHaveLength(1);
    expect((await send('DELETE', `/v1/tenants/${IDS.acme.tenant}`, { key: operator })).status).toBe(404);
  });

  everywhere('two tenants may have the same name', async ({ send, mailbox }) => {
    const create = () => send('POST', '/v1/tenants', { key: mailbox.keys.operator, json: { name: 'Acme' } });
    const [one, two] = [await create(), await create()];
    expect([one.status, two.status]).toEqual([201, 201]);
    expect(one.json.id).not.toBe(two.json.id);
  });

  everywhere('reset restores a deleted tenant and removes a created one', async ({ send, mailbox }) => {
    const start = mailbox.snapshot();
    const { operator, acme } = mailbox.keys;
    const created = await send('POST', '/v1/tenants', { key: operator, json: { name: 'Initech' } });
    await send('DELETE', `/v1/tenants/${IDS.acme.tenant}`, { key: operator });
    mailbox.reset();
    expect(mailbox.snapshot()).toEqual(start);
    expect((await send('GET', '/v1/webhooks', { key: acme.tenant })).json.webhooks).toHaveLength(2);
    expect((await send('GET', '/v1/webhooks', { key: created.json.apiKey })).status).toBe(401);
  });

  everywhere('a created tenant has a Default workspace for its inboxes', async ({ send, mailbox }) => {
    const created = await send('POST', '/v1/tenants', { key: mailbox.keys.operator, json: { name: 'Initech' } });
    const { apiKey: key, defaultWorkspaceId: id } = created.json;
    const inbox = await send('POST', '/v1/inboxes', { key, json: {} });
    expect([inbox.status, inbox.json.workspaceId]).toEqual([201, id]);
    expect((await send('GET', '/v1/workspaces', { key })).json.workspaces).toEqual([
      {
        id,
        name: 'Default',
        slug: 'default',
        isDefault: true,
        inboxCount: 1,
        domainCount: 0,
        createdAt: created.json.createdAt,
      },
    ]);
  });

  everywhere('a deleted tenant frees its addresses, and mail to them bounces', async ({ send, mailbox }) => {
    const { operator, acme, globex } = mailbox.keys;
    const json = { username: 'wanted' };
    await send('POST', '/v1/inboxes', { key: acme.tenant, json });
    const numbered = await send('POST', '/v1/inboxes', { key: globex.tenant, json });
    expect(numbered.json.username).toBe('wanted1');
    await send('DELETE', `/v1/tenants/${IDS.acme.tenant}`, { key: operator });
    await send('POST', `/v1/inboxes/${IDS.globex.inboxes.info}/send`, {
      key: globex.tenant,
      json: { to: 'wanted@mailbox.test', subject: 'Anybody there?', verified: true },
    });
    expect((await send('GET', '/v1/metrics', { key: globex.tenant })).json.counts).toMatchObject({
      sent: 1,
      bounced: 1,
    });
    const created = await send('POST', '/v1/inboxes', { key: globex.tenant, json });
    expect([created.status, created.json.username]).toEqual([201, 'wanted']);
  });

  everywhere('deleting a tenant deletes all its data', async ({ send, mailbox }) => {
    const [, globex] = mailbox.snapshot().tenants;
    await send('DELETE', `/v1/tenants/${IDS.acme.tenant}`, { key: mailbox.keys.operator });
    expect(mailbox.snapshot().tenants).toEqual([globex]);
  });

  everywhere('mail to a domain of a deleted tenant is neither delivered nor bounced', async ({ send, mailbox }) => {
    const { operator, globex } = mailbox.keys;
    const email = 'nobody@acme.test';
    const verify = async () => (await send('POST', '/v1/verify-email', { key: globex.tenant, json: { email } })).json;
    expect(await verify()).toMatchObject({ reason: 'no-such-inbox' });
    await send('DELETE', `/v1/tenants/${IDS.acme.tenant}`, { key: operator });
    expect(await verify()).toMatchObject({ reason: null });
  });
});
