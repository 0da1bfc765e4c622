import { describe, expect } from 'vitest';
import { everywhere, interceptRequests } from './support/everywhere.ts';
import { IDS } from './support/ids.ts';

interceptRequests();

const WEBHOOK = { url: 'https://agent.example/hook', events: ['message.received', 'message.sent'] };

describe('webhooks', () => {
  everywhere('creating one answers 201 with exactly the six documented fields', async ({ send, mailbox }) => {
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

  everywhere('deleting one answers 200 and it is gone, once', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const path = `/v1/webhooks/${IDS.acme.webhooks.everything}`;
    const deleted = await send('DELETE', path, { key });
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: IDS.acme.webhooks.everything }]);
    expect((await send('DELETE', path, { key })).status).toBe(404);
    expect((await send('GET', '/v1/webhooks', { key })).json.webhooks).toHaveLength(1);
  });

  everywhere('an id is found in upper case too', async ({ send, mailbox }) => {
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

  everywhere('a trip through create, list and delete leaves the list as it was', async ({ send, mailbox }) => {
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
});
