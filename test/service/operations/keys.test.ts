import { createMailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const SUPPORT_KEYS = `/v1/workspaces/${IDS.acme.workspaces.support}/keys`;

/** Returns whether a key of any tier is accepted: a wrong tier results in 403, a revoked key in 401. */
const isAlive = (status: number) => status !== 401;

describe('keys', () => {
  everywhere('rotating an inbox key revokes the old key at once and creates a valid one', async (service) => {
    const { send, mailbox } = service;
    const { tenant, inboxes } = mailbox.keys.acme;
    const rotated = await send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`, { key: tenant });
    expect(rotated.status).toBe(201);
    expect(rotated.json).toMatchObject({ inboxId: IDS.acme.inboxes.helpdesk, prefix: rotated.json.key.slice(0, 9) });
    expect(rotated.json.key).toMatch(/^ak_/);
    const [old, fresh] = await Promise.all([
      send('GET', '/v1/webhooks', { key: inboxes.helpdesk }),
      send('GET', '/v1/webhooks', { key: rotated.json.key }),
    ]);
    expect([old.status, fresh.status]).toEqual([401, 403]);
  });

  everywhere('rotating twice leaves only the newest key', async ({ send, mailbox }) => {
    const path = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`;
    const first = await send('POST', path, { key: mailbox.keys.acme.tenant });
    const second = await send('POST', path, { key: mailbox.keys.acme.tenant });
    const status = async (key: string) => (await send('GET', '/v1/webhooks', { key })).status;
    expect(isAlive(await status(first.json.key))).toBe(false);
    expect(isAlive(await status(second.json.key))).toBe(true);
  });

  everywhere(
    "rotation leaves the inbox's mail, other inboxes' keys and everything else as they were",
    async (service) => {
      const { send, mailbox } = service;
      const before = mailbox.snapshot();
      await send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`, { key: mailbox.keys.acme.tenant });
      const after = mailbox.snapshot();
      const [acmeBefore, globexBefore] = before.tenants;
      const [acmeAfter, globexAfter] = after.tenants;
      expect(globexAfter).toEqual(globexBefore);
      expect({ ...acmeAfter, apiKeys: [] }).toEqual({ ...acmeBefore, apiKeys: [] });
      const others = (keys: typeof acmeAfter) =>
        keys?.apiKeys.filter((row) => row.ownerId !== IDS.acme.inboxes.helpdesk);
      expect(others(acmeAfter)).toEqual(others(acmeBefore));
      expect(acmeAfter?.apiKeys).toHaveLength(acmeBefore?.apiKeys.length ?? 0);
    },
  );

  everywhere('a key that is revoked while its request is being received is refused', async ({ mailbox, url, send }) => {
    const key = mailbox.keys.acme.workspaces.support;
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const write = (text: string) => writer.write(new TextEncoder().encode(text));
    const init = { method: 'POST', headers: { 'X-API-Key': key }, body: readable, duplex: 'half' };
    const late = fetch(`${url}/v1/webhooks`, init as RequestInit);
    await write('{"url":"https://late.example/",');
    await send('DELETE', `${SUPPORT_KEYS}/${IDS.acme.keys.support}`, { key: mailbox.keys.acme.tenant });
    await write('"events":["message.received"]}');
    await writer.close();
    expect((await late).status).toBe(401);
  });

  everywhere('a complete workspace key is shown only when it is created', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const created = await send('POST', SUPPORT_KEYS, { key, json: { name: 'ci' } });
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ name: 'ci', workspaceId: IDS.acme.workspaces.support });
    const listed = await send('GET', SUPPORT_KEYS, { key });
    expect(listed.json.keys).toHaveLength(2);
    const { id, prefix, name, createdAt } = created.json;
    expect(listed.json.keys[1]).toEqual({ id, prefix, name, createdAt });
    expect(listed.text).not.toContain(created.json.key);
  });

  everywhere('a workspace key may be created without a name, or a body', async ({ send, mailbox }) => {
    const created = await send('POST', SUPPORT_KEYS, {
      key: mailbox.keys.acme.tenant,
      headers: { 'Content-Type': 'application/json' },
    });
    expect([created.status, created.json.name]).toEqual([201, null]);
  });

  everywhere('a new workspace key works for its own workspace, until it is deleted', async ({ send, mailbox }) => {
    const { tenant } = mailbox.keys.acme;
    const { json } = await send('POST', SUPPORT_KEYS, { key: tenant, json: {} });
    const listed = await send('GET', '/v1/webhooks', { key: json.key });
    expect(listed.json.webhooks.map(({ id }: { id: string }) => id)).toEqual([IDS.acme.webhooks.support]);
    const deleted = await send('DELETE', `${SUPPORT_KEYS}/${json.id}`, { key: tenant });
    expect([deleted.status, deleted.json]).toEqual([200, { revoked: true, id: json.id }]);
    expect((await send('GET', '/v1/webhooks', { key: json.key })).status).toBe(401);
    expect((await send('DELETE', `${SUPPORT_KEYS}/${json.id}`, { key: tenant })).status).toBe(404);
  });

  everywhere("a key id under another workspace's path is not found, and stays valid", async ({ send, mailbox }) => {
    const { tenant, workspaces } = mailbox.keys.acme;
    const deleted = await send('DELETE', `${SUPPORT_KEYS}/${IDS.acme.keys.sales}`, { key: tenant });
    expect(deleted.status).toBe(404);
    expect((await send('GET', '/v1/webhooks', { key: workspaces.sales })).status).toBe(200);
  });

  everywhere('the id of an inbox key is not found as a workspace key', async ({ send, mailbox }) => {
    const { json } = await send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`, {
      key: mailbox.keys.acme.tenant,
    });
    const deleted = await send('DELETE', `${SUPPORT_KEYS}/${json.id}`, { key: mailbox.keys.acme.tenant });
    expect(deleted.status).toBe(404);
    expect((await send('GET', '/v1/webhooks', { key: json.key })).status).toBe(403);
  });

  everywhere('a workspace key may be named null, as a reply shows one without a name', async ({ send, mailbox }) => {
    const created = await send('POST', SUPPORT_KEYS, { key: mailbox.keys.acme.tenant, json: { name: null } });
    expect([created.status, created.json.name]).toEqual([201, null]);
  });

  everywhere(
    "under errors.foreign-resource=forbidden a tenant key reaches a sibling's key, which is just not here",
    { behaviours: { 'errors.foreign-resource': 'forbidden' } },
    async ({ send, mailbox }) => {
      const path = `${SUPPORT_KEYS}/${IDS.acme.keys.sales}`;
      expect((await send('DELETE', path, { key: mailbox.keys.acme.tenant })).status).toBe(404);
    },
  );

  test('a failed rotation keeps the old key', async () => {
    const failing = () => {
      throw new Error('no randomness');
    };
    const mailbox = createMailbox({ environment: { randomBytes: failing } });
    const before = mailbox.snapshot();
    const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
    const path = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`;
    const reply = await mailbox.fetch(new Request(mailbox.baseUrl + path, { method: 'POST', headers }));
    expect(reply.status).toBe(500);
    expect(mailbox.snapshot()).toEqual(before);
  });

  test('a tenant whose creation fails does not exist', async () => {
    let calls = 0;
    const randomBytes = (length: number) => {
      calls += 1;
      if (calls > 3) throw new Error('no randomness');
      return new Uint8Array(length).fill(calls);
    };
    const mailbox = createMailbox({ environment: { randomBytes } });
    const before = mailbox.snapshot();
    const init = { method: 'POST', headers: { 'X-API-Key': mailbox.keys.operator }, body: '{"name":"Initech"}' };
    const reply = await mailbox.fetch(new Request(`${mailbox.baseUrl}/v1/tenants`, init));
    expect(reply.status).toBe(500);
    expect(mailbox.snapshot()).toEqual(before);
  });

  test('an existing key text is never given to another tenant', async () => {
    let calls = 0;
    // Ids differ; the text of every key is the same.
    const randomBytes = (length: number) => {
      calls += 1;
      return new Uint8Array(length).fill(length === 16 ? calls : 7);
    };
    const mailbox = createMailbox({ environment: { randomBytes } });
    const create = (key: string, workspace: string) => {
      const init = { method: 'POST', headers: { 'X-API-Key': key } };
      return mailbox.fetch(new Request(`${mailbox.baseUrl}/v1/workspaces/${workspace}/keys`, init));
    };
    const { acme, globex } = mailbox.keys;
    expect((await create(acme.tenant, IDS.acme.workspaces.support)).status).toBe(201);
    const before = mailbox.snapshot();
    expect((await create(globex.tenant, IDS.globex.workspaces.main)).status).toBe(500);
    expect(mailbox.snapshot()).toEqual(before);
  });

  everywhere('a workspace key can delete itself', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.workspaces.support;
    expect((await send('DELETE', `${SUPPORT_KEYS}/${IDS.acme.keys.support}`, { key })).status).toBe(200);
    expect((await send('GET', '/v1/webhooks', { key })).status).toBe(401);
  });
});

everywhere('the name of a key has at most 200 characters', async ({ send }) => {
  const path = `/v1/workspaces/${IDS.acme.workspaces.support}/keys`;
  const create = (name: string) => send('POST', path, { key: 'tk_acme_tenant_key', json: { name } });
  expect((await create('x'.repeat(200))).status).toBe(201);
  expect((await create('x'.repeat(201))).json.error).toContain('name must be at most 200 characters long');
});
