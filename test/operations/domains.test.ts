import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type World } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';

interceptRequests();

const asTenant = ({ mailbox }: World) => ({ key: mailbox.keys.acme.tenant });

const register = (world: World, json: object, key = world.mailbox.keys.acme.tenant) =>
  world.send('POST', '/v1/domains', { key, json });
const verify = (world: World, domain: string) => world.send('GET', `/v1/domains/${domain}/verify`, asTenant(world));
const createInbox = (world: World, domain: string, key = world.mailbox.keys.acme.tenant) =>
  world.send('POST', '/v1/inboxes', { key, json: { username: 'hello', domain } });

/** Domains and the status after verifying them. */
const OUTCOMES: [domain: string, status: string][] = [
  ['shop.example', 'verified'],
  ['fail.example', 'failed'],
  ['shop.fail.test', 'failed'],
  ['pending.example', 'pending'],
  ['shop.pending.test', 'pending'],
  ['verifying.example', 'pending'],
  ['shop.unknown.test', 'pending'],
  ['constructor.example', 'verified'],
  ['failing.example', 'verified'],
  ['my-fail.test', 'verified'],
];

describe('domains', () => {
  everywhere('a registered one is pending, is listed and is found by its name in any case', async (world) => {
    const created = await register(world, { domain: 'Shop.Example' });
    expect(created.status).toBe(201);
    const { id, createdAt, dnsRecords, ...rest } = created.json;
    expect(rest).toEqual({
      domain: 'shop.example',
      status: 'pending',
      workspaceId: null,
      inboundEnabled: false,
      outboundEnabled: false,
      verifiedAt: null,
      updatedAt: createdAt,
    });
    expect(dnsRecords.map(({ type, name, status }: Record<string, string>) => [type, name, status])).toEqual([
      ['MX', 'shop.example', 'pending'],
      ['TXT', 'shop.example', 'pending'],
      ['TXT', 'mailbox._domainkey.shop.example', 'pending'],
      ['TXT', '_dmarc.shop.example', 'pending'],
      ['CNAME', 'bounce.shop.example', 'pending'],
    ]);
    expect(dnsRecords[0].priority).toBe(10);
    for (const name of ['shop.example', 'SHOP.example', 'shop%2Eexample']) {
      const found = await world.send('GET', `/v1/domains/${name}`, asTenant(world));
      expect([found.status, found.json]).toEqual([200, created.json]);
    }
    const { json } = await world.send('GET', '/v1/domains', asTenant(world));
    expect(json.domains.map((domain: { id: string }) => domain.id)).toEqual([
      IDS.acme.domains.acme,
      IDS.acme.domains.mail,
      id,
    ]);
    expect(json.domains[2]).toEqual(created.json);
  });

  for (const [domain, status] of OUTCOMES) {
    everywhere(`verifying ${domain} sets its status to ${status}`, async (world) => {
      const created = await register(world, { domain });
      const verified = await verify(world, domain);
      expect([verified.status, verified.json.status]).toEqual([200, status]);
      for (const record of verified.json.dnsRecords) expect(record.status).toBe(status);
      const isVerified = status === 'verified';
      expect([verified.json.inboundEnabled, verified.json.outboundEnabled]).toEqual([isVerified, isVerified]);
      expect(verified.json.verifiedAt).toBe(isVerified ? verified.json.updatedAt : null);
      expect(verified.json.updatedAt >= created.json.updatedAt).toBe(true);
      expect((await world.send('GET', `/v1/domains/${domain}`, asTenant(world))).json).toEqual(verified.json);
      expect((await createInbox(world, domain)).status).toBe(status === 'verified' ? 201 : 400);
    });
  }

  everywhere('one is usable for inboxes and addresses only after it is verified', async (world) => {
    const key = world.mailbox.keys.acme.tenant;
    const addresses = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/addresses`;
    const addAddress = () => world.send('POST', addresses, { key, json: { email: 'help@shop.example' } });
    await register(world, { domain: 'shop.example' });
    const before = world.mailbox.snapshot();
    for (const refused of [await createInbox(world, 'shop.example'), await addAddress()]) {
      expect([refused.status, refused.json.error]).toEqual([
        400,
        'The domain shop.example is not verified for this workspace; verify it, or use mailbox.test.',
      ]);
    }
    expect(world.mailbox.snapshot()).toEqual(before);
    await verify(world, 'shop.example');
    const created = await createInbox(world, 'Shop.Example');
    expect([created.status, created.json.email]).toEqual([201, 'hello@shop.example']);
    expect((await addAddress()).status).toBe(201);
  });

  everywhere('one of a workspace is usable in that workspace only', async (world) => {
    const { tenant, workspaces } = world.mailbox.keys.acme;
    const created = await register(world, { domain: 'shop.example', workspaceId: IDS.acme.workspaces.sales });
    expect(created.json.workspaceId).toBe(IDS.acme.workspaces.sales);
    await verify(world, 'shop.example');
    expect((await createInbox(world, 'shop.example', workspaces.support)).status).toBe(400);
    expect((await createInbox(world, 'shop.example', tenant)).status).toBe(400);
    expect((await createInbox(world, 'shop.example', workspaces.sales)).status).toBe(201);
    const addresses = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/addresses`;
    const json = { email: 'help@shop.example' };
    expect((await world.send('POST', addresses, { key: tenant, json })).status).toBe(400);
  });

  everywhere('one that a workspace key registers belongs to its workspace', async (world) => {
    const key = world.mailbox.keys.acme.workspaces.sales;
    const created = await register(world, { domain: 'shop.example' }, key);
    expect(created.json.workspaceId).toBe(IDS.acme.workspaces.sales);
    expect((await world.send('GET', '/v1/domains', { key })).json.domains).toEqual([created.json]);
    const support = { key: world.mailbox.keys.acme.workspaces.support };
    expect((await world.send('GET', '/v1/domains/shop.example', support)).status).toBe(404);
    expect((await world.send('GET', '/v1/domains/shop.example/verify', { key })).json.status).toBe('verified');
  });

  everywhere('a tenant-wide one is usable in every workspace of its tenant, and in no other tenant', async (world) => {
    const { acme, globex } = world.mailbox.keys;
    expect((await createInbox(world, 'acme.test', acme.workspaces.sales)).status).toBe(201);
    expect((await createInbox(world, 'acme.test', globex.tenant)).status).toBe(400);
  });

  everywhere('one that the tenant already has, or the default one, cannot be registered', async (world) => {
    const before = world.mailbox.snapshot();
    for (const domain of ['acme.test', 'ACME.test', 'mail.acme.test', 'mailbox.test']) {
      for (const key of [world.mailbox.keys.acme.tenant, world.mailbox.keys.acme.workspaces.sales]) {
        const taken = await register(world, { domain }, key);
        expect([taken.status, taken.json]).toEqual([
          409,
          { error: `The domain ${domain.toLowerCase()} is already registered.`, code: 'ALREADY_EXISTS' },
        ]);
      }
    }
    expect(world.mailbox.snapshot()).toEqual(before);
  });

  for (const [domain, status] of [
    ['shop.example', 'verified'],
    ['fail.example', 'failed'],
    ['pending.example', 'pending'],
    ['verifying.example', 'verifying'],
    ['shop.unknown.test', 'unknown'],
  ]) {
    everywhere(
      `under domains.shape=wrapped ${domain} is ${status} in every reply`,
      { behaviours: { 'domains.shape': 'wrapped' } },
      async (world) => {
        const created = (await register(world, { domain })).json;
        const { createdAt, records, ...rest } = created.domain;
        const isEnabled = { inboundEnabled: false, outboundEnabled: false };
        expect(rest).toEqual({ domain, status: 'pending', ...isEnabled, verifiedAt: null });
        expect(createdAt).toMatch(/^\d{4}-/);
        expect(records).toEqual([
          { type: 'MX', host: domain, value: 'mx.mailbox.test', priority: 10 },
          { type: 'TXT', host: domain, value: 'v=spf1 include:spf.mailbox.test ~all' },
          { type: 'TXT', host: `mailbox._domainkey.${domain}`, value: expect.stringMatching(/^v=DKIM1; /) },
          { type: 'TXT', host: `_dmarc.${domain}`, value: 'v=DMARC1; p=none' },
          { type: 'CNAME', host: `bounce.${domain}`, value: 'bounce.mailbox.test' },
        ]);
        const verified = (await verify(world, `${domain}`)).json;
        expect(verified.domain.status).toBe(status);
        const found = (await world.send('GET', `/v1/domains/${domain}`, asTenant(world))).json;
        const listed = (await world.send('GET', '/v1/domains', asTenant(world))).json.domains;
        expect([found, listed.at(-1)]).toEqual([verified, verified.domain]);
      },
    );
  }

  everywhere('one that is verified again keeps the time of its first verification', async (world) => {
    await register(world, { domain: 'shop.example' });
    const { verifiedAt } = (await verify(world, 'shop.example')).json;
    await world.mailbox.clock.advance('1h');
    const again = (await verify(world, 'shop.example')).json;
    expect(again.verifiedAt).toBe(verifiedAt);
    expect(again.updatedAt > verifiedAt).toBe(true);
  });

  everywhere(
    'one that another tenant has verified can be neither verified nor used, and that tenant is not named',
    async (world) => {
      const { acme, globex } = world.mailbox.keys;
      const free = await register(world, { domain: 'nobodys.test' });
      const created = await register(world, { domain: 'globex.test' });
      const shape = ({ id, dnsRecords, domain, createdAt, updatedAt, ...rest }: Record<string, unknown>) => rest;
      expect([created.status, shape(created.json)]).toEqual([201, shape(free.json)]);
      expect(created.headers.get('x-mock-assumed')).toBe(free.headers.get('x-mock-assumed'));
      const before = world.mailbox.snapshot();
      const refused = await verify(world, 'globex.test');
      expect([refused.status, refused.json]).toEqual([
        409,
        { error: 'The domain globex.test cannot be verified: another tenant has verified it.', code: 'CONFLICT' },
      ]);
      expect(refused.headers.get('x-mock-assumed')).toContain('domains.verify.taken');
      const claim = { username: 'ceo', domain: 'globex.test' };
      expect((await world.send('POST', '/v1/inboxes', { key: acme.tenant, json: claim })).status).toBe(400);
      expect(world.mailbox.snapshot()).toEqual(before);
      expect((await world.send('GET', '/v1/domains/globex.test/verify', { key: globex.tenant })).status).toBe(200);
      await world.send('DELETE', '/v1/domains/globex.test', { key: globex.tenant });
      expect((await verify(world, 'globex.test')).json.status).toBe('verified');
    },
  );

  everywhere(
    'under domains.verify.taken=verified two tenants verify the same domain',
    { behaviours: { 'domains.verify.taken': 'verified' } },
    async (world) => {
      await register(world, { domain: 'globex.test' });
      expect((await verify(world, 'globex.test')).json.status).toBe('verified');
    },
  );

  everywhere('two tenants may register the same domain independently', async (world) => {
    const key = world.mailbox.keys.globex.tenant;
    const created = await register(world, { domain: 'acme.test' }, key);
    expect([created.status, created.json.status]).toEqual([201, 'pending']);
    await world.send('DELETE', '/v1/domains/acme.test', { key });
    expect((await world.send('GET', '/v1/domains/acme.test', asTenant(world))).json.status).toBe('verified');
  });

  everywhere('one can be deleted only once; its inboxes stay, but no new ones can be created', async (world) => {
    const { send } = world;
    const deleted = await send('DELETE', '/v1/domains/ACME.test', asTenant(world));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, domain: 'acme.test' }]);
    for (const method of ['GET', 'DELETE']) {
      const gone = await send(method, '/v1/domains/acme.test', asTenant(world));
      expect([gone.status, gone.json.error]).toEqual([404, 'There is no domain with this name.']);
    }
    expect((await createInbox(world, 'acme.test')).status).toBe(400);
    const inbox = await send('GET', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`, asTenant(world));
    expect(inbox.json.email).toBe('helpdesk@acme.test');
    const again = await register(world, { domain: 'acme.test' });
    expect([again.status, again.json.status]).toEqual([201, 'pending']);
  });

  everywhere('creating an existing inbox of a deleted domain returns that inbox', async (world) => {
    await register(world, { domain: 'shop.example' });
    await verify(world, 'shop.example');
    const { id } = (await createInbox(world, 'shop.example')).json;
    await world.send('DELETE', '/v1/domains/shop.example', asTenant(world));
    const { status, json } = await createInbox(world, 'shop.example');
    expect([status, json.id, json.existed]).toEqual([200, id, true]);
  });

  everywhere('mail to an inbox of a deleted domain still arrives', async (world) => {
    const { send } = world;
    await send('DELETE', '/v1/domains/acme.test', asTenant(world));
    await send('POST', `/v1/inboxes/${IDS.acme.inboxes.billing}/send`, {
      ...asTenant(world),
      json: { to: 'outreach@acme.test', subject: 'Still there?', verified: true },
    });
    const path = `/v1/inboxes/${IDS.acme.inboxes.outreach}/messages`;
    expect((await send('GET', path, asTenant(world))).json.messages[0].subject).toBe('Still there?');
  });

  everywhere('mail reaches an inbox on every domain that may be registered', async (world) => {
    for (const domain of ['a.b', 'xn--mnchen-3ya.xn--p1ai', '1.2.example', 'a--b.example']) {
      await register(world, { domain });
      await verify(world, domain);
      const { json } = await createInbox(world, domain);
      const mail = { to: json.email, subject: 'Welcome', verified: true };
      await world.send('POST', `/v1/inboxes/${IDS.acme.inboxes.billing}/send`, { ...asTenant(world), json: mail });
      const { messages } = (await world.send('GET', `/v1/inboxes/${json.id}/messages`, asTenant(world))).json;
      expect(
        messages.map(({ subject }: { subject: string }) => subject),
        domain,
      ).toEqual(['Welcome']);
    }
  });

  everywhere('a name that is not a domain name is not found', async (world) => {
    for (const name of [
      'nothing',
      'no.such.test',
      'acme.test.',
      '%20acme.test',
      'acme%2Ftest',
      IDS.acme.domains.acme,
    ]) {
      expect((await world.send('GET', `/v1/domains/${name}`, asTenant(world))).status, name).toBe(404);
    }
  });
});
