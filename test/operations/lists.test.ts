import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type World } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';

interceptRequests();

const { helpdesk, billing } = IDS.acme.inboxes;
const LISTS = `/v1/inboxes/${helpdesk}/lists`;
const CUSTOMERS = `${LISTS}/${IDS.acme.lists.customers}`;

const asInbox = ({ mailbox }: World) => ({ key: mailbox.keys.acme.inboxes.helpdesk });
const get = (world: World, path: string) => world.send('GET', path, asInbox(world));
const post = (world: World, path: string, json: object) => world.send('POST', path, { ...asInbox(world), json });

const DANA = {
  id: IDS.acme.entries.dana,
  email: 'dana@customer.test',
  displayName: 'Dana Reyes',
  metadata: { plan: 'team', seats: 12 },
  createdAt: '2026-01-05T09:31:00.000Z',
};

describe('lists', () => {
  everywhere('a created one is empty, is listed after the older ones and is found', async (world) => {
    const created = await post(world, LISTS, { name: ' Press ', description: 'Who writes\nabout us' });
    const { id, createdAt } = created.json;
    expect([created.status, created.json]).toEqual([
      201,
      { id, name: 'Press', description: 'Who writes\nabout us', entryCount: 0, entries: [], createdAt },
    ]);
    const { json } = await get(world, LISTS);
    expect(json.lists.map((list: { name: string }) => list.name)).toEqual(['Customers', 'Press']);
    expect(json.lists[1]).toEqual(created.json);
    expect((await get(world, `${LISTS}/${id}`)).json).toEqual(created.json);
  });

  everywhere('a list without a description has null, and two may have one name', async (world) => {
    for (const json of [{ name: 'Customers' }, { name: 'Customers', description: null }]) {
      const created = await post(world, LISTS, json);
      expect([created.status, created.json.description]).toEqual([201, null]);
    }
    expect((await get(world, LISTS)).json.lists).toHaveLength(3);
  });

  everywhere('one shows its entries, oldest first, and their number', async (world) => {
    const { json } = await get(world, CUSTOMERS);
    expect(json).toMatchObject({ name: 'Customers', description: 'Who has bought from us', entryCount: 2 });
    expect(json.entries[0]).toEqual(DANA);
    expect((await get(world, `${CUSTOMERS}/entries`)).json).toEqual({ entries: json.entries });
    expect((await get(world, `${CUSTOMERS}/entries/${DANA.id}`)).json).toEqual(DANA);
    expect((await get(world, LISTS)).json.lists).toEqual([json]);
  });

  everywhere('an added entry keeps what was sent, its address in lower case', async (world) => {
    const metadata = { tags: ['vip', { since: 2024 }], score: 1.5, note: null, '': true };
    const created = await post(world, `${CUSTOMERS}/entries`, {
      email: 'Lee@Prospect.TEST',
      displayName: 'Lee',
      metadata,
    });
    const { id, createdAt } = created.json;
    expect([created.status, created.json]).toEqual([
      201,
      { id, email: 'lee@prospect.test', displayName: 'Lee', metadata, createdAt },
    ]);
    const { json } = await get(world, CUSTOMERS);
    expect([json.entryCount, json.entries[2]]).toEqual([3, created.json]);
  });

  everywhere('an entry without a name or metadata has null for both', async (world) => {
    for (const rest of [{}, { displayName: null, metadata: null }]) {
      const list = (await post(world, LISTS, { name: 'Press' })).json;
      const { json } = await post(world, `${LISTS}/${list.id}/entries`, { email: 'ada@example.com', ...rest });
      expect([json.displayName, json.metadata]).toEqual([null, null]);
    }
  });

  everywhere('an address is in a list only once, in any letter case, and may be in two lists', async (world) => {
    const before = world.mailbox.snapshot();
    for (const email of ['dana@customer.test', 'DANA@customer.test']) {
      const taken = await post(world, `${CUSTOMERS}/entries`, { email });
      expect([taken.status, taken.json]).toEqual([
        409,
        { error: 'dana@customer.test is already in this list.', code: 'ALREADY_EXISTS' },
      ]);
    }
    expect(world.mailbox.snapshot()).toEqual(before);
    const other = await post(world, LISTS, { name: 'Press' });
    expect((await post(world, `${LISTS}/${other.json.id}/entries`, { email: 'dana@customer.test' })).status).toBe(201);
  });

  everywhere('an entry can be deleted only once, and may be added again', async (world) => {
    const path = `${CUSTOMERS}/entries/${DANA.id}`;
    const deleted = await world.send('DELETE', path, asInbox(world));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: DANA.id }]);
    expect((await world.send('DELETE', path, asInbox(world))).status).toBe(404);
    expect((await get(world, path)).json.error).toBe('There is no entry with this id.');
    expect((await get(world, CUSTOMERS)).json.entryCount).toBe(1);
    expect((await post(world, `${CUSTOMERS}/entries`, { email: DANA.email })).status).toBe(201);
  });

  everywhere('a list can be deleted only once, with its entries', async (world) => {
    const deleted = await world.send('DELETE', CUSTOMERS, asInbox(world));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: IDS.acme.lists.customers }]);
    for (const path of [CUSTOMERS, `${CUSTOMERS}/entries`, `${CUSTOMERS}/entries/${DANA.id}`]) {
      expect((await get(world, path)).json.error).toBe('There is no list with this id.');
    }
    expect((await world.send('DELETE', CUSTOMERS, asInbox(world))).status).toBe(404);
    expect((await get(world, LISTS)).json).toEqual({ lists: [] });
    const [acme] = world.mailbox.snapshot().tenants;
    expect([acme?.lists, acme?.listEntries]).toEqual([[], []]);
  });

  everywhere('an entry is found in its own list only', async (world) => {
    const other = await post(world, LISTS, { name: 'Press' });
    for (const method of ['GET', 'DELETE']) {
      const path = `${LISTS}/${other.json.id}/entries/${DANA.id}`;
      expect((await world.send(method, path, asInbox(world))).status).toBe(404);
    }
    expect((await get(world, CUSTOMERS)).json.entryCount).toBe(2);
  });

  everywhere('an inbox shows only its own lists', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    expect((await send('GET', `/v1/inboxes/${billing}/lists`, { key })).json).toEqual({ lists: [] });
    const path = `/v1/inboxes/${billing}/lists/${IDS.acme.lists.customers}`;
    expect((await send('DELETE', path, { key })).status).toBe(404);
  });
});
