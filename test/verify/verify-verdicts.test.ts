import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { expect, type TestContext, test } from 'vitest';
import type { Finding } from '../../src/verify/finding.ts';
import { findInOperations } from '../../src/verify/operation-findings.ts';
import { OperationSequence } from '../../src/verify/operation-sequence.ts';
import { RUN_TIMEOUTS_MS, verifyServer } from '../../src/verify/verify-server.ts';
import { ConnectionError, type Reply, VerifyError, VerifySession } from '../../src/verify/verify-session.ts';
import { NEVER, runHere } from '../support/command.ts';
import { type Break, INTACT } from './broken-servers.ts';
import { type Fault, isService, keysOf, startProxy } from './proxy.ts';
import { createRecording, recordSequence } from './record-sequence.ts';

/** Compares a server through a proxy that does something with some requests. */
async function verifyThrough(
  context: TestContext,
  server: MailboxServer,
  fault: Fault,
  options: Partial<Parameters<typeof verifyServer>[0]> = {},
) {
  const baseUrl = await startProxy(context, server, (...exchange) => isService(exchange[0]) && fault(...exchange));
  return await verifyServer({ baseUrl, keys: keysOf(server), requestTimeoutMs: 5000, profile: {}, ...options });
}

const differing = ({ findings }: { readonly findings: readonly Finding[] }) =>
  findings.filter(({ verdict }) => verdict === 'differs').map(({ id, found }) => `${id}: ${found}`);

/** How many messages the first tenant has. */
async function countMessages({ fetch, keys }: Mailbox): Promise<number> {
  const { acme } = keys as unknown as Record<'acme', { tenant: string }>;
  const reply = await fetch('https://mailbox.test/v1/messages', { headers: { 'X-API-Key': acme.tenant } });
  return ((await reply.json()) as { pagination: { total: number } }).pagination.total;
}

/** What differs between a mailbox to which requests are sent in another way, and an emulator. */
async function differencesOf(broken: Break, target: Parameters<typeof recordSequence>[2] = {}) {
  const recording = await recordSequence(createMailbox(), broken, target);
  const findings = findInOperations(recording, await recordSequence(createMailbox()));
  return { findings, recording, differing: differing({ findings }) };
}

test('a server that dies in the middle ends the run, which says how far it had come', async () => {
  let count = 0;
  const dying: Break = async (call, send) => {
    count += 1;
    if (count > 700) throw new ConnectionError(`${call.method} ${call.path} failed: ECONNREFUSED`);
    return await send();
  };
  await expect(recordSequence(createMailbox(), dying)).rejects.toMatchObject({
    endsRun: true,
    message: expect.stringMatching(/^the server stopped answering after \d+ of about \d+ requests; 3 operations were/),
  });
  expect(count).toBeLessThan(740);
});

test('a run that has ended compares what was sent until then, and goes on with the emulator no longer', async () => {
  let count = 0;
  const reason = new VerifyError('the time of the run, 9 s, has passed', { endsRun: true, flag: 'a longer --timeout' });
  const ending: Break = async (_, send) => {
    count += 1;
    if (count > 900) throw reason;
    return await send();
  };
  const server = await createRecording(createMailbox(), ending);
  await expect(new OperationSequence(server).run()).rejects.toBe(reason);
  const emulator = await recordSequence(createMailbox(), INTACT, { ended: { recording: server, reason } });
  expect(emulator.session.answered).toBeGreaterThan(850);
  expect(emulator.session.answered).toBeLessThan(950);
  const findings = findInOperations(server, emulator, reason);
  expect(differing({ findings })).toEqual([]);
  expect(findings.find(({ id }) => id === 'createInbox: reply')?.verdict).toBe('not compared');
  const notReached = { verdict: 'not compared', found: reason.message, observableWith: 'a longer --timeout' };
  expect(findings.find(({ id }) => id === 'deleteDraft: effect')).toMatchObject(notReached);
  const whole = await recordSequence(createMailbox());
  const idsOf = (all: readonly Finding[]) => all.map(({ id }) => id).toSorted();
  expect(idsOf(findings)).toEqual(idsOf(findInOperations(whole, whole)));
});

test.for([
  [60, 4],
  [200, 1],
] as const)(
  'with %d ms for each reply, the whole is read %d times, because that is what the time of the run allows',
  async ([latencyMs, checkpoints]) => {
    // The clock of the run: replies that are awaited at the same time need the time of one.
    let [elapsedMs, waiting] = [0, 0];
    const slow: Break = async (_, send) => {
      waiting += 1;
      const reply = await send();
      elapsedMs += latencyMs / waiting;
      waiting -= 1;
      return reply;
    };
    const time = { limitMs: RUN_TIMEOUTS_MS.usual, elapsedMs: () => elapsedMs };
    const server = await recordSequence(createMailbox(), slow, { time });
    expect(server.checkpoints.size).toBe(checkpoints);
  },
);

test.for([
  [20, undefined],
  [
    200,
    'each reply takes about 200 ms, so this run needs about 9 minutes, and it ends after 5 minutes; to compare ' +
      'everything, give it more time: --timeout 540',
  ],
] as const)('a run says after its first 300 replies of %d ms whether its time will be enough', ([replyMs, said]) => {
  const time = { limitMs: RUN_TIMEOUTS_MS.usual, elapsedMs: () => 300 * replyMs };
  const send = async (): Promise<Reply> => ({ status: 200, headers: new Headers(), text: '', body: {} });
  const session = new VerifySession({ baseUrl: 'http://127.0.0.1:9', key: 'tk_x', send, time });
  session.answered = 300;
  expect(session.describeSlowness()).toBe(said);
});

