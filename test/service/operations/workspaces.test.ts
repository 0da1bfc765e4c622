import { createMailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { checkReply } from '../../support/check-reply.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { createReply } from '../../support/send.ts';

interceptRequests();

const { support, sales } = IDS.acme.workspaces;

const asTenant = ({ mailbox }: Service) => ({ key: mailbox.keys.acme.tenant });
const create = (service: Service, json: object) =>
  service.send('POST', '/v1/workspaces', { ...asTenant(service), json });
const statusOf = async ({ send }: Service, key: string) => (await send('GET', '/v1/me', { key })).status;

/** Names and the slugs made from them. */
const SLUGS: [name: string, slug: string][] = [
  ['Acme Corp', 'acme-corp'],
  ['  Acme   Corp  ', 'acme-corp'],
  ['Émile & Söhne', 'emile-sohne'],
  ['--R&D--', 'r-d'],
  ['2026', '2026'],
  ['日本', 'workspace'],
  ['x'.repeat(200), 'x'.repeat(60)],
  [`${'x'.repeat(59)} yz`, 'x'.repeat(59)],
];

describe('workspaces', () => {
  everywhere('a created one has the fields of the reference, is listed and is found', async (service) => {
    const created = await create(service, { name: ' Field work ', slug: 'field' });
    expect(created.status).toBe(201);
    const { id, createdAt } = created.json;
    expect(created.json).toEqual({
      id,
      name: 'Field work',
      slug: 'field',
      isDefault: false,
      inboxCount: 0,
      domainCount: 0,
      createdAt,
    });
    const { json } = await service.send('GET', '/v1/workspaces', asTenant(service));
    expect(json.workspaces.map((workspace: { id: string }) => workspace.id)).toEqual([support, sales, id]);
    expect(json.workspaces[2]).toEqual(created.json);
    expect((await service.send('GET', `/v1/workspaces/${id}`, asTenant(service))).json).toEqual(created.json);
  });

  everywhere('one of the fixture counts its inboxes and domains', async (service) => {
    const { json } = await service.send('GET', `/v1/workspaces/${support}`, asTenant(service));
    expect(json).toMatchObject({ slug: 'support', isDefault: true, inboxCount: 2, domainCount: 1 });
  });

  everywhere('the counts are updated when resources are created and deleted in it', async (service) => {
    const counts = async () => {
      const { inboxCount, domainCount } = (await service.send('GET', `/v1/workspaces/${sales}`, asTenant(service)))
        .json;
      return [inboxCount, domainCount];
    };
    const inSales = { key: service.mailbox.keys.acme.workspaces.sales };
    const { json } = await service.send('POST', '/v1/inboxes', { ...inSales, json: {} });
    await service.send('POST', '/v1/domains', { ...inSales, json: { domain: 'sales.example' } });
    expect(await counts()).toEqual([2, 1]);
    await service.send('DELETE', `/v1/inboxes/${json.id}`, inSales);
    await service.send('DELETE', '/v1/domains/sales.example', inSales);
    expect(await counts()).toEqual([1, 0]);
  });

  for (const [name, slug] of SLUGS) {
    everywhere(`the name ${JSON.stringify(name.slice(0, 70))} gives the slug ${slug}`, async (service) => {
      const { status, json } = await create(service, { name });
      expect([status, json.slug]).toEqual([201, slug]);
    });
  }

  everywhere('a slug is unique within a tenant, but free in another', async (service) => {
    const before = service.mailbox.snapshot();
    for (const json of [{ name: 'Sales' }, { name: 'Other', slug: 'sales' }]) {
      const taken = await create(service, json);
      expect([taken.status, taken.json]).toEqual([
        409,
        { error: 'A workspace with the slug sales already exists.', code: 'ALREADY_EXISTS' },
      ]);
    }
    expect(service.mailbox.snapshot()).toEqual(before);
    const key = service.mailbox.keys.globex.tenant;
    expect((await service.send('POST', '/v1/workspaces', { key, json: { name: 'Sales' } })).status).toBe(201);
  });

  everywhere('a slug is free again once its workspace is deleted', async (service) => {
    await service.send('DELETE', `/v1/workspaces/${sales}`, asTenant(service));
    expect((await create(service, { name: 'Sales' })).status).toBe(201);
  });

  everywhere('deleting one deletes everything in it at once, and nothing else', async (service) => {
    const { send, mailbox } = service;
    const { acme } = mailbox.keys;
    const inSales = { key: acme.workspaces.sales };
    const webhook = await send('POST', '/v1/webhooks', {
      ...inSales,
      json: { url: 'https://agent.example/', events: ['message.sent'] },
    });
    await send('POST', '/v1/domains', { ...inSales, json: { domain: 'sales.example' } });
    const inbox = await send('POST', '/v1/inboxes', { ...inSales, json: { username: 'gone' } });
    await send('POST', `/v1/inboxes/${inbox.json.id}/drafts`, { ...inSales, json: {} });
    const list = await send('POST', `/v1/inboxes/${inbox.json.id}/lists`, { ...inSales, json: { name: 'Leads' } });
    await send('POST', `/v1/inboxes/${inbox.json.id}/lists/${list.json.id}/entries`, {
      ...inSales,
      json: { email: 'lee@prospect.test' },
    });

    const deleted = await send('DELETE', `/v1/workspaces/${sales}`, asTenant(service));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: sales }]);

    for (const key of [acme.workspaces.sales, acme.inboxes.outreach, inbox.json.apiKey]) {
      expect(await statusOf(service, key)).toBe(401);
    }
    for (const key of [acme.tenant, acme.workspaces.support, acme.inboxes.helpdesk]) {
      expect(await statusOf(service, key)).toBe(200);
    }
    for (const path of [
      `/v1/workspaces/${sales}`,
      `/v1/inboxes/${inbox.json.id}`,
      `/v1/inboxes/${IDS.acme.inboxes.outreach}/messages`,
      `/v1/webhooks/${webhook.json.id}`,
      '/v1/domains/sales.example',
    ]) {
      expect((await send('GET', path, asTenant(service))).status, path).toBe(404);
    }
    const text = JSON.stringify(mailbox.snapshot());
    for (const id of [sales, inbox.json.id, IDS.acme.inboxes.outreach, IDS.acme.messages.talk, list.json.id]) {
      expect(text).not.toContain(id);
    }
    expect((await send('DELETE', `/v1/workspaces/${sales}`, asTenant(service))).status).toBe(404);
  });

  everywhere('deleting one frees its addresses for another tenant', async (service) => {
    const { send, mailbox } = service;
    const json = { username: 'wanted' };
    await send('POST', '/v1/inboxes', { key: mailbox.keys.acme.workspaces.sales, json });
    const asGlobex = { key: mailbox.keys.globex.tenant, query: { strict: true }, json };
    expect((await send('POST', '/v1/inboxes', asGlobex)).status).toBe(409);
    await send('DELETE', `/v1/workspaces/${sales}`, asTenant(service));
    const created = await send('POST', '/v1/inboxes', asGlobex);
    expect([created.status, created.json.email]).toEqual([201, 'wanted@mailbox.test']);
  });

  everywhere('the default one cannot be deleted', async (service) => {
    const before = service.mailbox.snapshot();
    const refused = await service.send('DELETE', `/v1/workspaces/${support}`, asTenant(service));
    expect([refused.status, refused.json]).toEqual([
      409,
      { error: 'The default workspace cannot be deleted.', code: 'CONFLICT' },
    ]);
    expect(service.mailbox.snapshot()).toEqual(before);
  });

  test('the first one of a tenant becomes the default one, and without one no inbox can be created', async () => {
    const mailbox = createMailbox({ fixtures: { tenants: { bare: { key: 'tk_bare_tenant_key' } } } });
    const call = async (method: string, path: string, json: object) => {
      const init = { method, headers: { 'X-API-Key': mailbox.keys.bare.tenant }, body: JSON.stringify(json) };
      const response = await mailbox.fetch(new Request(mailbox.baseUrl + path, init));
      const bytes = new Uint8Array(await response.arrayBuffer());
      const reply = createReply(response.status, response.headers, bytes);
      checkReply(mailbox, method, path, reply);
      return { status: reply.status, json: reply.json };
    };
    const before = mailbox.snapshot();
    const refused = await call('POST', '/v1/inboxes', {});
    const error = 'This tenant has no workspace; create one before you create an inbox.';
    expect(refused).toEqual({ status: 409, json: { error, code: 'CONFLICT' } });
    expect(mailbox.snapshot()).toEqual(before);
    const [first, second] = [
      await call('POST', '/v1/workspaces', { name: 'First' }),
      await call('POST', '/v1/workspaces', { name: 'Second' }),
    ];
    expect([first.json.isDefault, second.json.isDefault]).toEqual([true, false]);
    expect((await call('POST', '/v1/inboxes', {})).json.workspaceId).toBe(first.json.id);
    expect((await call('DELETE', `/v1/workspaces/${first.json.id}`, {})).status).toBe(409);
  });

  everywhere('a workspace of another tenant is not counted, listed or deleted', async (service) => {
    const key = service.mailbox.keys.globex.tenant;
    const { json } = await service.send('GET', '/v1/workspaces', { key });
    expect(json.workspaces).toHaveLength(1);
    expect(json.workspaces[0]).toMatchObject({ id: IDS.globex.workspaces.main, inboxCount: 1, domainCount: 0 });
    expect((await service.send('DELETE', `/v1/workspaces/${sales}`, { key })).status).toBe(404);
  });
});
