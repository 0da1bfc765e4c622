import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type SendOptions, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { helpdesk, billing, outreach } = IDS.acme.inboxes;

const asTenant = ({ mailbox }: Service) => ({ key: mailbox.keys.acme.tenant });
const asGlobex = ({ mailbox }: Service) => ({ key: mailbox.keys.globex.tenant });
const create = (service: Service, json: object, options: SendOptions = asTenant(service)) =>
  service.send('POST', '/v1/inboxes', { ...options, json });
const get = (service: Service, id: string) => service.send('GET', `/v1/inboxes/${id}`, asTenant(service));

const TAKEN = (address: string) => ({ error: `The address ${address} is taken.`, code: 'USERNAME_TAKEN' });

describe('inboxes', () => {
  everywhere('a created one has its credentials and a key that works, and is found as created', async (service) => {
    const created = await create(service, { username: 'ada', displayName: 'Ada' });
    const { id, apiKey, imapPassword: password, createdAt, ...rest } = created.json;
    expect(created.status).toBe(201);
    const username = 'ada@mailbox.test';
    expect(rest).toEqual({
      email: username,
      canonicalEmail: username,
      username: 'ada',
      domain: 'mailbox.test',
      displayName: 'Ada',
      workspaceId: IDS.acme.workspaces.support,
      addresses: [{ address: username, isPrimary: true }],
      metadata: null,
      imap: { host: 'imap.mailbox.test', port: 993, tls: true, username, password },
      smtp: { host: 'smtp.mailbox.test', port: 587, starttls: true, username, password },
    });
    expect(password).toMatch(/^[\w-]{24}$/);
    const me = await service.send('GET', '/v1/me', { key: apiKey });
    expect(me.json).toMatchObject({ tier: 'inbox', inboxId: id, email: username });
    const { apiKey: _, ...shown } = created.json;
    expect((await get(service, id)).json).toEqual(shown);
  });

  everywhere(
    'creating it again returns 200 and the inbox without credentials, and changes nothing',
    async (service) => {
      const created = await create(service, { username: 'ada', displayName: 'Ada' });
      const before = service.mailbox.snapshot();
      for (const query of [{}, { strict: true }, { strict: false }]) {
        const options = { ...asTenant(service), query };
        const again = await create(service, { username: 'ada', domain: 'MAILBOX.test', displayName: 'Eve' }, options);
        const { apiKey, imapPassword, imap, smtp, ...plain } = created.json;
        expect([again.status, again.json]).toEqual([200, { ...plain, existed: true }]);
        for (const secret of [apiKey, imapPassword]) expect(again.text).not.toContain(secret);
      }
      expect(service.mailbox.snapshot()).toEqual(before);
    },
  );

  everywhere('creating one with a further address of an own inbox returns that inbox', async (service) => {
    await service.send('POST', `/v1/inboxes/${helpdesk}/addresses`, {
      ...asTenant(service),
      json: { email: 'help@mailbox.test' },
    });
    const { status, json } = await create(service, { username: 'help' });
    expect([status, json.id, json.existed]).toEqual([200, helpdesk, true]);
  });

  everywhere('the first free number is appended to a name that another tenant has', async (service) => {
    await create(service, { username: 'ada' }, asGlobex(service));
    const names = [];
    for (const username of ['ada', 'ada2', 'ada']) names.push((await create(service, { username })).json);
    expect(names.map(({ email, username }) => [email, username])).toEqual([
      ['ada1@mailbox.test', 'ada1'],
      ['ada2@mailbox.test', 'ada2'],
      ['ada3@mailbox.test', 'ada3'],
    ]);
  });

  everywhere('a number is also appended to a name out of the scope of a workspace key', async (service) => {
    const { support, sales } = service.mailbox.keys.acme.workspaces;
    await create(service, { username: 'ada' }, { key: sales });
    const { status, json } = await create(service, { username: 'ada' }, { key: support });
    expect([status, json.username, json.workspaceId]).toEqual([201, 'ada1', IDS.acme.workspaces.support]);
  });

  everywhere('a name that another tenant has is refused with strict=true', async (service) => {
    await create(service, { username: 'ada' }, asGlobex(service));
    const before = service.mailbox.snapshot();
    const refused = await create(service, { username: 'ada' }, { ...asTenant(service), query: { strict: true } });
    expect([refused.status, refused.json]).toEqual([409, TAKEN('ada@mailbox.test')]);
    expect(service.mailbox.snapshot()).toEqual(before);
  });

  everywhere('a name is refused when all its 99 numbers are taken', async (service) => {
    const numbers = Array.from({ length: 99 }, (_, index) => `ada${index + 1}`);
    for (const username of ['ada', ...numbers.slice(0, 98)]) await create(service, { username }, asGlobex(service));
    expect((await create(service, { username: 'ada' })).json.username).toBe('ada99');
    const before = service.mailbox.snapshot();
    const key = service.mailbox.keys.acme.workspaces.sales;
    const refused = await create(service, { username: 'ada' }, { key });
    expect([refused.status, refused.json]).toEqual([409, TAKEN('ada@mailbox.test')]);
    expect(service.mailbox.snapshot()).toEqual(before);
  });

  everywhere('without a name it gets a new generated name each time', async (service) => {
    const [one, two] = [await create(service, {}), await service.send('POST', '/v1/inboxes', asTenant(service))];
    for (const { status, json } of [one, two]) {
      expect([status, json.displayName]).toEqual([201, null]);
      expect(json.username).toMatch(/^acme-[0-9a-f]{8}$/);
    }
    expect(one.json.username).not.toBe(two.json.username);
  });

  everywhere('a generated name starts with the name of the tenant, as far as it fits', async ({ send, mailbox }) => {
    const starts = {
      'Acme Corp': 'acme-corp',
      ' Café & Co. ': 'cafe-co',
      '東京 3': '3',
      東京: 'agent',
      '-': 'agent',
      [`${'x'.repeat(54)} y`]: 'x'.repeat(54),
      ['x'.repeat(200)]: 'x'.repeat(55),
    };
    for (const [name, start] of Object.entries(starts)) {
      const tenant = await send('POST', '/v1/tenants', { key: mailbox.keys.operator, json: { name } });
      const { status, json } = await send('POST', '/v1/inboxes', { key: tenant.json.apiKey, json: {} });
      expect([name, status, json.username.slice(0, -9)]).toEqual([name, 201, start]);
      expect(json.username.slice(-9)).toMatch(/^-[0-9a-f]{8}$/);
      const again = await send('POST', '/v1/inboxes', { key: tenant.json.apiKey, json: { username: json.username } });
      expect([again.status, again.json.existed]).toEqual([200, true]);
    }
  });

  everywhere('a generated name leaves room for a long domain', async (service) => {
    const starts: [length: number, start: string | undefined][] = [
      [20, 'acme'],
      [239, 'acme'],
      [242, 'ac'],
      [243, 'a'],
      [244, undefined],
    ];
    for (const [length, start] of starts) {
      const domain = `${'a'.repeat(1 + (length % 2))}${'.a'.repeat((length - 6 - (length % 2)) / 2)}.test`;
      await service.send('POST', '/v1/domains', { ...asTenant(service), json: { domain } });
      await service.send('GET', `/v1/domains/${domain}/verify`, asTenant(service));
      const { status, json } = await create(service, { domain });
      const expected = start === undefined ? 400 : 201;
      expect([domain.length, status, json.username?.slice(0, -9)]).toEqual([length, expected, start]);
    }
  });

  everywhere('a user name may contain letters, digits and . - _', async (service) => {
    for (const username of ['a', '0', 'a.b-c_d', 'x'.repeat(64), 'a--b', 'a-', 'a_']) {
      const { status, json } = await create(service, { username });
      expect([status, json.email]).toEqual([201, `${username}@mailbox.test`]);
    }
  });

  everywhere('mail reaches an inbox with any valid user name', async (service) => {
    for (const username of ['a', 'a.b-c_d', 'x'.repeat(64), 'a--b', 'a-', 'a_']) {
      const { json } = await create(service, { username });
      await sendTo(service, json.email);
      expect(await subjects(service, json.id), username).toEqual(['Hello']);
    }
  });

  everywhere('it belongs to the workspace that the key selects or has', async (service) => {
    const { sales } = IDS.acme.workspaces;
    const selected = await create(service, { username: 'ada', workspaceId: sales });
    const bound = await create(service, { username: 'bob' }, { key: service.mailbox.keys.acme.workspaces.sales });
    expect([selected.json.workspaceId, bound.json.workspaceId]).toEqual([sales, sales]);
  });

  everywhere('a workspace key cannot tell whether a taken name is in its own tenant', async (service) => {
    const { acme } = service.mailbox.keys;
    await create(service, { username: 'near', workspaceId: IDS.acme.workspaces.sales });
    await create(service, { username: 'away' }, asGlobex(service));
    const ask = (username: string, query: Record<string, boolean>) =>
      service.send('POST', '/v1/inboxes', { key: acme.workspaces.support, query, json: { username } });
    for (const query of [{ strict: true }, {}]) {
      const [near, away] = [await ask('near', query), await ask('away', query)];
      expect([near.status, near.json.username]).toEqual([away.status, away.json.username?.replace('away', 'near')]);
      expect(near.json.error).toBe(away.json.error?.replace('away', 'near'));
      expect(near.headers.get('x-mock-assumed')).toBe(away.headers.get('x-mock-assumed'));
      expect([...near.headers.keys()]).toEqual([...away.headers.keys()]);
    }
  });

  everywhere('the list is oldest first, without credentials, and can be narrowed by a selector', async (service) => {
    const created = await create(service, { username: 'ada', workspaceId: IDS.acme.workspaces.sales });
    const ids = async (query = {}) => {
      const { json, text } = await service.send('GET', '/v1/inboxes', { ...asTenant(service), query });
      expect(text).not.toMatch(/password|imap|smtp|apiKey/i);
      return json.inboxes.map(({ id }: { id: string }) => id);
    };
    expect(await ids()).toEqual([helpdesk, billing, outreach, created.json.id]);
    expect(await ids({ workspace: IDS.acme.workspaces.sales })).toEqual([outreach, created.json.id]);
    expect(await ids({ workspace: IDS.acme.workspaces.support })).toEqual([helpdesk, billing]);
  });

  everywhere('a change of display name and metadata returns the id, and is visible', async (service) => {
    const patch = async (json: object) => {
      const { status, json: reply } = await service.send('PATCH', `/v1/inboxes/${helpdesk}`, {
        ...asTenant(service),
        json,
      });
      expect([status, reply]).toEqual([200, { updated: true, id: helpdesk }]);
      const { displayName, metadata } = (await get(service, helpdesk)).json;
      return { displayName, metadata };
    };
    const metadata = { team: 'one', nested: { list: [1, 'two', null] } };
    expect(await patch({ displayName: 'Help', metadata })).toEqual({ displayName: 'Help', metadata });
    expect(await patch({})).toEqual({ displayName: 'Help', metadata });
    expect(await patch({ metadata: { other: true } })).toEqual({ displayName: 'Help', metadata: { other: true } });
    expect(await patch({ displayName: null, metadata: null })).toEqual({ displayName: null, metadata: null });
  });

  everywhere('a changed one keeps its place in the list', async (service) => {
    await service.send('PATCH', `/v1/inboxes/${helpdesk}`, { ...asTenant(service), json: { displayName: 'Help' } });
    const { json } = await service.send('GET', '/v1/inboxes', asTenant(service));
    expect(json.inboxes.map(({ id }: { id: string }) => id)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('the key of a created one can be rotated', async (service) => {
    const { json } = await create(service, {});
    const rotated = await service.send('POST', `/v1/inboxes/${json.id}/keys`, asTenant(service));
    const statusOf = async (key: string) => (await service.send('GET', `/v1/inboxes/${json.id}`, { key })).status;
    expect([await statusOf(json.apiKey), await statusOf(rotated.json.key)]).toEqual([401, 200]);
  });

  everywhere(
    'mail that it sends carries its display name and its primary address',
    { behaviours: { 'messages.addresses': 'display' } },
    async (service) => {
      await addAddress(service, helpdesk, { email: 'help@mailbox.test' });
      await service.send('PATCH', `/v1/inboxes/${helpdesk}`, {
        ...asTenant(service),
        json: { displayName: 'Help, please' },
      });
      const { json } = await sendTo(service, 'billing@acme.test', helpdesk);
      const sent = await service.send('GET', `/v1/inboxes/${helpdesk}/messages/${json.id}`, asTenant(service));
      expect(sent.json.from).toBe('"Help, please" <help@mailbox.test>');
    },
  );

  everywhere('deleting one ends its key, addresses, drafts and lists at once, and hides its mail', async (service) => {
    const { send, mailbox } = service;
    await addAddress(service, helpdesk, { email: 'help@mailbox.test' });
    const deleted = await send('DELETE', `/v1/inboxes/${helpdesk}`, asTenant(service));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: helpdesk }]);
    expect((await send('GET', '/v1/me', { key: mailbox.keys.acme.inboxes.helpdesk })).status).toBe(401);
    expect((await send('GET', '/v1/me', { key: mailbox.keys.acme.inboxes.billing })).status).toBe(200);
    for (const path of ['', '/messages', '/drafts', '/lists', '/threads', `/messages/${IDS.acme.messages.thanks}`]) {
      expect((await send('GET', `/v1/inboxes/${helpdesk}${path}`, asTenant(service))).status, path).toBe(404);
    }
    const { json } = await send('GET', '/v1/messages', asTenant(service));
    expect(json.messages.filter(({ inboxId }: { inboxId: string }) => inboxId === helpdesk)).toEqual([]);
    const [acme] = mailbox.snapshot().tenants;
    expect([acme?.drafts, acme?.lists, acme?.listEntries]).toEqual([[], [], []]);
    expect(acme?.addresses.filter(({ inboxId }) => inboxId === helpdesk)).toEqual([]);
    for (const method of ['DELETE', 'PATCH']) {
      expect((await send(method, `/v1/inboxes/${helpdesk}`, asTenant(service))).status).toBe(404);
    }
    expect((await send('POST', `/v1/inboxes/${helpdesk}/keys`, asTenant(service))).status).toBe(404);
  });

  everywhere('deleting one keeps its messages, as the state shows', async (service) => {
    const messages = () => service.mailbox.snapshot().tenants[0]?.messages;
    const before = messages();
    await service.send('DELETE', `/v1/inboxes/${helpdesk}`, asTenant(service));
    expect(messages()).toEqual(before);
  });

  everywhere('mail to a deleted one bounces, and its address is free for a new one', async (service) => {
    const first = await create(service, { username: 'ada' });
    await service.send('DELETE', `/v1/inboxes/${first.json.id}`, asTenant(service));
    const { json } = await sendTo(service, 'ada@mailbox.test');
    const [acme] = service.mailbox.snapshot().tenants;
    expect(acme?.messages.find(({ id }) => id === json.id)?.bouncedAt).not.toBeNull();
    const second = await create(service, { username: 'ada' }, asGlobex(service));
    expect([second.status, second.json.email]).toEqual([201, 'ada@mailbox.test']);
    expect(second.json.id).not.toBe(first.json.id);
    await sendTo(service, 'ada@mailbox.test');
    const path = `/v1/inboxes/${second.json.id}/messages`;
    expect((await service.send('GET', path, asGlobex(service))).json.pagination.total).toBe(1);
  });
});

