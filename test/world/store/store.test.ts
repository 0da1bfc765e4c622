import { describe, test } from 'vitest';
import { createDatabase } from '../../../src/world/store/database.ts';
import type { WebhookRow } from '../../../src/world/store/rows.ts';

const row = (id: string, workspaceId: string | null): WebhookRow => ({
  id,
  workspaceId,
  url: `https://${id}.example/`,
  events: ['message.received'],
  secret: 'whsec_ZmFrZSBzdG9yZSB0ZXN0IHNlY3JldCE=',
  isActive: true,
  createdAt: '2026-01-05T09:00:00.000Z',
});

describe('collections', () => {
  test('rows keep the order of their insertion in every look-up', ({ expect }) => {
    const { webhooks } = createDatabase();
    for (const [id, workspaceId] of [
      ['c', 'one'],
      ['a', null],
      ['b', 'one'],
    ] as const) {
      webhooks.insert(row(id, workspaceId));
    }
    expect(webhooks.all().map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    expect(webhooks.by('workspaceId', 'one').map(({ id }) => id)).toEqual(['c', 'b']);
    expect(webhooks.by('workspaceId', 'two')).toEqual([]);
  });

  test('an update replaces the row in its place, and does not change a row that was read before', ({ expect }) => {
    const { webhooks } = createDatabase();
    const [first] = [webhooks.insert(row('a', 'one')), webhooks.insert(row('b', 'one'))];
    webhooks.update('a', { isActive: false });
    expect(first.isActive).toBe(true);
    expect(webhooks.get('a')).toMatchObject({ isActive: false, url: 'https://a.example/' });
    expect(webhooks.all().map(({ id }) => id)).toEqual(['a', 'b']);
    expect(() => webhooks.update('c', { isActive: false })).toThrow('There is no row of webhooks with the id c.');
  });

  test('a removed row is found by no look-up', ({ expect }) => {
    const { webhooks } = createDatabase();
    webhooks.insert(row('a', 'one'));
    expect(webhooks.remove('a')).toMatchObject({ id: 'a' });
    expect([webhooks.get('a'), webhooks.remove('a')]).toEqual([undefined, undefined]);
    expect([...webhooks.all(), ...webhooks.by('workspaceId', 'one')]).toEqual([]);
  });

  test('an id can be inserted only once', ({ expect }) => {
    const { webhooks } = createDatabase();
    webhooks.insert(row('a', 'one'));
    expect(() => webhooks.insert(row('a', 'two'))).toThrow();
    expect(webhooks.by('workspaceId', 'two')).toEqual([]);
  });

  test('an inserted object is copied, and a returned row cannot be changed', ({ expect }) => {
    const { webhooks } = createDatabase();
    const owned = row('a', null);
    const kept = webhooks.insert(owned);
    (owned.events as string[]).push('message.sent');
    expect(kept.events).toEqual(['message.received']);
    expect(() => (kept.events as string[]).push('message.sent')).toThrow(TypeError);
    expect(() => Object.assign(kept, { url: 'https://changed.example/' })).toThrow(TypeError);
  });

  test('restoring a snapshot removes all other rows, from indexes too', ({ expect }) => {
    const { webhooks } = createDatabase();
    webhooks.insert(row('a', 'one'));
    const kept = webhooks.all();
    webhooks.remove('a');
    webhooks.insert(row('b', 'one'));
    webhooks.restore(kept);
    expect(webhooks.all()).toEqual(kept);
    expect(webhooks.by('workspaceId', 'one')).toEqual(kept);
  });
});
