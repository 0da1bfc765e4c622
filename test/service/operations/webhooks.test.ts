import { describe, expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const WEBHOOK = { url: 'https://agent.example/hook', events: ['message.received', 'message.sent'] };

describe('webhooks', () => {
  everywhere('creating one returns 201 with exactly the six documented fields', async ({ send, mailbox }) => {
    const { status, json } = await send('POST', '/v1/webhooks', { key: mailbox.keys.acme.tenant, json: WEBHOOK });
    expect(status).toBe(201);
    expect(Object.keys(json)).toEqual(['id', 'url', 'events', 'secret', 'isActive', 'createdAt']);
    expect(json).toMatchObject({ ...WEBHOOK, isActive: true });
    expect(json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(Math.abs(Date.parse(json.createdAt) - Date.now())).toBeLessThan(60_000);
  });

  everywhere('a created one is listed as it was created, after the older ones', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const created = await send('POST', '/v1/webhooks', { key, json: WEBHOOK });
    const { status, json } = await send('GET', '/v1/webhooks', { key });
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(['webhooks']);
    expect(json.webhooks.map(({ id }: { id: string }) => id)).toEqual([
      IDS.acme.webhooks.everything,
      IDS.acme.webhooks.support,
      created.json.id,
    ]);
    expect(json.webhooks[2]).toEqual(created.json);
  });

  everywhere('deleting one returns 200, and then 404', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const path = `/v1/webhooks/${IDS.acme.webhooks.everything}`;
    const deleted = await send('DELETE', path, { key });
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: IDS.acme.webhooks.everything }]);
    expect((await send('DELETE', path, { key })).status).toBe(404);
    expect((await send('GET', '/v1/webhooks', { key })).json.webhooks).toHaveLength(1);
  });

  everywhere('an id in upper case is found too', async ({ send, mailbox }) => {
    const path = `/v1/webhooks/${IDS.acme.webhooks.everything.toUpperCase()}`;
    const { status, json } = await send('DELETE', path, { key: mailbox.keys.acme.tenant });
    expect([status, json.id]).toEqual([200, IDS.acme.webhooks.everything]);
  });

  everywhere("a tenant key lists every webhook of its tenant and none of another's", async ({ send, mailbox }) => {
    const { acme, globex } = mailbox.keys;
    const ids = async (key: string) =>
      (await send('GET', '/v1/webhooks', { key })).json.webhooks.map(({ id }: { id: string }) => id);
    await send('POST', '/v1/webhooks', { key: acme.workspaces.sales, json: WEBHOOK });
    expect(await ids(acme.tenant)).toHaveLength(3);
    expect(await ids(globex.tenant)).toEqual([IDS.globex.webhooks.everything]);
  });

  everywhere('a workspace key lists the webhooks of its own workspace only', async ({ send, mailbox }) => {
    const { support, sales } = mailbox.keys.acme.workspaces;
    const created = await send('POST', '/v1/webhooks', { key: sales, json: WEBHOOK });
    const list = async (key: string) => (await send('GET', '/v1/webhooks', { key })).json.webhooks;
    expect(await list(sales)).toEqual([created.json]);
    expect((await list(support)).map(({ id }: { id: string }) => id)).toEqual([IDS.acme.webhooks.support]);
  });

  everywhere('creating, listing and deleting one leaves the list unchanged', async ({ send, mailbox }) => {
    const key = mailbox.keys.globex.workspaces.main;
    const before = await send('GET', '/v1/webhooks', { key });
    const { json } = await send('POST', '/v1/webhooks', { key, json: WEBHOOK });
    await send('DELETE', `/v1/webhooks/${json.id}`, { key });
    expect((await send('GET', '/v1/webhooks', { key })).json).toEqual(before.json);
  });

  everywhere('the secrets and ids of two webhooks differ', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const [one, two] = [
      await send('POST', '/v1/webhooks', { key, json: WEBHOOK }),
      await send('POST', '/v1/webhooks', { key, json: WEBHOOK }),
    ];
    expect(one.json.id).not.toBe(two.json.id);
    expect(one.json.secret).not.toBe(two.json.secret);
  });

  everywhere('reading one returns it as it was created, secret included', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.workspaces.support;
    const created = await send('POST', '/v1/webhooks', { key, json: WEBHOOK });
    const found = await send('GET', `/v1/webhooks/${created.json.id.toUpperCase()}`, { key });
    expect([found.status, found.json]).toEqual([200, created.json]);
  });

  everywhere('a change keeps the other fields, and is visible', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const path = `/v1/webhooks/${IDS.acme.webhooks.support}`;
    let expected = (await send('GET', path, { key })).json;
    for (const json of [
      { isActive: false },
      { url: 'https://agent.example/other' },
      { events: ['message.sent', 'message.bounced'] },
      {},
      { isActive: true, url: 'http://127.0.0.1:1/', events: ['message.received'] },
    ]) {
      expected = { ...expected, ...json };
      const changed = await send('PATCH', path, { key, json });
      expect([changed.status, changed.json]).toEqual([200, expected]);
      expect((await send('GET', path, { key })).json).toEqual(expected);
    }
    expect((await send('GET', '/v1/webhooks', { key })).json.webhooks[1]).toEqual(expected);
  });

  everywhere('a change cannot set what the service assigns', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const path = `/v1/webhooks/${IDS.acme.webhooks.support}`;
    const before = await send('GET', path, { key });
    const json = { id: IDS.nobody, secret: 'mine', createdAt: '2020-01-01T00:00:00.000Z', workspaceId: null };
    const changed = await send('PATCH', path, { key, json });
    expect([changed.status, changed.json]).toEqual([200, before.json]);
    expect((await send('GET', path, { key: mailbox.keys.acme.workspaces.support })).status).toBe(200);
  });

  everywhere('a deleted one can be neither read nor changed', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const path = `/v1/webhooks/${IDS.acme.webhooks.support}`;
    await send('DELETE', path, { key });
    for (const method of ['GET', 'PATCH']) {
      const gone = await send(method, path, { key });
      expect([gone.status, gone.json.error]).toEqual([404, 'There is no webhook with this id.']);
    }
  });

  everywhere(
    'a workspace key may see a tenant-wide one, but may not change or delete it',
    { behaviours: { 'webhooks.list.workspace-scope': 'own-and-tenant-wide' } },
    async ({ send, mailbox }) => {
      const before = mailbox.snapshot();
      for (const method of ['PATCH', 'DELETE']) {
        const path = `/v1/webhooks/${IDS.acme.webhooks.everything}`;
        expect((await send(method, path, { key: mailbox.keys.acme.workspaces.support })).status, method).toBe(404);
      }
      expect(mailbox.snapshot()).toEqual(before);
    },
  );
});
