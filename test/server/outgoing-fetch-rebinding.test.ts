import dns, { type LookupAddress } from 'node:dns';
import { networkInterfaces } from 'node:os';
import { describe, test, vi } from 'vitest';
import { createOutgoingFetch, createReceiverRules } from '../../src/server/outgoing-fetch.ts';
import { fetchInProcess } from '../../src/world/fetch-in-process.ts';
import { serve } from '../support/serve.ts';

/** The DNS results of each name, in order; the last one is repeated. */
const zones = vi.hoisted(() => new Map<string, LookupAddress[][]>());
/** The names that were looked up, in their order. */
const lookedUp = vi.hoisted(() => [] as string[]);

/** Fake DNS. Nothing else is replaced, and no test here uses real DNS. */
vi.mock('node:dns/promises', () => ({
  async lookup(name: string): Promise<LookupAddress[]> {
    lookedUp.push(name);
    const answers = zones.get(name) ?? [];
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer) return answer;
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
  },
}));

const V4 = (address: string): LookupAddress => ({ address, family: 4 });
const V6 = (address: string): LookupAddress => ({ address, family: 6 });
const [LOOPBACK, METADATA, ELSEWHERE] = [V4('127.0.0.1'), V4('169.254.169.254'), V4('203.0.113.1')];

let names = 0;

/** Creates a unique name that resolves to these addresses, one result after the other. */
function nameFor(...answers: LookupAddress[][]): string {
  names += 1;
  const name = `n${names}.rebind.test`;
  zones.set(name, answers);
  return name;
}

const countLookups = (name: string) => lookedUp.filter((each) => each === name).length;

/** Starts a server that records the local address of each connection and closes it. */
async function serveRecording({ host = '127.0.0.1', location = '' } = {}) {
  const reached: (string | undefined)[] = [];
  const server = await serve(({ socket }, response) => {
    reached.push(socket.localAddress);
    response.writeHead(location ? 302 : 200, {
      Connection: 'close',
      ...(location && { Location: location }),
    });
    response.end();
  }, host);
  return { ...server, reached };
}

