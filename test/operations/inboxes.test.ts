import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type SendOptions, type World } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';

interceptRequests();

const { helpdesk, billing, outreach } = IDS.acme.inboxes;

const asTenant = ({ mailbox }: World) => ({ key: mailbox.keys.acme.tenant });
const asGlobex = ({ mailbox }: World) => ({ key: mailbox.keys.globex.tenant });
const create = (world: World, json: object, options: SendOptions = asTenant(world)) =>
  world.send('POST', '/v1/inboxes', { ...options, json });
const get = (world: World, id: string) => world.send('GET', `/v1/inboxes/${id}`, asTenant(world));

const TAKEN = (address: string) => ({ error: `The address ${address} is taken.`, code: 'USERNAME_TAKEN' });

describe('inboxes', () => {
  everywhere('a created one has its credentials and a key that works, and is found as created', async (world) => {
    const created = await create(world, { username: 'ada', displayName: 'Ada' });
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
    const me = await world.send('GET', '/v1/me', { key: apiKey });
    expect(me.json).toMatchObject({ tier: 'inbox', inboxId: id, email: username });
    const { apiKey: _, ...shown } = created.json;
    expect((await get(world, id)).json).toEqual(shown);
  });

  everywhere('creating it again returns 200 and the inbox without credentials, and changes nothing', async (world) => {
    const created = await create(world, { username: 'ada', displayName: 'Ada' });
    const before = world.mailbox.snapshot();
    for (const query of [{}, { strict: true }, { strict: false }]) {
      const options = { ...asTenant(world), query };
      const again = await create(world, { username: 'ada', domain: 'MAILBOX.test', displayName: 'Eve' }, options);
      const { apiKey, imapPassword, imap, smtp, ...plain } = created.json;
      expect([again.status, again.json]).toEqual([200, { ...plain, existed: true }]);
      for (const secret of [apiKey, imapPassword]) expect(again.text).not.toContain(secret);
    }
    expect(world.mailbox.snapshot()).toEqual(before);
  });

  everywhere('creating one with a further address of an own inbox returns that inbox', async (world) => {
    await world.send('POST', `/v1/inboxes/${helpdesk}/addresses`, {
      ...asTenant(world),
      json: { email: 'help@mailbox.test' },
    });
    const { status, json } = await create(world, { username: 'help' });
    expect([status, json.id, json.existed]).toEqual([200, helpdesk, true]);
  });

  everywhere('the first free number is appended to a name that another tenant has', async (world) => {
    await create(world, { username: 'ada' }, asGlobex(world));
    const names = [];
    for (const username of ['ada', 'ada2', 'ada']) names.push((await create(world, { username })).json);
    expect(names.map(({ email, username }) => [email, username])).toEqual([
      ['ada1@mailbox.test', 'ada1'],
      ['ada2@mailbox.test', 'ada2'],
      ['ada3@mailbox.test', 'ada3'],
    ]);
  });

  everywhere('a number is also appended to a name out of reach of a workspace key', async (world) => {
    const { support, sales } = world.mailbox.keys.acme.workspaces;
    await create(world, { username: 'ada' }, { key: sales });
    const { status, json } = await create(world, { username: 'ada' }, { key: support });
    expect([status, json.username, json.workspaceId]).toEqual([201, 'ada1', IDS.acme.workspaces.support]);
  });

  everywhere('a name that another tenant has is refused with strict=true', async (world) => {
    await create(world, { username: 'ada' }, asGlobex(world));
    const before = world.mailbox.snapshot();
    const refused = await create(world, { username: 'ada' }, { ...asTenant(world), query: { strict: true } });
    expect([refused.status, refused.json]).toEqual([409, TAKEN('ada@mailbox.test')]);
    expect(world.mailbox.snapshot()).toEqual(before);
  });

  everywhere('a name is refused when all its 99 numbers are taken', async (world) => {
    const numbers = Array.from({ length: 99 }, (_, index) => `ada${index + 1}`);
    for (const username of ['ada', ...numbers.slice(0, 98)]) await create(world, { username }, asGlobex(world));
    expect((await create(world, { username: 'ada' })).json.username).toBe('ada99');
    const before = world.mailbox.snapshot();
    const key = world.mailbox.keys.acme.workspaces.sales;
    const refused = await create(world, { username: 'ada' }, { key });
    expect([refused.status, refused.json]).toEqual([409, TAKEN('ada@mailbox.test')]);
    expect(world.mailbox.snapshot()).toEqual(before);
  });

  everywhere('without a name it gets a new generated name each time', async (world) => {
    const [one, two] = [await create(world, {}), await world.send('POST', '/v1/inboxes', asTenant(world))];
    for (const { status, json } of [one, two]) {
      expect([status, json.displayName]).toEqual([201, null]);
      expect(json.username).toMatch(/^agent-[0-9a-f]{8}$/);
    }
    expect(one.json.username).not.toBe(two.json.username);
  });

  everywhere('a user name may contain letters, digits and . - _', async (world) => {
    for (const username of ['a', '0', 'a.b-c_d', 'x'.repeat(64), 'a--b', 'a-', 'a_']) {
      const { status, json } = await create(world, { username });
      expect([status, json.email]).toEqual([201, `${username}@mailbox.test`]);
    }
  });

  everywhere('mail reaches an inbox with any valid user name', async (world) => {
    for (const username of ['a', 'a.b-c_d', 'x'.repeat(64), 'a--b', 'a-', 'a_']) {
      const { json } = await create(world, { username });
      await sendTo(world, json.email);
      expect(await subjects(world, json.id), username).toEqual(['Hello']);
    }
  });

  everywhere('it belongs to the workspace that the key selects or has', async (world) => {
    const { sales } = IDS.acme.workspaces;
    const selected = await create(world, { username: 'ada', workspaceId: sales });
    const bound = await create(world, { username: 'bob' }, { key: world.mailbox.keys.acme.workspaces.sales });
    expect([selected.json.workspaceId, bound.json.workspaceId]).toEqual([sales, sales]);
  });

  everywhere('a workspace key cannot tell whether a taken name is in its own tenant', async (world) => {
    const { acme } = world.mailbox.keys;
    await create(world, { username: 'near', workspaceId: IDS.acme.workspaces.sales });
    await create(world, { username: 'away' }, asGlobex(world));
    const ask = (username: string, query: Record<string, boolean>) =>
      world.send('POST', '/v1/inboxes', { key: acme.workspaces.support, query, json: { username } });
    for (const query of [{ strict: true }, {}]) {
      const [near, away] = [await ask('near', query), await ask('away', query)];
      expect([near.status, near.json.username]).toEqual([away.status, away.json.username?.replace('away', 'near')]);
      expect(near.json.error).toBe(away.json.error?.replace('away', 'near'));
      expect(near.headers.get('x-mock-assumed')).toBe(away.headers.get('x-mock-assumed'));
      expect([...near.headers.keys()]).toEqual([...away.headers.keys()]);
    }
  });

  everywhere('the list is oldest first, without credentials, and can be narrowed by a selector', async (world) => {
    const created = await create(world, { username: 'ada', workspaceId: IDS.acme.workspaces.sales });
    const ids = async (query = {}) => {
      const { json, text } = await world.send('GET', '/v1/inboxes', { ...asTenant(world), query });
      expect(text).not.toMatch(/password|imap|smtp|apiKey/i);
      return json.inboxes.map(({ id }: { id: string }) => id);
    };
    expect(await ids()).toEqual([helpdesk, billing, outreach, created.json.id]);
    expect(await ids({ workspace: IDS.acme.workspaces.sales })).toEqual([outreach, created.json.id]);
    expect(await ids({ workspace: IDS.acme.workspaces.support })).toEqual([helpdesk, billing]);
  });

  everywhere('a change of display name and metadata returns the id, and is visible', async (world) => {
    const patch = async (json: object) => {
      const { status, json: reply } = await world.send('PATCH', `/v1/inboxes/${helpdesk}`, {
        ...asTenant(world),
        json,
      });
      expect([status, reply]).toEqual([200, { updated: true, id: helpdesk }]);
      const { displayName, metadata } = (await get(world, helpdesk)).json;
      return { displayName, metadata };
    };
    const metadata = { team: 'one', nested: { list: [1, 'two', null] } };
    expect(await patch({ displayName: 'Help', metadata })).toEqual({ displayName: 'Help', metadata });
    expect(await patch({})).toEqual({ displayName: 'Help', metadata });
    expect(await patch({ metadata: { other: true } })).toEqual({ displayName: 'Help', metadata: { other: true } });
    expect(await patch({ displayName: null, metadata: null })).toEqual({ displayName: null, metadata: null });
  });

  everywhere('a changed one keeps its place in the list', async (world) => {
    await world.send('PATCH', `/v1/inboxes/${helpdesk}`, { ...asTenant(world), json: { displayName: 'Help' } });
    const { json } = await world.send('GET', '/v1/inboxes', asTenant(world));
    expect(json.inboxes.map(({ id }: { id: string }) => id)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('the key of a created one can be rotated', async (world) => {
    const { json } = await create(world, {});
    const rotated = await world.send('POST', `/v1/inboxes/${json.id}/keys`, asTenant(world));
    const statusOf = async (key: string) => (await world.send('GET', `/v1/inboxes/${json.id}`, { key })).status;
    expect([await statusOf(json.apiKey), await statusOf(rotated.json.key)]).toEqual([401, 200]);
  });

  everywhere('mail that it sends carries its display name and its primary address', async (world) => {
    await addAddress(world, helpdesk, { email: 'help@mailbox.test' });
    await world.send('PATCH', `/v1/inboxes/${helpdesk}`, { ...asTenant(world), json: { displayName: 'Help, please' } });
    const { json } = await sendTo(world, 'billing@acme.test', helpdesk);
    const sent = await world.send('GET', `/v1/inboxes/${helpdesk}/messages/${json.id}`, asTenant(world));
    expect(sent.json.from).toBe('"Help, please" <help@mailbox.test>');
  });

  everywhere('deleting one ends its key, addresses, drafts and lists at once, and hides its mail', async (world) => {
    const { send, mailbox } = world;
    await addAddress(world, helpdesk, { email: 'help@mailbox.test' });
    const deleted = await send('DELETE', `/v1/inboxes/${helpdesk}`, asTenant(world));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: helpdesk }]);
    expect((await send('GET', '/v1/me', { key: mailbox.keys.acme.inboxes.helpdesk })).status).toBe(401);
    expect((await send('GET', '/v1/me', { key: mailbox.keys.acme.inboxes.billing })).status).toBe(200);
    for (const path of ['', '/messages', '/drafts', '/lists', '/threads', `/messages/${IDS.acme.messages.thanks}`]) {
      expect((await send('GET', `/v1/inboxes/${helpdesk}${path}`, asTenant(world))).status, path).toBe(404);
    }
    const { json } = await send('GET', '/v1/messages', asTenant(world));
    expect(json.messages.filter(({ inboxId }: { inboxId: string }) => inboxId === helpdesk)).toEqual([]);
    const [acme] = mailbox.snapshot().tenants;
    expect([acme?.drafts, acme?.lists, acme?.listEntries]).toEqual([[], [], []]);
    expect(acme?.addresses.filter(({ inboxId }) => inboxId === helpdesk)).toEqual([]);
    for (const method of ['DELETE', 'PATCH']) {
      expect((await send(method, `/v1/inboxes/${helpdesk}`, asTenant(world))).status).toBe(404);
    }
    expect((await send('POST', `/v1/inboxes/${helpdesk}/keys`, asTenant(world))).status).toBe(404);
  });

  everywhere('deleting one keeps its messages, as the state shows', async (world) => {
    const messages = () => world.mailbox.snapshot().tenants[0]?.messages;
    const before = messages();
    await world.send('DELETE', `/v1/inboxes/${helpdesk}`, asTenant(world));
    expect(messages()).toEqual(before);
  });

  everywhere('mail to a deleted one bounces, and its address is free for a new one', async (world) => {
    const first = await create(world, { username: 'ada' });
    await world.send('DELETE', `/v1/inboxes/${first.json.id}`, asTenant(world));
    const { json } = await sendTo(world, 'ada@mailbox.test');
    const [acme] = world.mailbox.snapshot().tenants;
    expect(acme?.messages.find(({ id }) => id === json.id)?.bouncedAt).not.toBeNull();
    const second = await create(world, { username: 'ada' }, asGlobex(world));
    expect([second.status, second.json.email]).toEqual([201, 'ada@mailbox.test']);
    expect(second.json.id).not.toBe(first.json.id);
    await sendTo(world, 'ada@mailbox.test');
    const path = `/v1/inboxes/${second.json.id}/messages`;
    expect((await world.send('GET', path, asGlobex(world))).json.pagination.total).toBe(1);
  });
});

