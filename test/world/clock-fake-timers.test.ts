import { ModernFakeTimers } from '@jest/fake-timers';
import sinon from '@sinonjs/fake-timers';
import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { startServer } from 'agent-mailbox-mock/server';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, test, vi } from 'vitest';
import { Clock } from '../../src/world/clock.ts';
import { createEnvironment } from '../../src/world/environment.ts';

/** The real `Date`, which the tests below fake. */
const RealDate = Date;
const HOUR = 3_600_000;
const PAST = RealDate.parse('2024-05-01T12:00:00.000Z');

/** The fake timers of one tool. */
interface FakeTimers {
  /** Fakes everything that the tool fakes by default; with `onlyDate`, only `Date`. */
  install(options: { readonly now: number; readonly onlyDate?: boolean }): void;
  setSystemTime(now: Date): void;
  advance(ms: number): Promise<void>;
  uninstall(): void;
}

const vitest: FakeTimers = {
  install: ({ now, onlyDate }) => void vi.useFakeTimers({ now, ...(onlyDate && { toFake: ['Date'] }) }),
  setSystemTime: (now) => void vi.setSystemTime(now),
  advance: async (ms) => void (await vi.advanceTimersByTimeAsync(ms)),
  uninstall: () => void vi.useRealTimers(),
};

function createJest(): FakeTimers {
  const config = { rootDir: process.cwd(), fakeTimers: {} } as never;
  const timers = new ModernFakeTimers({ config, global: globalThis as never });
  const others = [
    'hrtime',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'clearImmediate',
    'setInterval',
    'clearInterval',
    'setTimeout',
    'clearTimeout',
  ] as const;
  return {
    // What Jest does by default includes `nextTick`, without which no promise of Node settles.
    install: ({ now, onlyDate }) =>
      timers.useFakeTimers({ now, doNotFake: onlyDate ? [...others] : ['nextTick', 'queueMicrotask'] }),
    setSystemTime: (now) => timers.setSystemTime(now.getTime()),
    advance: (ms) => timers.advanceTimersByTimeAsync(ms),
    uninstall: () => timers.useRealTimers(),
  };
}

function createSinon(): FakeTimers {
  let clock: ReturnType<typeof sinon.install> | undefined;
  return {
    install({ now, onlyDate }) {
      clock = sinon.install({
        now,
        ...(onlyDate ? { toFake: ['Date'] } : { toNotFake: ['nextTick', 'queueMicrotask'] }),
      });
    },
    setSystemTime: (now) => clock?.setSystemTime(now),
    advance: async (ms) => void (await clock?.tickAsync(ms)),
    uninstall: () => clock?.uninstall(),
  };
}

/** Resolves with the time that a mail has which arrives now. */
async function arrivalOf(mailbox: Mailbox): Promise<number> {
  await mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test' });
  return RealDate.parse(mailbox.messages()[0]?.receivedAt ?? '');
}

let installed: FakeTimers | undefined;

afterEach(() => installed?.uninstall());

function install(timers: FakeTimers, options: Parameters<FakeTimers['install']>[0]): FakeTimers {
  installed = timers;
  timers.install(options);
  return timers;
}

/** A wait of 50 ms of real time that nothing ends. It must not wait for the time of the test. */
const NEVER = { to: 'nobody@acme.test', timeout: 50 } as const;

