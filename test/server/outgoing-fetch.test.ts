import { networkInterfaces } from 'node:os';
import { createMailbox, type Delivery, type Mailbox, RefusedError } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { type ServerOptions, startServer } from 'agent-mailbox-mock/server';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { createReceiverRules } from '../../src/server/outgoing-fetch.ts';
import { parseSettings } from '../../src/server/server-options.ts';
import { fetchInProcess } from '../../src/world/fetch-in-process.ts';
import { senderTo } from '../support/send.ts';
import { serve } from '../support/serve.ts';
import { createWebhook, START } from '../support/webhooks.ts';

/** Creates the rules from the option of a server. */
const rulesOf = (deliverTo: readonly string[]) => createReceiverRules(parseSettings({ deliverTo }).deliverTo);

const NEVER = 'is a link-local or metadata address, which is never called.';

/** Addresses of cloud metadata services in all notations. */
const FORBIDDEN = [
  '169.254.169.254',
  '169.254.170.2',
  '2852039166',
  '0xa9fea9fe',
  '0xa9.0xfe.0xa9.0xfe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.254.169.254.',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '[0:0:0:0:0:FFFF:A9FE:A9FE]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b::169.254.169.254]',
  '[::ffff:0:a9fe:a9fe]',
  '[2002:a9fe:a9fe::1]',
  '[64:ff9b:1::a9fe:a9fe]',
  '[64:ff9b:1:a9fe:a9:fe00::]',
  '[64:ff9b:1:a9fe:a9:fe00:12:3456]',
  '[64:ff9b:1:ffa9:fe:a9fe::]',
  '[64:ff9b:1:ffff:a9:fea9:fe00:0]',
  '[2001:db8:a9fe:a9fe::]',
  '[2001:db8:1a9:fea9:fe::]',
  '[2001:db8:122:a9fe:a9:fe00::]',
  '[2001:db8:122:3a9:fe:a9fe::]',
  '[2001:db8:122:344:a9:fea9:fe00:0]',
  '[2001:db8:122:344::a9fe:a9fe]',
  '[2001:db8:122:344::6464:64c8]',
  '[2001:0:a9fe:a9fe:0:f227:3fff:fdd2]',
  '[2001:0:4136:e378:8000:63bf:5601:5601]',
  '[2001:0:4136:e378:8000:63bf:9b9b:9b37]',
  '[fe80::1]',
  '[febf::1]',
  '[fd00:ec2::254]',
  '[fd00:0ec2:0:0:0:0:0:0254]',
  '[fd20:ce::254]',
  '100.100.100.200',
  '[::ffff:100.100.100.200]',
  '[64:ff9b::6464:64c8]',
  '168.63.129.16',
  '192.0.0.192',
] as const;

/** Addresses that must be allowed explicitly; these are reserved for documentation. */
const ELSEWHERE = [
  '[2001:db8:122:344:a9fe:a9fe:a9fe:1]',
  '[2606:4700:4700::1111]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[64:ff9b:1::c000:221]',
  '203.0.113.1',
  '10.0.0.1',
  '192.168.0.1',
  '172.16.0.1',
  '0.0.0.0',
  '[2001:db8::1]',
  '[fd12::1]',
  '[::]',
];

/** Returns the host in the form of URLs, without brackets. */
const hostOf = (written: string) => new URL(`http://${written}/`).hostname.replace(/^\[|\]$/g, '');