describe('addresses', () => {
  everywhere('an added one becomes the primary one unless the request says otherwise', async (world) => {
    const first = await addAddress(world, helpdesk, { email: 'Help@Mailbox.TEST' });
    expect([first.status, first.json]).toEqual([201, { ok: true, address: 'help@mailbox.test', isPrimary: true }]);
    const second = await addAddress(world, helpdesk, { email: 'sos@acme.test', primary: false });
    expect([second.status, second.json]).toEqual([201, { ok: true, address: 'sos@acme.test', isPrimary: false }]);
    expect((await get(world, helpdesk)).json).toMatchObject({
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

  everywhere('mail to a further one arrives only once, even if it names several', async (world) => {
    await addAddress(world, outreach, { email: 'sales@mailbox.test', primary: false });
    await sendTo(world, ['Sales <SALES@mailbox.test>', 'outreach@acme.test']);
    expect(await subjects(world, outreach)).toEqual(['Hello', 'Shall we talk?']);
  });

  everywhere('a removed one receives no more mail, and is free for another tenant', async (world) => {
    await addAddress(world, outreach, { email: 'sales@mailbox.test' });
    const removed = await removeAddress(world, outreach, 'SALES@mailbox.test');
    expect([removed.status, removed.json]).toEqual([200, { deleted: true, address: 'sales@mailbox.test' }]);
    await sendTo(world, 'sales@mailbox.test');
    expect(await subjects(world, outreach)).toEqual(['Shall we talk?']);
    expect((await create(world, { username: 'sales' }, asGlobex(world))).json.email).toBe('sales@mailbox.test');
  });

  everywhere('when the primary one is removed the canonical one takes its place', async (world) => {
    await addAddress(world, helpdesk, { email: 'first@mailbox.test' });
    await addAddress(world, helpdesk, { email: 'second@mailbox.test' });
    await removeAddress(world, helpdesk, 'first@mailbox.test');
    expect((await get(world, helpdesk)).json.email).toBe('second@mailbox.test');
    await removeAddress(world, helpdesk, 'second%40mailbox.test');
    expect((await get(world, helpdesk)).json).toMatchObject({
      email: 'helpdesk@acme.test',
      addresses: [{ address: 'helpdesk@acme.test', isPrimary: true }],
    });
  });

  everywhere('the canonical one cannot be removed, primary or not', async (world) => {
    for (const prepare of [async () => {}, () => addAddress(world, helpdesk, { email: 'help@mailbox.test' })]) {
      await prepare();
      const before = world.mailbox.snapshot();
      const refused = await removeAddress(world, helpdesk, 'helpdesk@acme.test');
      expect([refused.status, refused.json]).toEqual([
        409,
        { error: 'The canonical address of an inbox cannot be removed.', code: 'CONFLICT' },
      ]);
      expect(world.mailbox.snapshot()).toEqual(before);
    }
  });

  everywhere('one that any inbox of any tenant has returns 409', async (world) => {
    await create(world, { username: 'ada' }, asGlobex(world));
    const before = world.mailbox.snapshot();
    for (const email of ['ada@mailbox.test', 'ADA@mailbox.test', 'billing@acme.test', 'helpdesk@acme.test']) {
      const refused = await addAddress(world, helpdesk, { email });
      const error = `The address ${email.toLowerCase()} is taken.`;
      expect([refused.status, refused.json]).toEqual([409, { error, code: 'ALREADY_EXISTS' }]);
    }
    expect(world.mailbox.snapshot()).toEqual(before);
  });

  everywhere('a tagged form of the address of any other inbox of any tenant is taken', async (world) => {
    await create(world, { username: 'bob' }, asGlobex(world));
    const before = world.mailbox.snapshot();
    for (const email of ['bob+orders@mailbox.test', 'Bob+a+b@mailbox.test', 'billing+bills@acme.test']) {
      const refused = await addAddress(world, helpdesk, { email });
      const error = `The address ${email.toLowerCase()} is taken.`;
      expect([refused.status, refused.json]).toEqual([409, { error, code: 'ALREADY_EXISTS' }]);
      expect(refused.headers.get('x-mock-assumed')).toContain('sending.plus-tags');
    }
    expect(world.mailbox.snapshot()).toEqual(before);
    await sendTo(world, 'bob+orders@mailbox.test');
    expect(await subjects(world, helpdesk)).not.toContain('Hello');
  });

  everywhere('a tagged form of an own address is free, and so is one of an unused address', async (world) => {
    for (const email of ['helpdesk+orders@acme.test', 'nobody+orders@mailbox.test', 'nobody@mailbox.test']) {
      expect((await addAddress(world, helpdesk, { email })).status).toBe(201);
    }
  });

  everywhere('an address whose tagged form another inbox has is taken until that is removed', async (world) => {
    const strict = { ...asGlobex(world), query: { strict: true }, json: { username: 'ada' } };
    await addAddress(world, helpdesk, { email: 'ada+orders@mailbox.test' });
    expect((await addAddress(world, billing, { email: 'ada@mailbox.test' })).status).toBe(409);
    expect((await world.send('POST', '/v1/inboxes', strict)).status).toBe(409);
    expect((await create(world, { username: 'ada' }, asGlobex(world))).json.username).toBe('ada1');
    await removeAddress(world, helpdesk, 'ada+orders@mailbox.test');
    expect((await world.send('POST', '/v1/inboxes', strict)).status).toBe(201);
    world.mailbox.reset();
    expect((await world.send('POST', '/v1/inboxes', strict)).status).toBe(201);
  });

  everywhere('one on a domain that is not verified for the workspace returns 400', async (world) => {
    const before = world.mailbox.snapshot();
    for (const domain of ['mail.acme.test', 'globex.test', 'example.com']) {
      const refused = await addAddress(world, helpdesk, { email: `help@${domain}` });
      expect([refused.status, refused.json.error]).toEqual([
        400,
        `The domain ${domain} is not verified for this workspace; verify it, or use mailbox.test.`,
      ]);
    }
    expect(world.mailbox.snapshot()).toEqual(before);
  });

  everywhere('one that the inbox does not have is not found', async (world) => {
    for (const address of ['nobody@mailbox.test', 'billing@acme.test', 'x', '%00']) {
      const refused = await removeAddress(world, helpdesk, address);
      expect([refused.status, refused.json.error]).toEqual([404, 'This inbox has no such address.']);
    }
  });
});

function addAddress(world: World, inbox: string, json: object) {
  return world.send('POST', `/v1/inboxes/${inbox}/addresses`, { ...asTenant(world), json });
}

function removeAddress(world: World, inbox: string, address: string) {
  return world.send('DELETE', `/v1/inboxes/${inbox}/addresses/${address}`, asTenant(world));
}

function sendTo(world: World, to: string | string[], from: string = billing) {
  const json = { to, subject: 'Hello', verified: true };
  return world.send('POST', `/v1/inboxes/${from}/send`, { ...asTenant(world), json });
}

async function subjects(world: World, inbox: string): Promise<string[]> {
  const { json } = await world.send('GET', `/v1/inboxes/${inbox}/messages`, asTenant(world));
  return json.messages.map(({ subject }: { subject: string }) => subject);
}
