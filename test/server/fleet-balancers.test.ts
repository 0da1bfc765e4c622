import { type TestContext, test } from 'vitest';
import { BALANCERS, startFleet, TOKEN } from '../support/balancers.ts';
import { eventually } from '../support/eventually.ts';
import { openSocket } from '../support/stream-client.ts';

/** How many tests each worker makes. With 200, both balancers take about a minute. */
const ROUNDS = Number(process.env.FLEET_ROUNDS ?? 10);

const WORKERS = 32;
const GONE = { error: 'The process at this address is gone.', code: 'SERVER_UNAVAILABLE' };

type Fleet = Awaited<ReturnType<typeof startFleet>>;
type Sandbox = Awaited<ReturnType<ReturnType<Fleet['control']>['createSandbox']>>;

const numberOf = ({ url }: Pick<Sandbox, 'url'>) => Number(/\/s(\d)$/.exec(url)?.[1]);

const withKey = (key: string) => ({ headers: { 'X-API-Key': key } });

async function createSandboxes({ control, url }: Fleet, count = WORKERS): Promise<Sandbox[]> {
  const client = control(url);
  await eventually(() => client.createSandbox().then(({ url, id }) => control(url).closeSandbox({ id })));
  return Promise.all(Array.from({ length: count }, (_, worker) => client.createSandbox({ name: `worker ${worker}` })));
}

