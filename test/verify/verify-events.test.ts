import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, type TestContext, test } from 'vitest';
import type { Finding } from '../../src/verify/finding.ts';
import { findInOperations } from '../../src/verify/operation-findings.ts';
import { OperationSequence } from '../../src/verify/operation-sequence.ts';
import { Recording } from '../../src/verify/recording.ts';
import { createServerTarget, startEmulator, startReceiver } from '../../src/verify/targets.ts';
import { type Target, VerifySession } from '../../src/verify/verify-session.ts';
import { type Break, withBody } from './broken-servers.ts';
import { keysOf, type StreamBreak, startBroken } from './proxy.ts';

const STREAMS = 'streams: what each key is told of';
const DELIVERIES = 'deliveries: what each webhook is told of';

const TENANT = /^tk_acme/;

/** Servers with streams that are broken on purpose. */
const BROKEN_STREAMS: readonly (readonly [name: string, streams: StreamBreak])[] = [
  [
    'shows a tenant the events of the other tenant',
    { alsoOf: (key) => (TENANT.test(key) ? 'tk_globex_tenant_key' : undefined) },
  ],
  [
    'shows a workspace the events of the whole tenant',
    { alsoOf: (key) => (/^wk_/.test(key) ? 'tk_acme_tenant_key' : undefined) },
  ],
  [
    'shows an inbox the events of the whole tenant',
    { alsoOf: (key) => (/^ak_/.test(key) ? 'tk_acme_tenant_key' : undefined) },
  ],
  ['sends no event', { change: (frame) => (frame.type === 'event' ? undefined : frame) }],
  [
    'sends another sender',
    {
      change: (frame) =>
        frame.type === 'event' ? { ...frame, message: { ...frame.message, from: 'x@verify.example' } } : frame,
    },
  ],
  [
    'leaves out a field of a message',
    {
      change: ({ message, ...frame }) => {
        const { thread_id: _, ...rest } = message ?? {};
        return message === undefined ? frame : { ...frame, message: rest };
      },
    },
  ],
];

/** Creates one more webhook for each, which no list shows and which is told of the mail that `change` selects. */
const withHiddenWebhook =
  (change: (body: Record<string, unknown>) => { key?: string; body: Record<string, unknown> }): (() => Break) =>
  () => {
    const hidden = new Set<string>();
    return async (call, send) => {
      const reply = await send();
      if (call.operation === 'createWebhook' && reply.status === 201 && call.body.workspaceId !== undefined) {
        hidden.add((await send(change(call.body))).body.id);
      }
      if (call.operation !== 'listWebhooks' || reply.status !== 200) return reply;
      const webhooks = reply.body.webhooks.filter(({ id }: { id: string }) => !hidden.has(id));
      return withBody(reply, { ...reply.body, webhooks });
    };
  };

/** Servers with deliveries that are broken on purpose. */
const BROKEN_DELIVERIES: readonly (readonly [name: string, create: () => Break])[] = [
  [
    'are told of the mail of the other tenant',
    withHiddenWebhook(({ workspaceId: _, ...body }) => ({ key: 'tk_globex_tenant_key', body })),
  ],
  [
    'are told of the mail of another workspace',
    withHiddenWebhook(({ workspaceId: _, ...body }) => ({ key: 'tk_acme_tenant_key', body })),
  ],
  [
    'are told of nothing',
    () => async (call, send) => {
      const url = String(call.body?.url);
      if (call.operation !== 'createWebhook' || !url.startsWith('http://127.0.0.1')) return await send();
      // Nothing listens at this port.
      const reply = await send({ body: { ...call.body, url: url.replace(/:\d+/, ':9') } });
      return withBody(reply, { ...reply.body, url });
    },
  ],
  [
    'are signed with another secret than that of the webhook',
    () => async (_, send) => {
      const reply = await send();
      const text = reply.text.replaceAll(/whsec_\w/g, (start) => (start === 'whsec_A' ? 'whsec_B' : 'whsec_A'));
      return text === reply.text ? reply : withBody(reply, JSON.parse(text));
    },
  ],
];

/** Observes the events of a target. */
async function record(target: Target, requestTimeoutMs: number): Promise<Recording> {
  const session = new VerifySession({ ...target, requestTimeoutMs }, 'samerun1');
  await session.open();
  const recording = new Recording(session);
  await new OperationSequence(recording).events();
  await session.close();
  return recording;
}

/** Compares the events of a broken server with those of an emulator, and returns the findings. */
async function compareEvents(
  context: TestContext,
  broken: Parameters<typeof startBroken>[2],
  // What is broken may not come at all.
  requestTimeoutMs = 2000,
) {
  await using server = await startServer({ port: 0 });
  const receiver = await startReceiver(0);
  const emulator = await startEmulator({ 'webhooks.create.url': 'http-or-https' }, receiver.forEmulator('emulator'));
  context.onTestFinished(receiver.close);
  const { tenant, otherTenant } = keysOf(server);
  const target = await createServerTarget({
    baseUrl: await startBroken(context, server, broken),
    key: tenant,
    secondKey: otherTenant,
    createReceiver: receiver.forServer,
    signal: new AbortController().signal,
  });
  const findings = findInOperations(await record(target, requestTimeoutMs), await record(emulator.target, 60_000));
  await emulator.close();
  return findings;
}

const differing = (findings: readonly Finding[]) =>
  findings.filter(({ verdict }) => verdict === 'differs').map(({ id }) => id);

describe('the comparison of events', () => {
  test.for(BROKEN_STREAMS)('a server that %s is named', async ([, streams], context) => {
    expect(differing(await compareEvents(context, { streams }))).toEqual([STREAMS]);
  });

  test.for(BROKEN_DELIVERIES)('webhooks that %s are named', async ([, create], context) => {
    expect(differing(await compareEvents(context, { broken: create() }))).toEqual([DELIVERIES]);
  });

  test('a server whose streams and deliveries are passed on unchanged agrees', async (context) => {
    const findings = await compareEvents(context, { streams: {} }, 60_000);
    expect(findings.map(({ id, verdict, found }) => [id, verdict, found])).toEqual([
      [STREAMS, 'agrees', 'as stated'],
      [DELIVERIES, 'agrees', 'as stated'],
    ]);
  });
});