/** Creates an outgoing fetch that is closed at the end of the test. */
function open(deliverTo: readonly string[] = []) {
  const outgoing = createOutgoingFetch(createReceiverRules(deliverTo));
  const post = async (url: string) => {
    try {
      const response = await outgoing.fetch(url, { method: 'POST', body: '{}', redirect: 'manual' });
      await response.arrayBuffer();
      return response.status;
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  };
  return { post, close: outgoing.close, [Symbol.asyncDispose]: () => outgoing.close() };
}

describe('a name', () => {
  test('that resolves to this machine is called there, after one look-up', async ({ expect }) => {
    await using server = await serveRecording();
    const name = nameFor([LOOPBACK], [METADATA]);
    await using outgoing = open([name]);
    expect(await outgoing.post(`http://${name}:${server.port}/`)).toBe(200);
    expect([server.reached, countLookups(name)]).toEqual([['127.0.0.1'], 1]);
  });

  test('that later resolves to a forbidden address is refused even if all are allowed', async ({ expect }) => {
    await using server = await serveRecording();
    for (const allowed of ['', '*', '0.0.0.0/0']) {
      const name = nameFor([LOOPBACK], [METADATA], [LOOPBACK]);
      await using outgoing = open([allowed || name]);
      const url = `http://${name}:${server.port}/`;
      const refused = `RefusedError: ${name} (169.254.169.254) is a link-local or metadata address, which is never called.`;
      expect([await outgoing.post(url), await outgoing.post(url), await outgoing.post(url)]).toEqual([
        200,
        refused,
        200,
      ]);
      expect(countLookups(name)).toBe(3);
    }
    expect(server.reached).toHaveLength(6);
  });

  test('that is allowed by name may not resolve to a forbidden address', async ({ expect }) => {
    const name = nameFor([METADATA], [V6('fe80::1')], [V6('::ffff:169.254.169.254')], [V6('fd00:ec2::254')]);
    await using outgoing = open([name]);
    for (let count = 0; count < 4; count += 1) {
      expect(await outgoing.post(`http://${name}/`)).toMatch(/^RefusedError: .+ which is never called\.$/);
    }
  });

  test('below localhost means localhost, and DNS learns no other name; what it resolves to is checked', async ({
    expect,
  }) => {
    zones.set('localhost', [[ELSEWHERE], [LOOPBACK]]);
    await using server = await serveRecording();
    await using outgoing = open();
    expect(await outgoing.post('http://localhost/')).toBe(
      'RefusedError: localhost (203.0.113.1) is not a loopback address; start with --deliver-to localhost to allow it.',
    );
    for (const host of ['localhost', 'localhost.', 'data.localhost', 'A.B.localhost.']) {
      expect(await outgoing.post(`http://${host}:${server.port}/`), host).toBe(200);
    }
    expect(lookedUp.filter((name) => name.includes('localhost'))).toEqual(Array(5).fill('localhost'));
  });

  test('is called only at those of its addresses that are allowed', async ({ expect }) => {
    await using server = await serveRecording();
    await using outgoing = open(['127.0.0.0/8']);
    for (const answer of [
      [METADATA, LOOPBACK],
      [LOOPBACK, METADATA],
      [V6('fe80::1'), ELSEWHERE, LOOPBACK, METADATA],
    ]) {
      const name = nameFor(answer);
      expect(await outgoing.post(`http://${name}:${server.port}/`)).toBe(200);
      expect(countLookups(name)).toBe(1);
    }
    expect(server.reached).toEqual(Array(3).fill('127.0.0.1'));
  });

  test('with nothing but forbidden addresses is refused by the first', async ({ expect }) => {
    await using outgoing = open(['*']);
    const name = nameFor([METADATA, V6('fe80::1'), V4('100.100.100.200')]);
    expect(await outgoing.post(`http://${name}/`)).toContain(`${name} (169.254.169.254) is a link-local or metadata`);
  });

  test('that does not resolve is refused if it is not allowed, and fails if it is', async ({ expect }) => {
    const name = nameFor();
    await using closed = open();
    expect(await closed.post(`http://${name}/`)).toBe(
      `RefusedError: ${name} is not a loopback address; start with --deliver-to ${name} to allow it.`,
    );
    expect(countLookups(name)).toBe(0);
    for (const deliverTo of [['*'], [name], ['10.0.0.0/8']]) {
      await using outgoing = open(deliverTo);
      expect(await outgoing.post(`http://${name}/`)).toBe(`Error: getaddrinfo ENOTFOUND ${name}`);
    }
  });

  test('with no address is refused', async ({ expect }) => {
    await using outgoing = open(['*']);
    const name = nameFor([]);
    expect(await outgoing.post(`http://${name}/`)).toBe(`RefusedError: ${name} resolves to no address.`);
  });

  test('that is not allowed is refused without a look-up, because the look-up could send data out', async ({
    expect,
  }) => {
    await using server = await serveRecording();
    const name = nameFor([LOOPBACK]);
    for (const deliverTo of [[], ['hooks.example'], ['127.0.0.1', '203.0.113.7']]) {
      await using outgoing = open(deliverTo);
      for (const host of [
        name,
        `${name}.`,
        name.toUpperCase(),
        `secret.${name}`,
        `localhost.${name}`,
        'a.hooks.example',
      ]) {
        const said = `${host.toLowerCase().replace(/\.$/, '')} is not a loopback address; start with --deliver-to`;
        expect(await outgoing.post(`http://u:p@${host}:${server.port}/`)).toContain(`RefusedError: ${said}`);
      }
    }
    expect([lookedUp.filter((each) => each.includes(name.toLowerCase())), server.reached]).toEqual([[], []]);
  });

  test('that resolves to this machine must itself be allowed, even where ranges are', async ({ expect }) => {
    const name = nameFor([LOOPBACK]);
    await using outgoing = open(['10.0.0.0/8']);
    expect(await outgoing.post(`http://${name}/`)).toBe(
      `RefusedError: ${name} is not a loopback address; start with --deliver-to ${name} to allow it.`,
    );
  });

  test('that is the target of a redirect is not looked up', async ({ expect }) => {
    const target = nameFor([METADATA]);
    await using server = await serveRecording({ location: `http://${target}/` });
    await using outgoing = open(['*']);
    expect(await outgoing.post(`http://${nameFor([LOOPBACK])}:${server.port}/`)).toBe(302);
    expect(countLookups(target)).toBe(0);
  });

  test('is not looked up once the emulator is closed', async ({ expect }) => {
    const outgoing = open();
    await outgoing.close();
    const name = nameFor([LOOPBACK]);
    expect(await outgoing.post(`http://${name}/`)).toBe('RefusedError: The emulator is shutting down.');
    expect(countLookups(name)).toBe(0);
  });
});

const hasIPv6 = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));

test.skipIf(!hasIPv6)('a name with addresses of both families is called at a reachable one', async ({ expect }) => {
  await using server = await serveRecording({ host: '::1' });
  await using outgoing = open(['*']);
  expect(await outgoing.post(`http://${nameFor([LOOPBACK, V6('::1')])}:${server.port}/`)).toBe(200);
  expect(server.reached).toEqual(['::1']);
});

test('a mailbox in process looks up no name that it does not call', async ({ expect }) => {
  const asked: unknown[] = [];
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((name: string, options: unknown, done: unknown) => {
    asked.push(name);
    const answer = [options, done].find((each) => typeof each === 'function') as (...args: unknown[]) => void;
    if (/^localhost$|^127/.test(name)) answer(null, typeof options === 'object' ? [LOOPBACK] : '127.0.0.1', 4);
    else answer(new Error('There is no DNS in this test.'));
  }) as never);
  await using server = await serveRecording();
  for (const host of ['secret.evil.example', 'secret.evil.example.', 'localhost.evil.example', 'secret.localhost']) {
    await expect(fetchInProcess(`http://${host}:${server.port}/`, {}), host).rejects.toThrow();
  }
  expect((await fetchInProcess(`http://localhost:${server.port}/`, {})).status).toBe(200);
  lookup.mockRestore();
  expect(asked.filter((name) => !/^127/.test(String(name)))).toEqual(['localhost']);
});