describe('the rules', () => {
  test.for([...FORBIDDEN])('never allow calls to %s, even if all hosts are allowed', (written, { expect }) => {
    const host = hostOf(written);
    for (const deliverTo of [[], ['*'], ['0.0.0.0/0', '::/0'], [host.includes(':') ? `[${host}]` : host]]) {
      const rules = rulesOf(deliverTo);
      expect(rules(host)).toBe(`${host} ${NEVER}`);
      expect(rules('intranet.example', host)).toBe(`intranet.example (${host}) ${NEVER}`);
    }
  });

  test.for(['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'])(
    'always allow calls to %s',
    (host, { expect }) => {
      for (const deliverTo of [[], ['*'], ['hooks.example']]) {
        expect(rulesOf(deliverTo)(host)).toBeUndefined();
        expect(rulesOf(deliverTo)('localhost', host)).toBeUndefined();
      }
    },
  );

  test.for([...ELSEWHERE])('allow calls to %s only if it is allowed explicitly', (written, { expect }) => {
    const host = hostOf(written);
    const said = `${host} is not a loopback address; start with --deliver-to ${host} to allow it.`;
    expect(rulesOf([])(host)).toBe(said);
    expect(rulesOf(['hooks.example', '8.8.8.0/24', '2001:4860::/32'])(host)).toBe(said);
    expect(rulesOf([host])(host)).toBeUndefined();
    expect(rulesOf(['*'])(host)).toBeUndefined();
  });

  const OTHER = '203.0.113.7';

  test.for<[entry: string, permitted: [host: string, address?: string][], refused: [host: string, address?: string][]]>(
    [
      [
        'hooks.example',
        [['hooks.example', OTHER], ['hooks.example']],
        [
          ['a.hooks.example', OTHER],
          ['example', OTHER],
        ],
      ],
      ['HOOKS.Example.', [['hooks.example', OTHER]], [[OTHER]]],
      [OTHER, [[OTHER]], [['hooks.example', OTHER], ['203.0.113.70']]],
      ['fd12::0001', [['fd12::1']], [['fd12::2']]],
      ['[fd12::1]', [['fd12::1']], [['fd12::2']]],
      [
        '10.0.0.0/8',
        [
          ['10.0.0.0'],
          ['10.255.255.255'],
          ['intranet.example', '10.1.2.3'],
          ['::ffff:10.1.2.3'],
          ['unresolved.example'],
        ],
        [['11.0.0.0'], ['9.255.255.255'], ['intranet.example', OTHER], ['fd12::1']],
      ],
      ['203.0.113.7/32', [[OTHER]], [['203.0.113.6'], ['203.0.113.8']]],
      ['fd12::/16', [['fd12::1'], ['fd12:ffff::1']], [['fd13::1'], [OTHER]]],
      ['0.0.0.0/0', [[OTHER], ['hooks.example', OTHER]], [['fd12::1']]],
      ['::/0', [['fd12::1']], [[OTHER]]],
      ['*', [[OTHER], ['fd12::1'], ['hooks.example', OTHER], ['hooks.example']], []],
    ],
  )('with %s let this be called and not that', ([entry, permitted, refused], { expect }) => {
    const rules = rulesOf([entry]);
    for (const target of permitted) expect(rules(...target), target.join()).toBeUndefined();
    for (const target of refused)
      expect(rules(...target), target.join()).toContain('is not a loopback address; start with');
  });

  test.for([
    '',
    ' ',
    'https://hooks.example',
    'hooks.example:80',
    '10.0.0.0/33',
    '10.0.0.0/',
    '*.example',
    'a b',
    5,
    null,
  ])('are not made of %j', (entry, { expect }) => {
    expect(() => rulesOf([entry as string])).toThrow(TypeError);
    expect(() => rulesOf(['127.0.0.1', entry as string])).toThrow(
      `The option deliverTo takes hosts, ranges such as "10.0.0.0/8", or "*", not ${JSON.stringify(entry)}.`,
    );
  });

  test('are a list', async ({ expect }) => {
    for (const [deliverTo, shown] of [
      ['*', '"*"'],
      [{}, 'an object'],
      [5, '5'],
      [5n, '5'],
    ]) {
      await expect(startServer({ port: 0, deliverTo: deliverTo as never })).rejects.toThrow(
        `The option deliverTo must be a list, not ${shown}.`,
      );
    }
  });
});

/** Sends one event to a URL and returns its delivery. */
async function deliver(mailbox: Mailbox, url: string): Promise<Delivery> {
  mailbox.clock.freeze(START);
  const { id } = await createWebhook({ mailbox, send: senderTo(mailbox) }, url);
  const [delivery] = mailbox.trigger('message.sent', { webhookId: id });
  await mailbox.settled({ timeout: '20s' });
  return mailbox.delivery(delivery?.id ?? '');
}

