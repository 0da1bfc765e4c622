import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { beforeAll, describe, expect, test } from 'vitest';
import { findInOperations } from '../../src/verify/operation-findings.ts';
import type { Recording } from '../../src/verify/recording.ts';
import { verifyServer } from '../../src/verify/verify-server.ts';
import type { Reply } from '../../src/verify/verify-session.ts';
import { Choice } from '../support/choice.ts';
import { type Break, INTACT } from './broken-servers.ts';
import { keysOf, startBroken, type WriteBody } from './proxy.ts';
import { recordSequence } from './record-sequence.ts';

/** Draws what the servers do: `VERIFY_SEED=7` draws others. */
const SEED = Number(process.env.VERIFY_SEED ?? 1);

const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;

/** A server that is right, but other than the emulator in what no client may rely on. */
interface RightServer {
  readonly name: string;
  create(choice: Choice): Break;
  /** What is in the mailbox before the run. */
  readonly before?: (mailbox: Mailbox) => Promise<void>;
}

const changeText = (reply: Reply, change: (text: string) => string): Reply => {
  const text = change(reply.text);
  return { ...reply, text, body: text.startsWith('{') ? JSON.parse(text) : reply.body };
};

const shuffled = (value: unknown, choice: Choice): unknown => {
  if (Array.isArray(value)) return value.map((each) => shuffled(each, choice));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(
    ([name, each]) => [name, shuffled(each, choice), choice.number(1000)] as const,
  );
  return Object.fromEntries(fields.toSorted((a, b) => a[2] - b[2]).map(([name, each]) => [name, each]));
};

async function fill(mailbox: Mailbox): Promise<void> {
  for (const { tenant } of Object.values(mailbox.keys) as { tenant?: string }[]) {
    if (tenant === undefined) continue;
    const post = async (path: string, body: object) => {
      const headers = { 'X-API-Key': tenant, 'Content-Type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await mailbox.fetch(`https://mailbox.test${path}`, init)).json() as Promise<{
        id: string;
        email: string;
      }>;
    };
    for (let count = 0; count < 12; count += 1) {
      const inbox = await post('/v1/inboxes', {});
      await post('/v1/webhooks', { url: 'https://hooks.example/a', events: ['message.received'] });
      const mail = { to: inbox.email, subject: 'verify', plainBody: 'x', verified: true };
      for (let mails = 0; mails < 20; mails += 1) await post(`/v1/inboxes/${inbox.id}/send`, mail);
    }
  }
}

const RIGHT_SERVERS: readonly RightServer[] = [
  {
    name: 'writes the fields of objects in any order',
    create: (choice) => async (_, send) => {
      const reply = await send();
      return changeText(reply, (text) => (text.startsWith('{') ? JSON.stringify(shuffled(reply.body, choice)) : text));
    },
  },
  {
    name: 'writes JSON with line breaks, and says utf-8',
    create: () => async (_, send) => {
      const reply = await send();
      if (!reply.text.startsWith('{')) return reply;
      const headers = new Headers(reply.headers);
      headers.set('content-type', 'application/json; charset=UTF-8');
      return { ...changeText(reply, () => JSON.stringify(reply.body, null, 2)), headers };
    },
  },
  {
    name: 'sends further headers',
    create: () => async (call, send) => {
      const reply = await send();
      const headers = new Headers(reply.headers);
      headers.set('x-request-id', randomUUID());
      headers.set('strict-transport-security', 'max-age=1');
      headers.set('vary', 'Origin');
      headers.append('set-cookie', `lb=${randomUUID()}; Path=/`);
      if (reply.status === 201) headers.set('location', `${call.path}/${reply.body.id}`);
      return { ...reply, headers };
    },
  },
  {
    name: 'needs some milliseconds for each reply, each another time',
    create: (choice) => async (_, send) => {
      const reply = await send();
      await sleep(choice.number(4));
      return reply;
    },
  },
  {
    name: 'writes ids in capitals',
    create: () => async (call, send) => {
      const lower = (text: string) => text.replaceAll(ID, (id) => id.toLowerCase());
      const query = call.query.size > 0 ? `?${call.query}` : '';
      const body = call.body === undefined ? {} : { body: JSON.parse(lower(JSON.stringify(call.body))) };
      const reply = await send({ path: lower(call.path + query), ...body });
      return changeText(reply, (text) => text.replaceAll(ID, (id) => id.toUpperCase()));
    },
  },
  { name: 'has other things in both tenants', create: () => INTACT, before: fill },
  {
    name: 'gets other things in the same tenant during the run',
    create: (choice) => async (call, send) => {
      const reply = await send();
      if (call.operation === 'createDraft' && choice.number(3) === 0) {
        const key = 'tk_acme_tenant_key';
        const made = await send({ method: 'POST', path: '/v1/inboxes', key, body: {} });
        const mail = { to: made.body.email, subject: 'verify', plainBody: 'x', verified: true };
        await send({ method: 'POST', path: `/v1/inboxes/${made.body.id}/send`, key, body: mail });
      }
      return reply;
    },
  },
  {
    name: 'has a clock that is ten minutes ahead',
    create: () => async (_, send) =>
      changeText(await send(), (text) =>
        text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) => new Date(Date.parse(time) + 600_000).toISOString()),
      ),
  },
];

/** Writes a body in pieces of any size, which may end in the middle of a character. */
async function writeInPieces(response: ServerResponse, text: string, choice: Choice): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + choice.number(300);
    response.write(bytes.subarray(at, end));
    at = end;
    await setImmediate();
  }
  response.end();
}

describe('a server that is right', () => {
  let emulator: Recording;
  beforeAll(async () => {
    emulator = await recordSequence(createMailbox());
  });

  test.for(RIGHT_SERVERS.map((server) => [server.name, server] as const))(
    'and %s is not accused',
    async ([, { create, before }]) => {
      const mailbox = createMailbox();
      await before?.(mailbox);
      const recording = await recordSequence(mailbox, create(new Choice(SEED)));
      const findings = findInOperations(recording, emulator);
      const accused = findings.filter(({ verdict }) => verdict === 'differs');
      expect(accused.map(({ id, found }) => `${id}: ${found}`)).toEqual([]);
      expect(findings.filter(({ verdict }) => verdict === 'agrees').length).toBeGreaterThan(150);
    },
  );

  test('and writes its replies in pieces is not accused', async (context) => {
    await using server = await startServer({ port: 0 });
    const choice = new Choice(SEED);
    const write: WriteBody = (response, text) => writeInPieces(response, text, choice);
    const baseUrl = await startBroken(context, server, { write });
    const { findings, stopped } = await verifyServer({
      baseUrl,
      keys: keysOf(server),
      profile: {},
      noDeliveries: true,
      timeoutMs: 3_600_000,
    });
    expect(stopped).toBeUndefined();
    const accused = findings.filter(({ verdict }) => verdict === 'differs');
    expect(accused.map(({ id, found }) => `${id}: ${found}`)).toEqual([]);
  });
});
