import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { helpdesk, billing } = IDS.acme.inboxes;
const LISTS = `/v1/inboxes/${helpdesk}/lists`;
const CUSTOMERS = `${LISTS}/${IDS.acme.lists.customers}`;

const asInbox = ({ mailbox }: Service) => ({ key: mailbox.keys.acme.inboxes.helpdesk });
const get = (service: Service, path: string) => service.send('GET', path, asInbox(service));
const post = (service: Service, path: string, json: object) =>
  service.send('POST', path, { ...asInbox(service), json });

const DANA = {
  id: IDS.acme.entries.dana,
  email: 'dana@customer.test',
  displayName: 'Dana Reyes',
  metadata: { plan: 'team', seats: 12 },
  createdAt: '2026-01-05T09:31:00.000Z',
};

describe('lists', () => {
  everywhere('a created one is empty, is listed after the older ones and is found', async (service) => {
    const created = await post(service, LISTS, { name: ' Press ', description: 'Who writes\nabout us' });
    const { id, createdAt } = created.json;
    expect([created.status, created.json]).toEqual([
      201,
      { id, name: 'Press', description: 'Who writes\nabout us', entryCount: 0, entries: [], createdAt },
    ]);
    const { json } = await get(service, LISTS);
    expect(json.lists.map((list: { name: string }) => list.name)).toEqual(['Customers', 'Press']);
    expect(json.lists[1]).toEqual(created.json);
    expect((await get(service, `${LISTS}/${id}`)).json).toEqual(created.json);
  });

  everywhere('a list without a description has null, and two may have one name', async (service) => {
    for (const json of [{ name: 'Customers' }, { name: 'Customers', description: null }]) {
      const created = await post(service, LISTS, json);
      expect([created.status, created.json.description]).toEqual([201, null]);
    }
    expect((await get(service, LISTS)).json.lists).toHaveLength(3);
  });

  everywhere('one shows its entries, oldest first, and their number', async (service) => {
    const { json } = await get(service, CUSTOMERS);
    expect(json).toMatchObject({ name: 'Customers', description: 'Who has bought from us', entryCount: 2 });
    expect(json.entries[0]).toEqual(DANA);
    expect((await get(service, `${CUSTOMERS}/entries`)).json).toEqual({ entries: json.entries });
    expect((await get(service, `${CUSTOMERS}/entries/${DANA.id}`)).json).toEqual(DANA);
    expect((await get(service, LISTS)).json.lists).toEqual([json]);
  });

  everywhere('an added entry keeps what was sent, its address in lower case', async (service) => {
    const metadata = { tags: ['vip', { since: 2024 }], score: 1.5, note: null, '': true };
    const created = await post(service, `${CUSTOMERS}/entries`, {
      email: 'Lee@Prospect.TEST',
      displayName: 'Lee',
      metadata,
    });
    const { id, createdAt } = created.json;
    expect([created.status, created.json]).toEqual([
      201,
      { id, email: 'lee@prospect.test', displayName: 'Lee', metadata, createdAt },
    ]);
    const { json } = await get(service, CUSTOMERS);
    expect([json.entryCount, json.entries[2]]).toEqual([3, created.json]);
  });

  everywhere('an entry without a name or metadata has null for both', async (service) => {
    for (const rest of [{}, { displayName: null, metadata: null }]) {
      const list = (await post(service, LISTS, { name: 'Press' })).json;
      const { json } = await post(service, `${LISTS}/${list.id}/entries`, { email: 'ada@example.com', ...rest });
      expect([json.displayName, json.metadata]).toEqual([null, null]);
    }
  });

  everywhere('an address is in a list only once, in any letter case, and may be in two lists', async (service) => {
    const before = service.mailbox.snapshot();
    for (const email of ['dana@customer.test', 'DANA@customer.test']) {
      const taken = await post(service, `${CUSTOMERS}/entries`, { email });
      expect([taken.status, taken.json]).toEqual([
        409,
        { error: 'dana@customer.test is already in this list.', code: 'ALREADY_EXISTS' },
      ]);
    }
    expect(service.mailbox.snapshot()).toEqual(before);
    const other = await post(service, LISTS, { name: 'Press' });
    expect((await post(service, `${LISTS}/${other.json.id}/entries`, { email: 'dana@customer.test' })).status).toBe(
      201,
    );
  });

  everywhere('an entry can be deleted only once, and may be added again', async (service) => {
    const path = `${CUSTOMERS}/entries/${DANA.id}`;
    const deleted = await service.send('DELETE', path, asInbox(service));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: DANA.id }]);
    expect((await service.send('DELETE', path, asInbox(service))).status).toBe(404);
    expect((await get(service, path)).json.error).toBe('There is no entry with this id.');
    expect((await get(service, CUSTOMERS)).json.entryCount).toBe(1);
    expect((await post(service, `${CUSTOMERS}/entries`, { email: DANA.email })).status).toBe(201);
  });

  everywhere('a list can be deleted only once, with its entries', async (service) => {
    const deleted = await service.send('DELETE', CUSTOMERS, asInbox(service));
    expect([deleted.status, deleted.json]).toEqual([200, { deleted: true, id: IDS.acme.lists.customers }]);
    for (const path of [CUSTOMERS, `${CUSTOMERS}/entries`, `${CUSTOMERS}/entries/${DANA.id}`]) {
      expect((await get(service, path)).json.error).toBe('There is no list with this id.');
    }
    expect((await service.send('DELETE', CUSTOMERS, asInbox(service))).status).toBe(404);
    expect((await get(service, LISTS)).json).toEqual({ lists: [] });
    const [acme] = service.mailbox.snapshot().tenants;
    expect([acme?.lists, acme?.listEntries]).toEqual([[], []]);
  });

  everywhere('an entry is found in its own list only', async (service) => {
    const other = await post(service, LISTS, { name: 'Press' });
    for (const method of ['GET', 'DELETE']) {
      const path = `${LISTS}/${other.json.id}/entries/${DANA.id}`;
      expect((await service.send(method, path, asInbox(service))).status).toBe(404);
    }
    expect((await get(service, CUSTOMERS)).json.entryCount).toBe(2);
  });

  everywhere('an inbox shows only its own lists', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    expect((await send('GET', `/v1/inboxes/${billing}/lists`, { key })).json).toEqual({ lists: [] });
    const path = `/v1/inboxes/${billing}/lists/${IDS.acme.lists.customers}`;
    expect((await send('DELETE', path, { key })).status).toBe(404);
  });
});