async function deliverFrom(options: ServerOptions, url: string): Promise<Delivery> {
  await using server = await startServer({ ...options, port: 0 });
  return await deliver(server.mailbox, url);
}

/** Starts a server at an address of this machine that counts its requests. */
async function countAt(host: string) {
  let requests = 0;
  const server = await serve((_request, response) => {
    requests += 1;
    response.end();
  }, host);
  return { ...server, requests: () => requests };
}

const ADDRESSES = Object.values(networkInterfaces()).flatMap((list = []) => list);
const hasIPv6 = ADDRESSES.some(({ address }) => address === '::1');
/** A non-loopback address of this machine, if it has one. */
const OWN = ADDRESSES.find(({ internal, family, address }) => {
  return !internal && family === 'IPv4' && !address.startsWith('169.254.');
})?.address;

describe('a server', () => {
  test.for(['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f.0.0.1', '[::ffff:127.0.0.1]'])(
    'calls a receiver at %s',
    async (host, { expect }) => {
      await using receiver = await countAt('127.0.0.1');
      const { state, attempts } = await deliverFrom({}, `http://${host}:${receiver.port}/in`);
      expect([state, attempts[0]?.error, receiver.requests()]).toEqual(['delivered', null, 1]);
    },
  );

  test.skipIf(!hasIPv6)('calls a receiver at [::1]', async ({ expect }) => {
    await using receiver = await countAt('::1');
    const { state } = await deliverFrom({}, `http://[::1]:${receiver.port}/in`);
    expect([state, receiver.requests()]).toEqual(['delivered', 1]);
  });

  test('never calls a forbidden address in any notation, even if all hosts are allowed, and does not retry', async ({
    expect,
  }) => {
    await using server = await startServer({ port: 0, deliverTo: ['*', '0.0.0.0/0', '::/0', '169.254.169.254'] });
    for (const written of FORBIDDEN) {
      const { id, ...delivery } = await deliver(server.mailbox, `http://${written}/latest/meta-data`);
      expect(delivery, written).toMatchObject({
        state: 'refused',
        reason: `${hostOf(written)} ${NEVER}`,
        nextAttemptAt: null,
        attempts: [{ status: null, error: `${hostOf(written)} ${NEVER}`, nextAttemptAt: null }],
      });
      expect(server.mailbox.delivery(id).attempts).toHaveLength(1);
    }
    await server.mailbox.clock.advance('10d');
    expect(server.mailbox.deliveries({ state: 'refused' }).map(({ attempts }) => attempts.length)).toEqual(
      FORBIDDEN.map(() => 1),
    );
  });

  test('calls other machines only if they are allowed, and explains how to allow them', async ({ expect }) => {
    await using server = await startServer({ port: 0 });
    for (const written of ELSEWHERE) {
      for (const protocol of ['http', 'https']) {
        const { state, reason, attempts } = await deliver(server.mailbox, `${protocol}://${written}/in`);
        const host = hostOf(written);
        const said = `${host} is not a loopback address; start with --deliver-to ${host} to allow it.`;
        expect([state, reason, attempts.length, attempts[0]?.error]).toEqual(['refused', said, 1, said]);
      }
    }
    await server.mailbox.clock.advance('10d');
    expect(server.mailbox.deliveries({ state: 'refused' }).every(({ attempts }) => attempts.length === 1)).toBe(true);
  });

  test.skipIf(!OWN)('calls another address of this machine only if it is allowed', async ({ expect }) => {
    const own = String(OWN);
    await using receiver = await countAt('0.0.0.0');
    const url = `http://${own}:${receiver.port}/in`;
    for (const deliverTo of [[], ['hooks.example'], ['127.0.0.0/8']]) {
      expect((await deliverFrom({ deliverTo }, url)).state, deliverTo.join()).toBe('refused');
    }
    expect(receiver.requests()).toBe(0);
    const permissions = [[own], [`${own}/32`], [`${own}/8`], ['0.0.0.0/0'], ['*'], ['hooks.example', own]];
    for (const deliverTo of permissions) {
      expect((await deliverFrom({ deliverTo }, url)).state, deliverTo.join()).toBe('delivered');
    }
    expect(receiver.requests()).toBe(permissions.length);
  });

  test.skipIf(!OWN)('does not follow a redirect to a forbidden receiver', async ({ expect }) => {
    await using target = await countAt('0.0.0.0');
    await using receiver = createReceiver();
    const url = await receiver.listen();
    await using server = await startServer({ port: 0 });
    for (const [status, location] of [
      [302, `http://${OWN}:${target.port}/in`],
      [307, `http://${OWN}:${target.port}/in`],
      [308, 'http://169.254.169.254/latest/meta-data'],
      [301, `http://127.0.0.1:${target.port}/in`],
    ] as const) {
      receiver.answer({ status, headers: { Location: location } });
      expect(await deliver(server.mailbox, url)).toMatchObject({
        state: 'pending',
        attempts: [{ status, error: `The receiver answered ${status}, and redirects are not followed.` }],
      });
    }
    expect([receiver.requests.length, target.requests()]).toEqual([4, 0]);
  });

  test('makes no more calls after it is closed', async ({ expect }) => {
    await using receiver = createReceiver({ answers: [500, 'timeout'] });
    const url = await receiver.listen();
    const server = await startServer({ port: 0 });
    const { mailbox } = server;
    const failed = await deliver(mailbox, url);
    const [hanging] = mailbox.trigger('message.sent', { webhookId: failed.webhookId });
    await receiver.received(2);
    await server.close();
    await mailbox.clock.advance('10d');
    const fresh = await deliver(mailbox, url);
    const said = 'The emulator is shutting down.';
    expect([failed, hanging, fresh].map((each) => mailbox.delivery(each?.id ?? ''))).toMatchObject([
      { state: 'refused', reason: said, attempts: [{ status: 500 }, { status: null, error: said }] },
      { state: 'refused', reason: said },
      { state: 'refused', reason: said, attempts: [{ error: said }] },
    ]);
    expect(receiver.requests).toHaveLength(2);
  });

  test('survives a receiver that violates HTTP', async ({ expect }) => {
    await using server = await startServer({ port: 0 });
    for (const answer of [
      'HTTP/1.1 799 What\r\nContent-Length: 1\r\n\r\nx',
      'HTTP/1.1 600 What\r\n\r\nendless',
      'HTTP/1.1 099 Low\r\n\r\n',
      'no http at all\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`,
    ]) {
      await using broken = await serve((_request, response) => void response.socket?.end(answer));
      const { state, attempts } = await deliver(server.mailbox, broken.url);
      expect([state, attempts], answer.slice(0, 40)).toMatchObject([
        'pending',
        [{ status: null, error: expect.stringMatching(/\S/) }],
      ]);
    }
    await using receiver = createReceiver();
    expect((await deliver(server.mailbox, await receiver.listen())).state).toBe('delivered');
  });

  test('accepts a response whose header has characters of several bytes', async ({ expect }) => {
    await using server = await startServer({ port: 0 });
    const answer = Buffer.from('HTTP/1.1 200 OK\r\nX-Note: 漢字\r\nContent-Length: 2\r\n\r\nok', 'utf8');
    await using odd = await serve((_request, response) => void response.socket?.end(answer));
    const { state, attempts } = await deliver(server.mailbox, odd.url);
    expect([state, attempts[0]?.responseBody]).toEqual(['delivered', 'ok']);
  });

  test('uses the fetch of its environment if there is one', async ({ expect }) => {
    const called: string[] = [];
    const fetch = async (url: string) => {
      called.push(url);
      return new Response('mine');
    };
    const { state, attempts } = await deliverFrom({ environment: { fetch } }, 'https://hooks.example/in');
    expect([state, attempts[0]?.responseBody, called]).toEqual(['delivered', 'mine', ['https://hooks.example/in']]);
  });
});

