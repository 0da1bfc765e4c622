import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { Clock, parseDuration, type TimeSource } from '../../src/world/clock.ts';
import { sendControl } from '../support/control.ts';
import { everywhere, interceptRequests } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { openInboxClients } from '../support/inbox-clients.ts';

interceptRequests();

const START = Date.parse('2026-03-01T09:00:00.000Z');
const HOUR = 3_600_000;

interface FakeTime extends TimeSource {
  /** Lets real time pass, and runs the timers in order. */
  pass(durationMs: number): Promise<void>;
  /** How long the timers that run were asked to wait. */
  readonly delays: readonly number[];
  /** The errors that were reported. */
  readonly reported: unknown[];
}

/** Real time as the test has it. */
function createTime(): FakeTime {
  const timers = new Set<{ atMs: number; delayMs: number; wake(): void }>();
  const reported: unknown[] = [];
  let nowMs = START;
  const now = () => new Date(nowMs);
  const setTimer: TimeSource['setTimer'] = (delayMs, wake) => {
    const timer = { atMs: nowMs + delayMs, delayMs, wake };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  return {
    reported,
    report: (error) => void reported.push(error),
    now,
    realNow: now,
    setTimer,
    setClockTimer: setTimer,
    async pass(durationMs) {
      const endMs = nowMs + durationMs;
      const next = () => [...timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      for (let timer = next(); timer; timer = next()) {
        timers.delete(timer);
        nowMs = timer.atMs;
        timer.wake();
        await settle();
      }
      nowMs = endMs;
    },
    get delays() {
      return [...timers].map(({ delayMs }) => delayMs);
    },
  };
}

/** Runs everything that is not waiting for something. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Something that a task waits for. */
function createGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** A clock on a time of the test, and what it did, with the hours after the start at which it did it. */
function createWatched() {
  const time = createTime();
  const clock = new Clock(time);
  const done: string[] = [];
  const note = (name: string) => void done.push(`${name} ${hoursOf(clock)}`);
  const at = (hours: number) => new Date(START + hours * HOUR);
  const plan = (hours: number, name: string) => clock.schedule(at(hours), () => note(name));
  return { time, clock, done, note, at, plan };
}

function hoursOf(clock: Clock): number {
  return (clock.now().getTime() - START) / HOUR;
}

describe('a clock', () => {
  test('shows real time until it is frozen, and continues from that time when resumed', async ({ expect }) => {
    const { time, clock, at } = createWatched();
    await time.pass(HOUR);
    expect([hoursOf(clock), clock.isFrozen]).toEqual([1, false]);
    clock.freeze();
    await time.pass(HOUR);
    expect([hoursOf(clock), clock.isFrozen]).toEqual([1, true]);
    clock.freeze(at(10));
    await time.pass(HOUR);
    expect(hoursOf(clock)).toBe(10);
    clock.resume();
    await time.pass(HOUR);
    expect([hoursOf(clock), clock.isFrozen]).toEqual([11, false]);
    clock.resume();
    expect(hoursOf(clock)).toBe(11);
    clock.freeze(at(-10));
    expect(hoursOf(clock)).toBe(-10);
  });

  test('runs due tasks when it is advanced, ordered by time and then by when they were scheduled', async ({
    expect,
  }) => {
    const { clock, done, plan } = createWatched();
    clock.freeze();
    plan(3, 'c');
    plan(1, 'a');
    plan(3, 'd');
    plan(2, 'b');
    plan(9, 'never');
    await clock.advance(3 * HOUR);
    expect(done).toEqual(['a 1', 'b 2', 'c 3', 'd 3']);
    expect([hoursOf(clock), clock.nextDue()?.getTime()]).toEqual([3, START + 9 * HOUR]);
  });

  test('runs a task that another task schedules in the same advance', async ({ expect }) => {
    const { clock, done, note, at, plan } = createWatched();
    clock.freeze();
    const retry = (hours: number) => {
      note('retry');
      clock.schedule(at(hours * 2), () => retry(hours * 2));
    };
    clock.schedule(at(1), () => retry(1));
    plan(3, 'other');
    await clock.advance(5 * HOUR);
    expect(done).toEqual(['retry 1', 'retry 2', 'other 3', 'retry 4']);
    expect(clock.nextDue()).toEqual(at(8));
  });

  test('waits for each task before time moves on', async ({ expect }) => {
    const { clock, done, note, at, plan } = createWatched();
    clock.freeze();
    const gate = createGate();
    clock.schedule(at(1), async () => {
      note('begins');
      await gate.opened;
      note('ends');
    });
    plan(2, 'later');
    const advanced = clock.advance(2 * HOUR).then(() => note('advanced'));
    await settle();
    expect([done, clock.runningWork]).toEqual([['begins 1'], 1]);
    gate.open();
    await advanced;
    expect([done, clock.runningWork]).toEqual([['begins 1', 'ends 1', 'later 2', 'advanced 2'], 0]);
  });

  test('does not wait for work that goes on without an end', async ({ expect }) => {
    const { clock, done, plan } = createWatched();
    clock.freeze();
    const ended = createGate();
    let isOver = false;
    // There is always work, as with clients that go on sending, or with agents that answer each other.
    const goOn = async (): Promise<void> => {
      await settle();
      if (isOver) ended.open();
      else clock.track(goOn());
    };
    clock.track(goOn());
    plan(1, 'retry');
    await clock.advance(2 * HOUR);
    expect([done, hoursOf(clock)]).toEqual([['retry 1'], 2]);
    expect(clock.runningWork).toBeGreaterThan(0);
    isOver = true;
    await clock.idle();
    await ended.opened;
    expect(clock.runningWork).toBe(0);
  });

  test('runs two concurrent advances one after the other', async ({ expect }) => {
    const { clock, done, plan } = createWatched();
    clock.freeze();
    plan(1, 'a');
    plan(2, 'b');
    await Promise.all([clock.advance(HOUR), clock.advance(HOUR)]);
    expect([done, hoursOf(clock)]).toEqual([['a 1', 'b 2'], 2]);
  });

  test('continues after a task that fails, reports the error, and keeps it until it is read', async ({ expect }) => {
    const { time, clock, done, at, plan } = createWatched();
    clock.freeze();
    const [refused, thrown] = [new Error('refused'), new Error('at once')];
    clock.schedule(at(1), () => Promise.reject(refused));
    clock.schedule(at(1), () => {
      throw thrown;
    });
    plan(1, 'next');
    await clock.advance(HOUR);
    expect(done).toEqual(['next 1']);
    expect(new Set(time.reported)).toEqual(new Set([refused, thrown]));
    const what = 'a scheduled task';
    const failures = clock.takeFailures();
    expect(failures).toEqual(time.reported.map((error) => ({ what, error })));
    expect(clock.takeFailures()).toEqual([]);
  });

  test('runs due tasks as real time passes, unless it is frozen', async ({ expect }) => {
    const { time, clock, done, plan } = createWatched();
    plan(1, 'a');
    plan(2, 'b');
    expect(time.delays).toEqual([HOUR]);
    await time.pass(1.5 * HOUR);
    expect(done).toEqual(['a 1']);
    clock.freeze();
    expect(time.delays).toEqual([]);
    await time.pass(HOUR);
    expect(done).toEqual(['a 1']);
    clock.resume();
    await time.pass(HOUR / 2);
    expect(done).toEqual(['a 1', 'b 2']);
    expect(time.delays).toEqual([]);
  });

  test('can be advanced while it runs, and then waits only for the remaining time', async ({ expect }) => {
    const { time, clock, done, plan } = createWatched();
    plan(1, 'a');
    plan(3, 'b');
    await clock.advance(2 * HOUR);
    expect([done, hoursOf(clock), time.delays]).toEqual([['a 1'], 2, [HOUR]]);
    await time.pass(HOUR);
    expect(done).toEqual(['a 1', 'b 3']);
  });

  test('waits longer than the longest timer of the platform', async ({ expect }) => {
    const { time, done, plan } = createWatched();
    plan(24 * 60, 'late');
    expect(time.delays).toEqual([2 ** 31 - 1]);
    await time.pass(24 * 59 * HOUR);
    expect(done).toEqual([]);
    await time.pass(24 * HOUR);
    expect(done).toEqual([`late ${24 * 60}`]);
  });

  test('runs a task that is already due at once, even if it is frozen', async ({ expect }) => {
    const { clock, done, at, plan } = createWatched();
    clock.freeze();
    plan(0, 'now');
    plan(-1, 'past');
    plan(5, 'future');
    await clock.idle();
    expect(done).toEqual(['now 0', 'past 0']);
    clock.freeze(at(6));
    await clock.idle();
    expect(done).toEqual(['now 0', 'past 0', 'future 6']);
  });

  test('runs neither cancelled tasks nor tasks from before a reset', async ({ expect }) => {
    const { time, clock, done, plan, at } = createWatched();
    clock.freeze(at(0));
    plan(1, 'kept');
    const callOff = plan(1, 'called off');
    callOff();
    callOff();
    await clock.advance(HOUR);
    expect(done).toEqual(['kept 1']);
    plan(2, 'forgotten');
    clock.reset();
    expect([clock.isFrozen, hoursOf(clock), clock.nextDue(), time.delays]).toEqual([false, 0, undefined, []]);
    await clock.advance(5 * HOUR);
    expect(done).toEqual(['kept 1']);
  });

  test('is not moved after a reset by an advance that began before it', async ({ expect }) => {
    const { clock, done, at } = createWatched();
    const gate = createGate();
    clock.schedule(at(1), () => gate.opened);
    const moves = [clock.advance(2 * HOUR), clock.advance(2 * HOUR)];
    await settle();
    clock.reset();
    gate.open();
    await Promise.all(moves);
    expect([hoursOf(clock), done]).toEqual([0, []]);
  });

  test('can copy the time of another clock, running or frozen', async ({ expect }) => {
    const { time, clock, at } = createWatched();
    const other = new Clock(time);
    await other.advance(3 * HOUR);
    clock.freeze(at(9));
    clock.copyTimeFrom(other);
    expect([hoursOf(clock), clock.isFrozen]).toEqual([3, false]);
    await time.pass(HOUR);
    expect(hoursOf(clock)).toBe(4);
    other.freeze(at(7));
    clock.copyTimeFrom(other);
    await time.pass(HOUR);
    expect([hoursOf(clock), clock.isFrozen]).toEqual([7, true]);
  });
});

describe('a duration', () => {
  test.for<[given: number | string, durationMs: number]>([
    [0, 0],
    [1500, 1500],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['1.5 hours', 5_400_000],
    ['36h', 36 * HOUR],
    ['3d', 72 * HOUR],
    ['100', 100],
  ])('%j is %i ms', ([given, durationMs], { expect }) => {
    expect(parseDuration(given)).toBe(durationMs);
  });

  test.for([-1, '-5m', Number.NaN, Number.POSITIVE_INFINITY, '', 'soon', '5 moons', '101y', 1e15, null, {}, [], true])(
    '%j is not a duration',
    (given, { expect }) => {
      expect(() => parseDuration(given as number)).toThrow(
        'The duration must be milliseconds or a text such as 5m, 36h or 3d, up to 100 years.',
      );
    },
  );
});

const [ACME, GLOBEX] = [{ tenant: IDS.acme.tenant }, { tenant: IDS.globex.tenant }];
const NOON = '2026-03-01T12:00:00.000Z';
const nowOf = ({ clock }: Mailbox, options = {}) => clock.now(options).toISOString();

describe('the time of a mailbox', () => {
  everywhere('sets the timestamp of everything that happens', async (service) => {
    const { mailbox } = service;
    const { helpdesk, billing } = openInboxClients(service);
    mailbox.clock.freeze(NOON);
    const inbox = await service.send('POST', '/v1/inboxes', { key: mailbox.keys.acme.tenant, json: {} });
    expect(inbox.json.createdAt).toBe(NOON);
    const domain = await service.send('POST', '/v1/domains', {
      key: mailbox.keys.acme.tenant,
      json: { domain: 'new.acme.test' },
    });
    expect(domain.json.createdAt).toBe(NOON);

    await mailbox.clock.advance('5m');
    await helpdesk.mail(billing.address);
    const { id, receivedAt } = await billing.latest();
    expect(receivedAt).toBe('2026-03-01T12:05:00.000Z');
    await mailbox.clock.advance('1d');
    await billing.call('DELETE', `/messages/${id}`);
    const verified = await service.send('GET', '/v1/domains/new.acme.test/verify', { key: mailbox.keys.acme.tenant });
    expect(verified.status).toBe(200);
    const acme = mailbox.snapshot().tenants.find((tenant) => tenant.id === IDS.acme.tenant);
    expect(acme?.messages.find((message) => message.id === id)?.deletedAt).toBe('2026-03-02T12:05:00.000Z');
    expect(acme?.domains.find((row) => row.domain === 'new.acme.test')?.updatedAt).toBe('2026-03-02T12:05:00.000Z');
  });

  everywhere('is separate for each tenant, and mail has the time of the inbox that receives it', async (service) => {
    const { mailbox } = service;
    const { helpdesk, info } = openInboxClients(service);
    mailbox.clock.freeze(NOON, ACME);
    mailbox.clock.freeze('2030-01-01T00:00:00Z', GLOBEX);
    await helpdesk.mail(info.address);
    expect((await info.latest()).receivedAt).toBe('2030-01-01T00:00:00.000Z');
    expect((await helpdesk.list('?direction=outbound')).at(-1).receivedAt).toBe(NOON);
    expect(mailbox.clock.isFrozen()).toBe(false);
    await mailbox.clock.advance(1000, ACME);
    expect([nowOf(mailbox, ACME), nowOf(mailbox, GLOBEX)]).toEqual([
      '2026-03-01T12:00:01.000Z',
      '2030-01-01T00:00:00.000Z',
    ]);
  });

  everywhere('is passed on to a new tenant, and is real time after a reset', async (service) => {
    const { mailbox } = service;
    mailbox.clock.freeze(NOON);
    const made = await service.send('POST', '/v1/tenants', { key: mailbox.keys.operator, json: { name: 'New' } });
    expect(mailbox.snapshot().tenants.find(({ name }) => name === 'New')?.createdAt).toBe(NOON);
    const inbox = await service.send('POST', '/v1/inboxes', { key: made.json.apiKey, json: {} });
    expect(inbox.json.createdAt).toBe(NOON);
    mailbox.reset();
    for (const options of [{}, ACME, GLOBEX]) {
      expect(mailbox.clock.isFrozen(options)).toBe(false);
      expect(Math.abs(mailbox.clock.now(options).getTime() - Date.now())).toBeLessThan(60_000);
    }
  });

  test('starts at the time of the environment', ({ expect }) => {
    const mailbox = createMailbox({ environment: { now: () => new Date(START) } });
    expect([nowOf(mailbox), nowOf(mailbox, ACME)]).toEqual(Array(2).fill('2026-03-01T09:00:00.000Z'));
  });

  test.for<[title: string, change: (mailbox: Mailbox) => unknown, said: string]>([
    ['a time that is none', ({ clock }) => clock.freeze('soon'), 'The time to freeze at must be a time such as'],
    ['a date that is none', ({ clock }) => clock.freeze(new Date(Number.NaN)), 'must be a time such as'],
    ['null', ({ clock }) => clock.freeze(null as never), 'must be a time such as'],
    ['the year 10000', ({ clock }) => clock.freeze(new Date(Date.UTC(10_000, 0))), 'must be a time such as'],
    ['an unknown tenant', ({ clock }) => clock.freeze(NOON, { tenant: 'x' }), 'There is no tenant with this id.'],
    ['a duration that is none', ({ clock }) => clock.advance('soon'), 'The duration must be milliseconds or'],
    ['an unknown tenant to advance', ({ clock }) => clock.advance(1, { tenant: 'x' }), 'There is no tenant'],
  ])('cannot be %s', async ([, change, said], { expect }) => {
    const mailbox = createMailbox({ environment: { now: () => new Date(START) } });
    await expect(async () => change(mailbox)).rejects.toThrow(said);
    expect([mailbox.clock.isFrozen(), nowOf(mailbox), nowOf(mailbox, ACME)]).toEqual([
      false,
      '2026-03-01T09:00:00.000Z',
      '2026-03-01T09:00:00.000Z',
    ]);
  });

  test('stays within the years that a timestamp can write', async ({ expect }) => {
    const { clock } = createMailbox();
    clock.freeze('9999-12-31T23:00:00Z', ACME);
    await expect(clock.advance('2h')).rejects.toThrow('The clock cannot go beyond the year 9999.');
    expect(clock.now(ACME).toISOString()).toBe('9999-12-31T23:00:00.000Z');
  });
});

function toClock({ url }: MailboxServer, method: 'GET' | 'POST', query = '', json?: unknown) {
  return sendControl(`${url}/__mock/clock${query}`, method, { json });
}

describe('the clock over HTTP', () => {
  test('can be frozen, advanced and resumed', async ({ expect }) => {
    await using server = await startServer({ port: 0 });
    const change = async (json: object) => (await toClock(server, 'POST', '', json)).json;
    expect(await change({ freeze: NOON })).toEqual({ now: NOON, frozen: true });
    expect(await change({ advance: '5m' })).toEqual({ now: '2026-03-01T12:05:00.000Z', frozen: true });
    expect(await change({ advance: 1000 })).toEqual({ now: '2026-03-01T12:05:01.000Z', frozen: true });
    expect((await toClock(server, 'GET')).json).toEqual({ now: '2026-03-01T12:05:01.000Z', frozen: true });
    expect(await change({ resume: true })).toMatchObject({ frozen: false });
    expect(await change({ freeze: true })).toEqual({ now: expect.stringMatching(/^2026-03-01T12:/), frozen: true });
  });

  test('changes for one tenant only if the request names one', async ({ expect }) => {
    await using server = await startServer({ port: 0 });
    const { status } = await toClock(server, 'POST', '', { freeze: NOON, ...ACME });
    expect(status).toBe(200);
    const shown = await toClock(server, 'GET', `?tenant=${IDS.acme.tenant.toUpperCase()}`);
    expect(shown.json).toEqual({ now: NOON, frozen: true });
    expect((await toClock(server, 'GET', `?tenant=${IDS.globex.tenant}`)).json.frozen).toBe(false);
    expect((await toClock(server, 'GET')).json.frozen).toBe(false);
  });

  const NOBODY = '00000000-0000-4000-8000-000000000000';
  const DURATION = 'advance must be milliseconds or a text such as 5m, 36h or 3d, up to 100 years.';

  test.for<[json: unknown, status: number, said: string]>([
    [{}, 400, 'must have one of freeze, advance and resume'],
    [{ tenant: IDS.acme.tenant }, 400, 'must have one of freeze, advance and resume'],
    [{ freeze: true, advance: 1 }, 400, 'must have one of freeze, advance and resume'],
    [{ freeze: false }, 400, 'freeze must be true or a time such as 2026-01-05T09:00:00.000Z.'],
    [{ freeze: 'soon' }, 400, 'freeze must be true or a time such as'],
    [{ freeze: '2026-02-30T00:00:00Z' }, 400, 'freeze must be true or a time such as'],
    [{ freeze: 5 }, 400, 'freeze must be true or a time such as'],
    [{ resume: false }, 400, 'resume must be true.'],
    [{ advance: 'soon' }, 400, DURATION],
    [{ advance: -1 }, 400, DURATION],
    [{ advance: '-5m' }, 400, DURATION],
    [{ advance: 1e300 }, 400, DURATION],
    [{ advance: '' }, 400, DURATION],
    [{ advance: null }, 400, DURATION],
    [{ advance: ['5m'] }, 400, DURATION],
    [{ freeze: true, speed: 2 }, 400, 'has unknown fields: "speed".'],
    [{ freeze: true, tenant: 'acme' }, 400, 'tenant must be the UUID of a tenant.'],
    [{ freeze: true, tenant: NOBODY }, 404, 'There is no tenant with this id.'],
    [{ advance: '5m', tenant: NOBODY }, 404, 'There is no tenant with this id.'],
    [[], 400, 'The body must be a JSON object.'],
    ['freeze', 400, 'The body must be a JSON object.'],
  ])('refuses %j with %i and changes nothing', async ([json, status, said], { expect }) => {
    await using server = await startServer({ port: 0, environment: { now: () => new Date(START) } });
    const reply = await toClock(server, 'POST', '', json);
    expect([reply.status, reply.json.error]).toEqual([status, expect.stringContaining(said)]);
    for (const query of ['', `?tenant=${IDS.acme.tenant}`]) {
      expect((await toClock(server, 'GET', query)).json).toEqual({ now: '2026-03-01T09:00:00.000Z', frozen: false });
    }
  });

  test.for([
    ['?tenant=acme', 400],
    [`?tenant=${NOBODY}`, 404],
  ])('is not shown for %s', async ([query, status], { expect }) => {
    await using server = await startServer({ port: 0 });
    expect((await toClock(server, 'GET', String(query))).status).toBe(status);
  });
});