describe('addresses', () => {
  everywhere('an added one becomes the primary one unless the request says otherwise', async (service) => {
    const first = await addAddress(service, helpdesk, { email: 'Help@Mailbox.TEST' });
    expect([first.status, first.json]).toEqual([201, { ok: true, address: 'help@mailbox.test', isPrimary: true }]);
    const second = await addAddress(service, helpdesk, { email: 'sos@acme.test', primary: false });
    expect([second.status, second.json]).toEqual([201, { ok: true, address: 'sos@acme.test', isPrimary: false }]);
    expect((await get(service, helpdesk)).json).toMatchObject({
      email: 'help@mailbox.test',
      canonicalEmail: 'helpdesk@acme.test',
      imap: { username: 'helpdesk@acme.test' },
      addresses: [
        { address: 'helpdesk@acme.test', isPrimary: false },
        { address: 'help@mailbox.test', isPrimary: true },
        { address: 'sos@acme.test', isPrimary: false },
      ],
    });
  });

  everywhere('mail to a further one arrives only once, even if it names several', async (service) => {
    await addAddress(service, outreach, { email: 'sales@mailbox.test', primary: false });
    await sendTo(service, ['Sales <SALES@mailbox.test>', 'outreach@acme.test']);
    expect(await subjects(service, outreach)).toEqual(['Hello', 'Shall we talk?']);
  });

  everywhere('a removed one receives no more mail, and is free for another tenant', async (service) => {
    await addAddress(service, outreach, { email: 'sales@mailbox.test' });
    const removed = await removeAddress(service, outreach, 'SALES@mailbox.test');
    expect([removed.status, removed.json]).toEqual([200, { deleted: true, address: 'sales@mailbox.test' }]);
    await sendTo(service, 'sales@mailbox.test');
    expect(await subjects(service, outreach)).toEqual(['Shall we talk?']);
    expect((await create(service, { username: 'sales' }, asGlobex(service))).json.email).toBe('sales@mailbox.test');
  });

  everywhere('when the primary one is removed the canonical one takes its place', async (service) => {
    await addAddress(service, helpdesk, { email: 'first@mailbox.test' });
    await addAddress(service, helpdesk, { email: 'second@mailbox.test' });
    await removeAddress(service, helpdesk, 'first@mailbox.test');
    expect((await get(service, helpdesk)).json.email).toBe('second@mailbox.test');
    await removeAddress(service, helpdesk, 'second%40mailbox.test');
    expect((await get(service, helpdesk)).json).toMatchObject({
      email: 'helpdesk@acme.test',
      addresses: [{ address: 'helpdesk@acme.test', isPrimary: true }],
    });
  });

  everywhere('the canonical one cannot be removed, primary or not', async (service) => {
    for (const prepare of [async () => {}, () => addAddress(service, helpdesk, { email: 'help@mailbox.test' })]) {
      await prepare();
      const before = service.mailbox.snapshot();
      const refused = await removeAddress(service, helpdesk, 'helpdesk@acme.test');
      expect([refused.status, refused.json]).toEqual([
        409,
        { error: 'The canonical address of an inbox cannot be removed.', code: 'CONFLICT' },
      ]);
      expect(service.mailbox.snapshot()).toEqual(before);
    }
  });

  everywhere('one that any inbox of any tenant has returns 409', async (service) => {
    await create(service, { username: 'ada' }, asGlobex(service));
    const before = service.mailbox.snapshot();
    for (const email of ['ada@mailbox.test', 'ADA@mailbox.test', 'billing@acme.test', 'helpdesk@acme.test']) {
      const refused = await addAddress(service, helpdesk, { email });
      const error = `The address ${email.toLowerCase()} is taken.`;
      expect([refused.status, refused.json]).toEqual([409, { error, code: 'ALREADY_EXISTS' }]);
    }
    expect(service.mailbox.snapshot()).toEqual(before);
  });

  everywhere('a tagged form of the address of any other inbox of any tenant is taken', async (service) => {
    await create(service, { username: 'bob' }, asGlobex(service));
    const before = service.mailbox.snapshot();
    for (const email of ['bob+orders@mailbox.test', 'Bob+a+b@mailbox.test', 'billing+bills@acme.test']) {
      const refused = await addAddress(service, helpdesk, { email });
      const error = `The address ${email.toLowerCase()} is taken.`;
      expect([refused.status, refused.json]).toEqual([409, { error, code: 'ALREADY_EXISTS' }]);
      expect(refused.headers.get('x-mock-assumed')).toContain('sending.plus-tags');
    }
    expect(service.mailbox.snapshot()).toEqual(before);
    await sendTo(service, 'bob+orders@mailbox.test');
    expect(await subjects(service, helpdesk)).not.toContain('Hello');
  });

  everywhere('a tagged form of an own address is free, and so is one of an unused address', async (service) => {
    for (const email of ['helpdesk+orders@acme.test', 'nobody+orders@mailbox.test', 'nobody@mailbox.test']) {
      expect((await addAddress(service, helpdesk, { email })).status).toBe(201);
    }
  });

  everywhere('an address whose tagged form another inbox has is taken until that is removed', async (service) => {
    const strict = { ...asGlobex(service), query: { strict: true }, json: { username: 'ada' } };
    await addAddress(service, helpdesk, { email: 'ada+orders@mailbox.test' });
    expect((await addAddress(service, billing, { email: 'ada@mailbox.test' })).status).toBe(409);
    expect((await service.send('POST', '/v1/inboxes', strict)).status).toBe(409);
    expect((await create(service, { username: 'ada' }, asGlobex(service))).json.username).toBe('ada1');
    await removeAddress(service, helpdesk, 'ada+orders@mailbox.test');
    expect((await service.send('POST', '/v1/inboxes', strict)).status).toBe(201);
    service.mailbox.reset();
    expect((await service.send('POST', '/v1/inboxes', strict)).status).toBe(201);
  });

  everywhere('one on a domain that is not verified for the workspace returns 400', async (service) => {
    const before = service.mailbox.snapshot();
    for (const domain of ['mail.acme.test', 'globex.test', 'example.com']) {
      const refused = await addAddress(service, helpdesk, { email: `help@${domain}` });
      expect([refused.status, refused.json.error]).toEqual([
        400,
        `The domain ${domain} is not verified for this workspace; verify it, or use mailbox.test.`,
      ]);
    }
    expect(service.mailbox.snapshot()).toEqual(before);
  });

  everywhere('one that the inbox does not have is not found', async (service) => {
    for (const address of ['nobody@mailbox.test', 'billing@acme.test', 'x', '%00']) {
      const refused = await removeAddress(service, helpdesk, address);
      expect([refused.status, refused.json.error]).toEqual([404, 'This inbox has no such address.']);
    }
  });
});

function addAddress(service: Service, inbox: string, json: object) {
  return service.send('POST', `/v1/inboxes/${inbox}/addresses`, { ...asTenant(service), json });
}

function removeAddress(service: Service, inbox: string, address: string) {
  return service.send('DELETE', `/v1/inboxes/${inbox}/addresses/${address}`, asTenant(service));
}

function sendTo(service: Service, to: string | string[], from: string = billing) {
  const json = { to, subject: 'Hello', verified: true };
  return service.send('POST', `/v1/inboxes/${from}/send`, { ...asTenant(service), json });
}

async function subjects(service: Service, inbox: string): Promise<string[]> {
  const { json } = await service.send('GET', `/v1/inboxes/${inbox}/messages`, asTenant(service));
  return json.messages.map(({ subject }: { subject: string }) => subject);
}
