import type * as library from 'agent-mailbox-mock';
import {
  type BehaviourOptions,
  type ControllableMailbox,
  createMailbox,
  type DefaultIds,
  type DefaultKeys,
  type DeliveryFilter,
  type Duration,
  type EnvironmentOverrides,
  type Fault,
  type FaultOptions,
  type FaultTarget,
  type FixtureIds,
  type FixtureKeys,
  type IncomingMessage,
  type Mailbox,
  type MailboxClock,
  type MailboxOptions,
  type Receivable,
  type ReceivedMessage,
  type ReleaseOptions,
  type SettledOptions,
  type TenantIds,
  type TenantKeys,
  type TenantOption,
  type TriggerOptions,
} from 'agent-mailbox-mock';
import type * as client from 'agent-mailbox-mock/client';
import type { ApiReplyError, ServiceClient } from 'agent-mailbox-mock/client';
import type { ReceiverAnswer, ReceiverOptions } from 'agent-mailbox-mock/receiver';
import { createSample, type Sample } from 'agent-mailbox-mock/samples';
import type * as server from 'agent-mailbox-mock/server';
import type { HttpHandler, WebSocketHandler } from 'msw';
import { describe, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type defaultFixture from '../../fixtures/default.json';
import type { composedMessage, rawMessage } from '../../src/contract/incoming-message.ts';

describe('types', () => {
  test('the default keys are those of the default fixture', () => {
    expectTypeOf<FixtureKeys<typeof defaultFixture>>().toExtend<DefaultKeys>();
    expectTypeOf<DefaultKeys>().toExtend<FixtureKeys<typeof defaultFixture>>();
    expectTypeOf(createMailbox().keys).toEqualTypeOf<DefaultKeys>();
    expectTypeOf(createMailbox().keys.acme.inboxes.helpdesk).toBeString();
    // @ts-expect-error there is no such inbox
    createMailbox().keys.acme.inboxes.nobody;
  });

  test('the default ids are those of the default fixture, by the same handles', () => {
    expectTypeOf<FixtureIds<typeof defaultFixture>>().toExtend<DefaultIds>();
    expectTypeOf<DefaultIds>().toExtend<FixtureIds<typeof defaultFixture>>();
    expectTypeOf(createMailbox().ids).toEqualTypeOf<DefaultIds>();
    expectTypeOf(createMailbox().ids.acme.inboxes.helpdesk).toBeString();
    expectTypeOf<server.MailboxServer['mailbox']['ids']>().toEqualTypeOf<DefaultIds>();
    // @ts-expect-error there is no such inbox
    createMailbox().ids.acme.inboxes.nobody;
    // @ts-expect-error the operator has a key, but no id
    createMailbox().ids.operator;
  });

  test("the keys and ids of one's own fixture have its handles", () => {
    const key = { id: '00000000-0000-4000-8000-000000000001', key: 'x', createdAt: '2026-01-05T09:00:00.000Z' };
    const place = { id: key.id, name: 'x', createdAt: key.createdAt, key };
    const mailbox = createMailbox({
      fixtures: {
        operator: { key: 'sa_0123456789' },
        tenants: {
          umbrella: {
            ...place,
            workspaces: { lab: { ...place, slug: 'lab' } },
            webhooks: { audit: { url: 'http://127.0.0.1:1' } },
          },
        },
      },
    });
    expectTypeOf(mailbox.keys.umbrella).toExtend<TenantKeys<'lab', never>>();
    // @ts-expect-error that fixture has no Acme
    mailbox.keys.acme;
    expectTypeOf(mailbox.ids.umbrella).toExtend<TenantIds<'lab', never, 'audit'>>();
    expectTypeOf(mailbox.ids.umbrella.webhooks.audit).toBeString();
    // @ts-expect-error that fixture has no such webhook
    mailbox.ids.umbrella.webhooks.other;
  });

  test('a sandbox has the keys and ids of its tenant', () => {
    const sandbox = createMailbox().createSandbox({ name: 'orders', seed: 1 });
    expectTypeOf(sandbox.keys).toEqualTypeOf<DefaultKeys['acme']>();
    expectTypeOf(sandbox.ids).toEqualTypeOf<DefaultIds['acme']>();
    expectTypeOf(sandbox).toExtend<Disposable>();
    expectTypeOf(createMailbox()).toExtend<ControllableMailbox>();
    expectTypeOf(sandbox).toExtend<ControllableMailbox>();
    const fixture = { tenants: { umbrella: { workspaces: { lab: { inboxes: { desk: {} } } } } } };
    const own = createMailbox().createSandbox({ fixture });
    expectTypeOf(own.keys).toExtend<TenantKeys<'lab', 'desk'>>();
    expectTypeOf(own.ids.inboxes.desk).toBeString();
    // @ts-expect-error that fixture has no such inbox
    own.keys.inboxes.helpdesk;
    expectTypeOf(createMailbox({ fixtures: fixture }).createSandbox().keys.inboxes.desk).toBeString();
    expectTypeOf<server.MailboxServer['mailbox']['createSandbox']>().returns.toExtend<{ keys: { tenant: string } }>();
    // @ts-expect-error a seed is a number
    createMailbox().createSandbox({ seed: 'x' });
  });

  test('handlers are msw handlers', () => {
    expectTypeOf<Mailbox['handlers']>().toEqualTypeOf<(HttpHandler | WebSocketHandler)[]>();
  });

  test('behaviours are known by id and value', () => {
    expectTypeOf({ 'webhooks.list.secret': 'omitted' } as const).toExtend<BehaviourOptions>();
    expectTypeOf({ 'deliveries.signature.header': 'x-acme-signature' } as const).toExtend<BehaviourOptions>();
    // @ts-expect-error no such value
    createMailbox({ behaviours: { 'webhooks.list.secret': 'hidden' } });
    // @ts-expect-error no such behaviour
    createMailbox({ behaviours: { 'webhooks.list.secrets': 'omitted' } });
  });

  test('a server closes at the end of its block and has a mailbox', () => {
    expectTypeOf<server.MailboxServer>().toExtend<AsyncDisposable>();
    expectTypeOf<server.MailboxServer['mailbox']>().toEqualTypeOf<Mailbox>();
  });

  test('optional members accept undefined', () => {
    type Undefined<T> = { [Name in keyof T]-?: undefined };
    expectTypeOf<Undefined<MailboxOptions>>().toExtend<MailboxOptions>();
    expectTypeOf<Undefined<EnvironmentOverrides>>().toExtend<EnvironmentOverrides>();
    expectTypeOf<Undefined<server.ServerOptions>>().toExtend<server.ServerOptions>();
    expectTypeOf<Undefined<ReceiverOptions>>().toExtend<ReceiverOptions>();
    expectTypeOf<{ status: 200; headers: undefined; body: undefined }>().toExtend<ReceiverAnswer>();
    expectTypeOf<Undefined<DeliveryFilter>>().toExtend<DeliveryFilter>();
    expectTypeOf<Undefined<ReleaseOptions>>().toExtend<ReleaseOptions>();
    expectTypeOf<Undefined<SettledOptions>>().toExtend<SettledOptions>();
    expectTypeOf<Undefined<TenantOption>>().toExtend<TenantOption>();
    expectTypeOf<Undefined<TriggerOptions>>().toExtend<TriggerOptions>();
    expectTypeOf(createMailbox({ fixtures: undefined })).toExtend<{ readonly keys: object }>();
  });

  test('mail from outside is its parts, or the whole as it travels', () => {
    expectTypeOf<Mailbox['receiveMessage']>().toEqualTypeOf<(message: Receivable) => Promise<ReceivedMessage[]>>();
    expectTypeOf<IncomingMessage | Pick<Sample, 'mails'>>().toExtend<Receivable>();
    expectTypeOf({ sample: 'no-reply', to: 'a@b.test', seed: 2 }).toExtend<Receivable>();
    expectTypeOf(createSample('two-from', { to: 'a@b.test' })).toExtend<Receivable>();
    // @ts-expect-error there is no such sample
    createSample('two-form', { to: 'a@b.test' });
    expectTypeOf<
      z.input<ReturnType<typeof composedMessage>> | z.input<ReturnType<typeof rawMessage>>
    >().toExtend<IncomingMessage>();
    expectTypeOf({
      to: 'a@b.test',
      from: 'c@d.test',
      attachments: [{ filename: 'a', text: 'b' }],
    }).toExtend<IncomingMessage>();
    expectTypeOf({ eml: new Uint8Array() }).toExtend<IncomingMessage>();
    // @ts-expect-error there is no such field
    createMailbox().receiveMessage({ to: 'a@b.test' });
    expectTypeOf<keyof ReceivedMessage>().toEqualTypeOf<'id' | 'inboxId' | 'threadId' | 'tenantId'>();
  });

  test('the clock takes durations, moments and a tenant', () => {
    expectTypeOf<Mailbox['clock']>().toEqualTypeOf<MailboxClock>();
    expectTypeOf<keyof MailboxClock>().toEqualTypeOf<'now' | 'isFrozen' | 'freeze' | 'resume' | 'advance'>();
    expectTypeOf<Duration>().toEqualTypeOf<number | string>();
    expectTypeOf<MailboxClock['freeze']>().parameter(0).toEqualTypeOf<Date | string | undefined>();
  });

  test('the options of a fault depend on what it applies to', () => {
    expectTypeOf({
      on: 'request',
      operation: 'sendMessage',
      cut: true,
      effect: 'applied',
    } as const).toExtend<FaultOptions>();
    expectTypeOf({ on: 'smtp', recipient: 'a@b.test', status: 451 } as const).toExtend<FaultOptions>();
    expectTypeOf<FaultTarget>().toEqualTypeOf<'request' | 'delivery' | 'stream' | 'smtp' | 'imap'>();
    expectTypeOf<Extract<Fault, { on: 'request' }>['times']>().toEqualTypeOf<number | null>();
    expectTypeOf<Extract<Fault, { on: 'delivery' }>['delayMs']>().toBeNumber();
    // @ts-expect-error there is no such operation
    createMailbox().addFault({ on: 'request', operation: 'sendMessages', status: 503 });
    // @ts-expect-error a stream has no webhook
    createMailbox({ faults: [{ on: 'stream', kind: 'close', webhookId: 'x' }] });
  });

  test('a method of a client takes the path, the body and the rest, and knows the reply', () => {
    type Method<Id extends keyof ServiceClient> = Parameters<ServiceClient[Id]>;
    type Reply<Id extends keyof ServiceClient> = Awaited<ReturnType<ServiceClient[Id]>>;
    expectTypeOf<['i', 'm', { plainBody: 'x' }, { headers: { a: 'b' } }]>().toExtend<Method<'replyToMessage'>>();
    expectTypeOf<['i', { query: { limit: 1 } }]>().toExtend<Method<'listMessages'>>();
    expectTypeOf<[{ url: 'x' }]>().toExtend<Method<'createWebhook'>>();
    expectTypeOf<['i']>().toExtend<Method<'rotateInboxKey'>>();
    expectTypeOf<['i']>().not.toExtend<Method<'getMessage'>>();
    expectTypeOf<['i']>().not.toExtend<Method<'sendMessage'>>();
    expectTypeOf<[{ query: { direction: 'up' } }]>().not.toExtend<Method<'listMessages'>>();
    expectTypeOf<Parameters<ServiceClient[keyof ServiceClient]>[0]>().not.toBeNever();
    expectTypeOf<Reply<'getMessage'>['plainBody']>().toEqualTypeOf<string>();
    expectTypeOf<Reply<'getMessage'>['to']>().toEqualTypeOf<string | readonly string[]>();
    expectTypeOf<Reply<'getRawMessage'>>().toEqualTypeOf<Uint8Array>();
    expectTypeOf<Reply<'getHealth'>['status']>().toEqualTypeOf<'ok' | undefined>();
    expectTypeOf<ApiReplyError['status']>().toBeNumber();
  });

  test('the exports are these', () => {
    expectTypeOf<keyof typeof client>().toEqualTypeOf<
      'ApiReplyError' | 'connectEmulator' | 'createClient' | 'parseHeaders'
    >();
    expectTypeOf<keyof typeof library>().toEqualTypeOf<
      | 'ApiError'
      | 'BEHAVIOURS'
      | 'BehaviourError'
      | 'createMailbox'
      | 'defaultFixture'
      | 'ERRORS'
      | 'EVENT_KINDS'
      | 'FixtureError'
      | 'RefusedError'
    >();
    expectTypeOf<keyof typeof server>().toEqualTypeOf<'startServer'>();
  });
});
