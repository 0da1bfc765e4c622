import type * as library from 'agent-mailbox-mock';
import {
  type BehaviourOptions,
  createMailbox,
  type DefaultKeys,
  type FixtureKeys,
  type Mailbox,
  type TenantKeys,
} from 'agent-mailbox-mock';
import type * as server from 'agent-mailbox-mock/server';
import type { HttpHandler } from 'msw';
import { describe, expectTypeOf, test } from 'vitest';
import type defaultFixture from '../../fixtures/default.json';

describe('types', () => {
  test('the default keys are those of the default fixture', () => {
    expectTypeOf<FixtureKeys<typeof defaultFixture>>().toExtend<DefaultKeys>();
    expectTypeOf<DefaultKeys>().toExtend<FixtureKeys<typeof defaultFixture>>();
    expectTypeOf(createMailbox().keys).toEqualTypeOf<DefaultKeys>();
    expectTypeOf(createMailbox().keys.acme.inboxes.helpdesk).toBeString();
    // @ts-expect-error there is no such inbox
    createMailbox().keys.acme.inboxes.nobody;
  });

  test("the keys of one's own fixture have its handles", () => {
    const key = { id: '00000000-0000-4000-8000-000000000001', key: 'x', createdAt: '2026-01-05T09:00:00.000Z' };
    const place = { id: key.id, name: 'x', createdAt: key.createdAt, key };
    const mailbox = createMailbox({
      fixtures: {
        operator: { key: 'sa_0123456789' },
        tenants: { umbrella: { ...place, workspaces: { lab: { ...place, slug: 'lab' } } } },
      },
    });
    expectTypeOf(mailbox.keys.umbrella).toExtend<TenantKeys<'lab', never>>();
    // @ts-expect-error that fixture has no Acme
    mailbox.keys.acme;
  });

  test('handlers are msw handlers', () => {
    expectTypeOf<Mailbox['handlers']>().toEqualTypeOf<HttpHandler[]>();
  });

  test('behaviours are known by id and value', () => {
    expectTypeOf({ 'webhooks.list.secret': 'omitted' } as const).toExtend<BehaviourOptions>();
    // @ts-expect-error no such value
    createMailbox({ behaviours: { 'webhooks.list.secret': 'hidden' } });
    // @ts-expect-error no such behaviour
    createMailbox({ behaviours: { 'webhooks.list.secrets': 'omitted' } });
  });

  test('a server closes at the end of its block and has a mailbox', () => {
    expectTypeOf<server.MailboxServer>().toExtend<AsyncDisposable>();
    expectTypeOf<server.MailboxServer['mailbox']>().toEqualTypeOf<Mailbox>();
  });

  test('the exports are these', () => {
    expectTypeOf<keyof typeof library>().toEqualTypeOf<
      'BEHAVIOURS' | 'BehaviourError' | 'createMailbox' | 'defaultFixture' | 'ERRORS' | 'EVENT_KINDS' | 'FixtureError'
    >();
    expectTypeOf<keyof typeof server>().toEqualTypeOf<'startServer'>();
  });
});