describe.for([
  ['vitest', () => vitest],
  ['Jest', createJest],
  ['sinon', createSinon],
] as const)('under the fake timers of %s', { concurrent: false }, ([, create]) => {
  test('waits in real time end', async ({ expect }) => {
    install(create(), { now: PAST });
    const receiver = createReceiver();
    await expect(receiver.received(1, 50)).rejects.toThrow('0 of 1 requests came within 50 ms.');
    const mailbox = createMailbox({ environment: { fetch: () => new Promise(() => {}) } });
    await expect(mailbox.waitForMessage(NEVER)).rejects.toThrow('arrived within 50 ms');
    mailbox.addFault({ on: 'request', latency: { ms: 20 } });
    const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
    expect((await mailbox.fetch(`${mailbox.baseUrl}/v1/me`, { headers })).status).toBe(200);
    await mailbox.addWebhook({ url: 'https://agent.test/hook', workspaceOf: 'helpdesk@acme.test' });
    await arrivalOf(mailbox);
    await expect(mailbox.settled({ timeout: 50 })).rejects.toThrow('Not settled after 50 ms');
  });

  test('a receiver that does not answer is given up, and an advance over all retries ends', async ({ expect }) => {
    install(create(), { now: PAST });
    const fetch = () => new Promise<Response>(() => {});
    const mailbox = createMailbox({ behaviours: { 'deliveries.timeout': '100ms' }, environment: { fetch } });
    const { id } = await mailbox.addWebhook({ url: 'https://agent.test/hook', workspaceOf: 'helpdesk@acme.test' });
    await arrivalOf(mailbox);
    await mailbox.settled();
    expect(mailbox.deliveries({ webhookId: id })[0]?.attempts).toHaveLength(1);
    expect(mailbox.deliveries()[0]?.attempts[0]?.durationMs).toBeGreaterThan(50);
    await mailbox.clock.advance('400d');
    expect(mailbox.deliveries()[0]?.state).toBe('exhausted');
  });

  test('a connected agent gets mail and is tried again', async ({ expect }) => {
    install(create(), { now: PAST });
    const mailbox = createMailbox();
    const statuses = [500, 200];
    const handler = () => new Response('', { status: statuses.shift() ?? 200 });
    const { receive } = mailbox.connect(handler, { inbox: 'helpdesk@acme.test' });
    expect(await receive({ from: 'dana@customer.test', subject: 'Hello' })).toMatchObject({ subject: 'Hello' });
    await mailbox.clock.advance('5s');
    const [{ attempts } = { attempts: [] }] = mailbox.deliveries();
    expect(attempts.map(({ status }) => status)).toEqual([500, 200]);
  });

  test('an advance of so many steps that the event loop gets a turn ends', async ({ expect }) => {
    install(create(), { now: PAST });
    const clock = new Clock(createEnvironment());
    const done: number[] = [];
    for (let ms = 1; ms <= 1_500; ms += 1) clock.schedule(new Date(PAST + ms * 1_000), () => void done.push(ms));
    await clock.advance(HOUR);
    expect(done).toHaveLength(1_500);
  });

  test('a server in this process answers', async ({ expect }) => {
    await using server = await startServer({ port: 0 });
    install(create(), { now: PAST });
    for (let count = 0; count < 3; count += 1) {
      const reply = await fetch(`${server.url}/health`);
      expect(reply.status).toBe(200);
      await reply.text();
    }
    installed?.uninstall();
  });

  test('a clock that nobody has moved shows the Date of the process', async ({ expect }) => {
    const mailbox = createMailbox();
    const timers = install(create(), { now: PAST, onlyDate: true });
    expect(await arrivalOf(mailbox)).toBe(PAST);
    timers.setSystemTime(new RealDate(PAST + 72 * HOUR));
    expect(mailbox.clock.now().getTime()).toBe(PAST + 72 * HOUR);
    expect(await arrivalOf(createMailbox())).toBe(PAST + 72 * HOUR);
  });

  test('what is due by this clock happens when the test lets its time pass', async ({ expect }) => {
    const timers = install(create(), { now: PAST });
    const mailbox = createMailbox({ environment: { fetch: async () => new Response('', { status: 500 }) } });
    await mailbox.addWebhook({ url: 'https://agent.test/hook', workspaceOf: 'helpdesk@acme.test' });
    await arrivalOf(mailbox);
    await mailbox.settled();
    const attempts = () => mailbox.deliveries()[0]?.attempts.length;
    expect(attempts()).toBe(1);
    await timers.advance(4_999);
    expect(attempts()).toBe(1);
    await timers.advance(1);
    await mailbox.settled();
    expect(attempts()).toBe(2);
    await timers.advance(300_000);
    await mailbox.settled();
    expect(attempts()).toBe(3);
  });

  test('the clock leads once a test has moved it: Date set to its time does not move it again', async ({ expect }) => {
    for (const isInstalledFirst of [true, false]) {
      const timers = create();
      if (isInstalledFirst) install(timers, { now: PAST });
      const mailbox = createMailbox();
      const startMs = mailbox.clock.now().getTime();
      await mailbox.clock.advance('2h');
      if (isInstalledFirst) timers.setSystemTime(mailbox.clock.now());
      else install(timers, { now: mailbox.clock.now().getTime() });
      const isAt = (hours: number) => Math.abs(mailbox.clock.now().getTime() - startMs - hours * HOUR) < 60_000;
      expect(isAt(2)).toBe(true);
      expect(Math.abs(Date.now() - mailbox.clock.now().getTime())).toBeLessThan(60_000);
      await mailbox.clock.advance('3d');
      timers.setSystemTime(mailbox.clock.now());
      await timers.advance(HOUR);
      expect(isAt(74)).toBe(true);
      // A frozen clock stays where it is, and goes on from there.
      mailbox.clock.freeze();
      timers.setSystemTime(new RealDate(PAST));
      mailbox.clock.resume();
      expect(isAt(74)).toBe(true);
      // After a reset, nobody has moved the clock, so it shows the Date of the process again.
      mailbox.reset();
      expect(mailbox.clock.now().getTime()).toBe(Date.now());
      timers.uninstall();
    }
  });

  test('the clock does not jump when it is set to the Date that the test has set', async ({ expect }) => {
    const timers = install(create(), { now: PAST });
    const mailbox = createMailbox();
    const sandbox = mailbox.createSandbox();
    timers.setSystemTime(new RealDate(PAST + 48 * HOUR));
    mailbox.clock.freeze(new Date());
    expect(mailbox.clock.now().getTime()).toBe(PAST + 48 * HOUR);
    mailbox.clock.resume();
    expect(Math.abs(mailbox.clock.now().getTime() - PAST - 48 * HOUR)).toBeLessThan(60_000);
    // A sandbox expires by real time, so two days of the test do not end it.
    await sandbox.receiveMessage({ from: 'dana@customer.test', to: `helpdesk@${sandbox.domain}` });
    expect(sandbox.messages()).toHaveLength(1);
  });

  test('a receiver in this process agrees with the time of a delivery', async ({ expect }) => {
    const timers = install(create(), { now: PAST });
    const receiver = createReceiver();
    const mailbox = createMailbox({ environment: { fetch: (url, init) => receiver.fetch(new Request(url, init)) } });
    const { secret } = await mailbox.addWebhook({ url: 'https://agent.test/hook', workspaceOf: 'helpdesk@acme.test' });
    receiver.secret = secret;
    await mailbox.clock.advance('3d');
    await arrivalOf(mailbox);
    await mailbox.settled();
    timers.setSystemTime(mailbox.clock.now());
    await arrivalOf(mailbox);
    await mailbox.settled();
    const { requests } = receiver;
    expect(requests.map(({ problem }) => problem)).toEqual([null, null]);
    expect(Number(requests[0]?.headers['webhook-timestamp'])).toBe(PAST / 1000);
    const { body, headers } = requests[1] as (typeof requests)[number];
    expect(new Webhook(secret).verify(body, { ...headers })).toMatchObject({ event: 'message.received' });
  });
});
