import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const asTenant = ({ mailbox }: Service) => ({ key: mailbox.keys.acme.tenant });

const register = (service: Service, json: object, key = service.mailbox.keys.acme.tenant) =>
  service.send('POST', '/v1/domains', { key, json });
const verify = (service: Service, domain: string) =>
  service.send('GET', `/v1/domains/${domain}/verify`, asTenant(service));
const createInbox = (service: Service, domain: string, key = service.mailbox.keys.acme.tenant) =>
  service.send('POST', '/v1/inboxes', { key, json: { username: 'hello', domain } });

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
  everywhere('a registered one is pending, is listed and is found by its name in any case', async (service) => {
    const created = await register(service, { domain: 'Shop.Example' });
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
      const found = await service.send('GET', `/v1/domains/${name}`, asTenant(service));
      expect([found.status, found.json]).toEqual([200, created.json]);
    }
    const { json } = await service.send('GET', '/v1/domains', asTenant(service));
    expect(json.domains.map((domain: { id: string }) => domain.id)).toEqual([
      IDS.acme.domains.acme,
      IDS.acme.domains.mail,
      id,
    ]);
    expect(json.domains[2]).toEqual(created.json);
  });

  for (const [domain, status] of OUTCOMES) {
    everywhere(`verifying ${domain} sets its status to ${status}`, async (service) => {
      const created = await register(service, { domain });
      const verified = await verify(service, domain);
      expect([verified.status, verified.json.status]).toEqual([200, status]);
      for (const record of verified.json.dnsRecords) expect(record.status).toBe(status);
      const isVerified = status === 'verified';
      expect([verified.json.inboundEnabled, verified.json.outboundEnabled]).toEqual([isVerified, isVerified]);
      expect(verified.json.verifiedAt).toBe(isVerified ? verified.json.updatedAt : null);
      expect(verified.json.updatedAt >= created.json.updatedAt).toBe(true);
      expect((await service.send('GET', `/v1/domains/${domain}`, asTenant(service))).json).toEqual(verified.json);
      expect((await createInbox(service, domain)).status).toBe(status === 'verified' ? 201 : 400);
    });
  }

  everywhere('one is usable for inboxes and addresses only after it is verified', async (service) => {
    const key = service.mailbox.keys.acme.tenant;
    const addresses = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/addresses`;
    const addAddress = () => service.send('POST', addresses, { key, json: { email: 'help@shop.example' } });
    await register(service, { domain: 'shop.example' });
    const before = service.mailbox.snapshot();
    for (const refused of [await createInbox(service, 'shop.example'), await addAddress()]) {
      expect([refused.status, refused.json.error]).toEqual([
        400,
        'The domain shop.example is not verified for this workspace; verify it, or use mailbox.test.',
      ]);
    }
    expect(service.mailbox.snapshot()).toEqual(before);
    await verify(service, 'shop.example');
    const created = await createInbox(service, 'Shop.Example');
    expect([created.status, created.json.email]).toEqual([201, 'hello@shop.example']);
    expect((await addAddress()).status).toBe(201);
  });

  everywhere('one of a workspace is usable in that workspace only', async (service) => {
    const { tenant, workspaces } = service.mailbox.keys.acme;
    const created = await register(service, { domain: 'shop.example', workspaceId: IDS.acme.workspaces.sales });
    expect(created.json.workspaceId).toBe(IDS.acme.workspaces.sales);
    await verify(service, 'shop.example');
    expect((await createInbox(service, 'shop.example', workspaces.support)).status).toBe(400);
    expect((await createInbox(service, 'shop.example', tenant)).status).toBe(400);
    expect((await createInbox(service, 'shop.example', workspaces.sales)).status).toBe(201);
    const addresses = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/addresses`;
    const json = { email: 'help@shop.example' };
    expect((await service.send('POST', addresses, { key: tenant, json })).status).toBe(400);
  });

  everywhere('one that a workspace key registers belongs to its workspace', async (service) => {
    const key = service.mailbox.keys.acme.workspaces.sales;
    const created = await register(service, { domain: 'shop.example' }, key);
    expect(created.json.workspaceId).toBe(IDS.acme.workspaces.sales);
    expect((await service.send('GET', '/v1/domains', { key })).json.domains).toEqual([created.json]);
    const support = { key: service.mailbox.keys.acme.workspaces.support };
    expect((await service.send('GET', '/v1/domains/shop.example', support)).status).toBe(404);
    expect((await service.send('GET', '/v1/domains/shop.example/verify', { key })).json.status).toBe('verified');
  });

  everywhere(
    'a tenant-wide one is usable in every workspace of its tenant, and in no other tenant',
    async (service) => {
      const { acme, globex } = service.mailbox.keys;
      expect((await createInbox(service, 'acme.test', acme.workspaces.sales)).status).toBe(201);
      expect((await createInbox(service, 'acme.test', globex.tenant)).status).toBe(400);
    },
  );

  everywhere('one that the tenant already has, or the default one, cannot be registered', async (service) => {
    const before = service.mailbox.snapshot();
    for (const domain of ['acme.test', 'ACME.test', 'mail.acme.test', 'mailbox.test']) {
      for (const key of [service.mailbox.keys.acme.tenant, service.mailbox.keys.acme.workspaces.sales]) {
        const taken = await register(service, { domain }, key);
        expect([taken.status, taken.json]).toEqual([
          409,
          { error: `The domain ${domain.toLowerCase()} is already registered.`, code: 'ALREADY_EXISTS' },
        ]);
      }
    }
    expect(service.mailbox.snapshot()).toEqual(before);
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
      async (service) => {
        const created = (await register(service, { domain })).json;
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
        const verified = (await verify(service, `${domain}`)).json;
        expect(verified.domain.status).toBe(status);
        const found = (await service.send('GET', `/v1/domains/${domain}`, asTenant(service))).json;
        const listed = (await service.send('GET', '/v1/domains', asTenant(service))).json.domains;
        expect([found, listed.at(-1)]).toEqual([verified, verified.domain]);
      },
    );
  }

  everywhere('one that is verified again keeps the time of its first verification', async (service) => {
    await register(service, { domain: 'shop.example' });
    const { verifiedAt } = (await verify(service, 'shop.example')).json;
    await service.mailbox.clock.advance('1h');
    const again = (await verify(service, 'shop.example')).json;
    expect(again.verifiedAt).toBe(verifiedAt);
    expect(again.updatedAt > verifiedAt).toBe(true);
  });

  everywhere(
    'one that another tenant has verified can be neither verified nor used, and that tenant is not named',
    async (service) => {
      const { acme, globex } = service.mailbox.keys;
      const free = await register(service, { domain: 'nobodys.test' });
      const created = await register(service, { domain: 'globex.test' });
      const shape = ({ id, dnsRecords, domain, createdAt, updatedAt, ...rest }: Record<string, unknown>) => rest;
      expect([created.status, shape(created.json)]).toEqual([201, shape(free.json)]);
      expect(created.headers.get('x-mock-assumed')).toBe(free.headers.get('x-mock-assumed'));
      const before = service.mailbox.snapshot();
      const refused = await verify(service, 'globex.test');
      expect([refused.status, refused.json]).toEqual([
        409,
        { error: 'The domain globex.test cannot be verified: another tenant has verified it.', code: 'CONFLICT' },
      ]);
      expect(refused.headers.get('x-mock-assumed')).toContain('domains.verify.taken');
      const claim = { username: 'ceo', domain: 'globex.test' };
      expect((await service.send('POST', '/v1/inboxes', { key: acme.tenant, json: claim })).status).toBe(400);
      expect(service.mailbox.snapshot()).toEqual(before);
      expect((await service.send('GET', '/v1/domains/globex.test/verify', { key: globex.tenant })).status).toBe(200);
      await service.send('DELETE', '/v1/domains/globex.test', { key: globex.tenant });
      expect((await verify(service, 'globex.test')).json.status).toBe('verified');
    },
  );

  everywhere(
    'under domains.verify.taken=verified two tenants verify the same domain',
    { behaviours: { 'domains.verify.taken': 'verified' } },
    async (service) => {
      await register(service, { domain: 'globex.test' });
      expect((await verify(service, 'globex.test')).json.status).toBe('verified');
    },
  );

  everywhere('two tenants may register the same domain independently', async (service) => {
    const key = service.mailbox.keys.globex.tenant;
    const created = await register(service, { domain: 'acme.test' }, key);
    expect([created.status, created.json.status]).toEqual([201, 'pending']);
    await service.send('DELETE', '/v1/domains/acme.test', { key });
    expect((await service.send('GET', '/v1/domains/acme.test', asTenant(service))).json.status).toBe('verified');
  });

  everywhere('one can be deleted only once; its inboxes stay, but no new ones can be created', async (service) => {
    const { send } = service;
    const deleted = await send('DELETE', '/v1/domains/ACME.test', asTenant(service));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, domain: 'acme.test' }]);
    for (const method of ['GET', 'DELETE']) {
      const gone = await send(method, '/v1/domains/acme.test', asTenant(service));
      expect([gone.status, gone.json.error]).toEqual([404, 'There is no domain with this name.']);
    }
    expect((await createInbox(service, 'acme.test')).status).toBe(400);
    const inbox = await send('GET', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}`, asTenant(service));
    expect(inbox.json.email).toBe('helpdesk@acme.test');
    const again = await register(service, { domain: 'acme.test' });
    expect([again.status, again.json.status]).toEqual([201, 'pending']);
  });

  everywhere('creating an existing inbox of a deleted domain returns that inbox', async (service) => {
    await register(service, { domain: 'shop.example' });
    await verify(service, 'shop.example');
    const { id } = (await createInbox(service, 'shop.example')).json;
    await service.send('DELETE', '/v1/domains/shop.example', asTenant(service));
    const { status, json } = await createInbox(service, 'shop.example');
    expect([status, json.id, json.existed]).toEqual([200, id, true]);
  });

  everywhere('mail to an inbox of a deleted domain still arrives', async (service) => {
    const { send } = service;
    await send('DELETE', '/v1/domains/acme.test', asTenant(service));
    await send('POST', `/v1/inboxes/${IDS.acme.inboxes.billing}/send`, {
      ...asTenant(service),
      json: { to: 'outreach@acme.test', subject: 'Still there?', verified: true },
    });
    const path = `/v1/inboxes/${IDS.acme.inboxes.outreach}/messages`;
    expect((await send('GET', path, asTenant(service))).json.messages[0].subject).toBe('Still there?');
  });

  everywhere('mail reaches an inbox on every domain that may be registered', async (service) => {
    for (const domain of ['a.b', 'xn--mnchen-3ya.xn--p1ai', '1.2.example', 'a--b.example']) {
      await register(service, { domain });
      await verify(service, domain);
      const { json } = await createInbox(service, domain);
      const mail = { to: json.email, subject: 'Welcome', verified: true };
      await service.send('POST', `/v1/inboxes/${IDS.acme.inboxes.billing}/send`, { ...asTenant(service), json: mail });
      const { messages } = (await service.send('GET', `/v1/inboxes/${json.id}/messages`, asTenant(service))).json;
      expect(
        messages.map(({ subject }: { subject: string }) => subject),
        domain,
      ).toEqual(['Welcome']);
    }
  });

  everywhere('a name that is not a domain name is not found', async (service) => {
    for (const name of [
      'nothing',
      'no.such.test',
      'acme.test.',
      '%20acme.test',
      'acme%2Ftest',
      IDS.acme.domains.acme,
    ]) {
      expect((await service.send('GET', `/v1/domains/${name}`, asTenant(service))).status, name).toBe(404);
    }
  });
});