/** Delivers a mail with a canary to a sandbox, and returns the status. */
async function deliver({ url, id, domain }: Sandbox, canary: string): Promise<number> {
  const body = JSON.stringify({ to: `helpdesk@${domain}`, from: 'dana@customer.test', subject: `${id} ${canary}` });
  const headers = { 'X-Mock-Token': TOKEN, 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/__mock/messages?sandbox=${id}`, { method: 'POST', headers, body });
  await response.text();
  return response.status;
}

/** The subjects of all mail that a sandbox has. */
async function subjectsOf({ control }: Fleet, { url, id }: Sandbox): Promise<string[]> {
  return (await control(url, id).listMail()).messages.map(({ subject }) => subject);
}

/** A balancer may close the connection of a client once, when it finds that the one to the process is broken. */
async function expectGone({ expect }: TestContext, { url, keys }: Sandbox): Promise<void> {
  const ask = () => fetch(`${url}/v1/me`, withKey(keys.tenant));
  const response = await ask().catch(ask);
  expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
    503,
    'application/json',
    GONE,
  ]);
}

test.for(Object.keys(BALANCERS) as (keyof typeof BALANCERS)[])(
  'behind %s, each of 32 workers finds its sandbox and no other, also when a process is killed and comes back',
  async (name, context) => {
    const { expect } = context;
    const fleet = await startFleet(context, name, 4);
    const sandboxes = await createSandboxes(fleet);
    expect(new Set(sandboxes.map(numberOf))).toEqual(new Set([1, 2, 3, 4]));

    await Promise.all(
      sandboxes.map(async (sandbox) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          expect(await deliver(sandbox, `round ${round}`)).toBe(200);
          const response = await fetch(`${sandbox.url}/v1/messages?limit=1`, withKey(sandbox.keys.tenant));
          expect(JSON.stringify(await response.json())).toContain(`${sandbox.id} round ${round}`);
        }
        const { keys } = sandbox;
        for (const key of [keys.tenant, ...Object.values(keys.workspaces), ...Object.values(keys.inboxes)]) {
          expect((await fetch(`${sandbox.url}/v1/me`, withKey(key))).status).toBe(200);
        }
        const subjects = await subjectsOf(fleet, sandbox);
        expect(subjects).toEqual(Array.from({ length: ROUNDS }, (_, round) => `${sandbox.id} round ${round}`));
      }),
    );

    const [killed, kept] = [2, 3].map((number) => sandboxes.find((each) => numberOf(each) === number) as Sandbox);
    if (!killed || !kept) throw new Error('Each process should have sandboxes.');
    await expectStreams(context, fleet, kept);
    await expectUnchanged(context, fleet, kept);

    const others = sandboxes.filter((each) => numberOf(each) !== 2);
    fleet.processes[1]?.running.child.kill('SIGKILL');
    await fleet.processes[1]?.running.ended;
    await Promise.all([
      ...sandboxes.filter((each) => numberOf(each) === 2).map((each) => expectGone(context, each)),
      ...others.map(async (each) => expect(await deliver(each, 'meanwhile')).toBe(200)),
    ]);
    const created = await Promise.all(Array.from({ length: 8 }, () => fleet.control(fleet.url).createSandbox()));
    expect(created.map(numberOf)).not.toContain(2);

    await fleet.restart(2);
    await eventually(async () => expect(await subjectsOf(fleet, killed)).toEqual([]));
    const mails = await fetch(`${killed.url}/v1/messages?limit=1`, withKey(killed.keys.tenant));
    expect(JSON.stringify(await mails.json())).toContain(`${killed.id} round ${ROUNDS - 1}`);
  },
);

/** A WebSocket, and the feed as an event stream, pass at once. */
async function expectStreams({ expect }: TestContext, fleet: Fleet, sandbox: Sandbox): Promise<void> {
  await using socket = await openSocket(`${sandbox.url}/v1/ws`, { 'X-API-Key': sandbox.keys.tenant });
  await socket.subscribe();
  const feed = await fleet.control(sandbox.url, sandbox.id).readFeed();
  expect(await deliver(sandbox, 'streamed')).toBe(200);
  expect(JSON.stringify(await socket.next('event'))).toContain(`${sandbox.id} streamed`);
  for await (const event of feed) if (JSON.stringify(event).includes('streamed')) return;
}

/** Replies pass as they are: our own 502 and 503, paths with encoded slashes, and large bodies. */
async function expectUnchanged({ expect }: TestContext, fleet: Fleet, sandbox: Sandbox): Promise<void> {
  const client = fleet.control(sandbox.url, sandbox.id);
  const direct = sandbox.url.replace(/.*/, `http://127.0.0.1:${fleet.processes[numberOf(sandbox) - 1]?.port}`);
  for (const status of [502, 503]) {
    await client.addFault({ on: 'request', operation: 'getMe', status, times: 2 });
    const [through, own] = await Promise.all(
      [sandbox.url, direct].map(async (url) => {
        const response = await fetch(`${url}/v1/me`, withKey(sandbox.keys.tenant));
        return [response.status, await response.text()];
      }),
    );
    expect(through?.[0]).toBe(status);
    expect(through).toEqual(own);
  }
  const path = '/v1/inboxes/a%2Fb%20c?x=%26';
  const unknown = await fetch(sandbox.url + path, withKey(sandbox.keys.tenant));
  expect(await unknown.text()).toBe(await (await fetch(direct + path, withKey(sandbox.keys.tenant))).text());
  const eml = `To: helpdesk@${sandbox.domain}\r\nSubject: Large\r\n\r\n${'x'.repeat(8 * 1024 * 1024)}`;
  expect((await client.receiveMessage({ eml })).messages).toHaveLength(1);
}

test.for(Object.keys(BALANCERS) as (keyof typeof BALANCERS)[])(
  'behind %s, a rolling restart under load loses no sandbox and no mail',
  async (name, context) => {
    const { expect } = context;
    const fleet = await startFleet(context, name, 3);
    const sandboxes = await createSandboxes(fleet, 9);
    const delivered = new Map<Sandbox, number>(sandboxes.map((sandbox) => [sandbox, 0]));
    let [restarting, isOver] = [0, false];
    const load = sandboxes.map(async (sandbox) => {
      while (!isOver) {
        const before = restarting;
        // HAProxy closes a connection that was used before, without a reply, if that to its process is closed.
        const status = await deliver(sandbox, 'load').catch(() => 0);
        if (status === 200) delivered.set(sandbox, (delivered.get(sandbox) ?? 0) + 1);
        else expect([before, restarting]).toContain(numberOf(sandbox));
      }
    });
    try {
      for (const number of [1, 2, 3]) {
        restarting = number;
        const { running } = fleet.processes[number - 1] as Fleet['processes'][number];
        running.child.kill('SIGTERM');
        expect(await running.ended).toEqual({ code: 0, signal: null });
        await fleet.restart(number);
        const own = sandboxes.find((each) => numberOf(each) === number) as Sandbox;
        await eventually(async () => expect(await deliver(own, 'back')).toBe(200));
        delivered.set(own, (delivered.get(own) ?? 0) + 1);
      }
    } finally {
      // A failure ends the load too. Otherwise it would go on while the fleet stops.
      isOver = true;
      await Promise.all(load);
    }
    for (const [sandbox, count] of delivered) {
      const { tenants } = await fleet.control(sandbox.url, sandbox.id).exportState();
      const { rows } = tenants.acme as { rows: { messages: { subject: string }[] } };
      const { messages } = rows;
      const canaries = messages.filter(({ subject }) => subject.startsWith(sandbox.id));
      // What was answered is there. A reply can be lost on its way, when a process ends.
      expect(canaries.length).toBeGreaterThanOrEqual(count);
      expect(messages.filter(({ subject }) => / (?:load|back)$/.test(subject))).toHaveLength(canaries.length);
    }
  },
);