test('a flag is named only for what the run lacks, whatever the server writes', async (context) => {
  await using server = await startServer({ port: 0 });
  const texts = ['the check must wait', 'the time of the run', 'the check needs a key of the operator'];
  const refusing: Fault = ({ url }, response) => {
    if (url !== '/v1/inboxes?limit=1') return false;
    response.writeHead(418, { 'content-type': 'application/json' }).end(JSON.stringify({ error: texts.join() }));
    return true;
  };
  const { findings } = await verifyThrough(context, server, refusing, { noDeliveries: true });
  const quoting = findings.filter(({ verdict, found }) => verdict === 'not compared' && found.includes(texts[0] ?? ''));
  expect(quoting.map(({ id }) => id)).toEqual(['requests.pages']);
  expect(quoting.flatMap(({ observableWith }) => observableWith ?? [])).toEqual([]);
});

test.for([
  ['before', 400],
  ['after', 97],
  ['after', 113],
] as const)(
  'a connection that is closed once %s a request is done, for each %d requests, is tried again and counted, and is no difference',
  async ([when, every]) => {
    let count = 0;
    const closing: Break = async (call, send) => {
      count += 1;
      const isClosed = count % every === 0;
      if (isClosed && when === 'after') await send();
      if (isClosed) throw new ConnectionError(`${call.method} ${call.path} failed: ECONNRESET`);
      return await send();
    };
    const { differing: found, recording } = await differencesOf(closing);
    expect(found).toEqual([]);
    expect(recording.session.closedConnections).toBeGreaterThan(5);
  },
);

test('a server that asks to wait is asked again later, and is not accused', async () => {
  let count = 0;
  const waiting: Break = async (_, send) => {
    count += 1;
    if (count % 97 !== 0) return await send();
    return { status: 429, headers: new Headers({ 'retry-after': '0' }), text: '{"error":"x"}', body: { error: 'x' } };
  };
  expect((await differencesOf(waiting)).differing).toEqual([]);
  expect(count).toBeGreaterThan(970);
});

test.for([
  ['second', { otherTenant: 'tk_no_such_tenant_key' }],
  ['operator', { operator: 'sa_no_such_operator_key' }],
] as const)('an invalid %s key is refused before anything is created', async ([name, changed], context) => {
  await using server = await startServer({ port: 0 });
  const methods: string[] = [];
  const noted: Fault = ({ method = '' }) => {
    methods.push(method);
    return false;
  };
  const run = verifyThrough(context, server, noted, { keys: { ...keysOf(server), ...changed } });
  await expect(run).rejects.toThrow(`the server does not accept the ${name} key: GET /v1/me is 401 with it`);
  expect(methods).not.toContain('POST');
});

test('a run that cannot begin does not print the key that the server shows', async (context) => {
  await using server = await startServer({ port: 0 });
  const key = 'tk_acme_tenant_key';
  const baseUrl = await startProxy(context, server, (incoming, response) => {
    const shown = [key, Buffer.from(key).toString('base64'), encodeURIComponent(key)].join(' ');
    response.writeHead(500).end(`{"error":"no session for ${shown} at ${incoming.url}"}`);
    return true;
  });
  const args = ['verify', '--base-url', baseUrl, '--api-key', key];
  const { code, err, out } = await runHere(args, {}, { interrupted: NEVER });
  expect(code).toBe(1);
  expect(err).toContain('cannot begin');
  expect(err + out.join('')).not.toContain('acme_tenant_key');
  expect(err + out.join('')).not.toContain(Buffer.from(key).toString('base64').slice(4, -4));
});

test('what is created while the run is stopped is deleted too', async (context) => {
  await using server = await startServer({ port: 0 });
  const { tenant } = keysOf(server);
  const controller = new AbortController();
  let count = 0;
  await verifyThrough(
    context,
    server,
    (incoming) => {
      if (incoming.method !== 'POST' || !/\/v1\/(?:inboxes|webhooks)$/.test(incoming.url ?? '')) return false;
      count += 1;
      if (count === 6) controller.abort();
      return false;
    },
    { signal: controller.signal },
  );
  expect(count).toBe(6);
  for (const path of ['inboxes', 'webhooks', 'workspaces']) {
    const reply = await fetch(`${server.url}/v1/${path}`, { headers: { 'X-API-Key': tenant } });
    expect(await reply.text()).not.toContain('verify');
  }
});

test('without deliveries, no mail is sent, and what needs mail is not compared', async () => {
  const mailbox = createMailbox();
  const before = await countMessages(mailbox);
  const recording = await recordSequence(mailbox, INTACT, { noDeliveries: true, deliver: undefined });
  expect(await countMessages(mailbox)).toBe(before);
  const emulator = await recordSequence(createMailbox(), INTACT, { noDeliveries: true, deliver: undefined });
  const findings = findInOperations(recording, emulator);
  expect(differing({ findings })).toEqual([]);
  expect(findings.find(({ id }) => id === 'sendMessage: reply')).toMatchObject({
    verdict: 'not compared',
    found: expect.stringContaining('the check sends a mail, which calls the webhooks'),
  });
});

test('two runs in the same two tenants do not accuse each other', async () => {
  const mailbox = createMailbox();
  const runs = await Promise.all(['samerun1', 'samerun2'].map((runId) => recordSequence(mailbox, INTACT, { runId })));
  for (const run of runs) {
    const emulator = await recordSequence(createMailbox(), INTACT, { runId: run.session.runId });
    expect(differing({ findings: findInOperations(run, emulator) })).toEqual([]);
  }
});