const msw = setupServer();
beforeAll(() => msw.listen({ onUnhandledRequest: 'bypass' }));
afterAll(() => msw.close());

test('a server calls its receivers even if msw intercepts the requests of its process', async ({ expect }) => {
  await using receiver = await countAt('127.0.0.1');
  msw.use(http.all(`${receiver.url}*`, () => HttpResponse.text('intercepted', { status: 500 })));
  const { state, attempts } = await deliverFrom({}, receiver.url);
  expect([state, attempts[0]?.responseBody, receiver.requests()]).toEqual(['delivered', '', 1]);
});

describe('a mailbox in process', () => {
  test.for(['127.0.0.1', 'localhost', '127.1', '2130706433'])('calls a receiver at %s', async (host, { expect }) => {
    await using receiver = await countAt('127.0.0.1');
    const { state } = await deliver(createMailbox(), `http://${host}:${receiver.port}/in`);
    expect([state, receiver.requests()]).toEqual(['delivered', 1]);
  });

  test.skipIf(!hasIPv6)('calls a receiver at [::1]', async ({ expect }) => {
    await using receiver = await countAt('::1');
    expect((await deliver(createMailbox(), `http://[::1]:${receiver.port}/in`)).state).toBe('delivered');
  });

  test('calls other machines only if the request is intercepted, and does not retry', async ({ expect }) => {
    const mailbox = createMailbox();
    for (const written of [...FORBIDDEN, ...ELSEWHERE, 'hooks-nobody.example', 'localhost.evil.example']) {
      const host = new URL(`http://${written}/`).hostname;
      const said = `${host} is neither a loopback address nor intercepted in this process, so it was not called.`;
      for (const protocol of ['http', 'https']) {
        const { state, reason, attempts } = await deliver(mailbox, `${protocol}://${written}/in`);
        expect([state, reason, attempts.length]).toEqual(['refused', said, 1]);
      }
    }
    await mailbox.clock.advance('10d');
    expect(mailbox.deliveries().every(({ state, attempts }) => state === 'refused' && attempts.length === 1)).toBe(
      true,
    );
  });

  test.skipIf(!OWN)('opens no connection to another address of this machine', async ({ expect }) => {
    await using receiver = await countAt('0.0.0.0');
    const { state } = await deliver(createMailbox(), `http://${OWN}:${receiver.port}/in`);
    expect([state, receiver.requests()]).toEqual(['refused', 0]);
  });

  test('makes intercepted calls, and does not follow their redirects', async ({ expect }) => {
    let followed = 0;
    msw.use(
      http.post('https://hooks-open.example/in', () => HttpResponse.text('taken', { status: 202 })),
      http.post('https://hooks-moved.example/in', () => HttpResponse.redirect('https://hooks-target.example/in', 307)),
      http.all('https://hooks-target.example/in', () => {
        followed += 1;
        return HttpResponse.text('followed');
      }),
      http.post('https://hooks-broken.example/in', () => HttpResponse.error()),
    );
    expect(await deliver(createMailbox(), 'https://hooks-open.example/in')).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 202, responseBody: 'taken' }],
    });
    expect(await deliver(createMailbox(), 'https://hooks-moved.example/in')).toMatchObject({
      state: 'pending',
      attempts: [{ status: 307, error: 'The receiver answered 307, and redirects are not followed.' }],
    });
    expect(await deliver(createMailbox(), 'https://hooks-broken.example/in')).toMatchObject({
      state: 'pending',
      attempts: [{ status: null, error: expect.stringMatching(/\S/) }],
    });
    expect(followed).toBe(0);
  });

  test('throws an error that identifies the refusal', async ({ expect }) => {
    const refused = fetchInProcess('https://hooks-nobody.example/in', { method: 'POST' });
    const error = await refused.catch((reason: unknown) => reason);
    const chain = [error, (error as Error).cause, ((error as Error).cause as Error | undefined)?.cause];
    expect(chain.some((each) => each instanceof RefusedError)).toBe(true);
  });
});
