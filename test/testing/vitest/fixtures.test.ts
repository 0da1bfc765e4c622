import { createMailboxTest, test } from 'agent-mailbox-mock/vitest';
import { describe, expect, test as plain } from 'vitest';

const DANA = 'dana@customer.test';
const HOOK = { url: 'http://127.0.0.1:9/in', events: ['message.received'] };

async function call(url: string, key: string, json?: object) {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const reply = await fetch(url, { headers, ...(json && { method: 'POST', body: JSON.stringify(json) }) });
  return { status: reply.status, json: await reply.json() };
}

describe.sequential('one test after another', () => {
  for (const name of ['first', 'second']) {
    test(`the ${name} test has a mailbox as at the start`, async ({ mailbox, expect }) => {
      const url = `${mailbox.baseUrl}/v1/webhooks`;
      expect((await call(url, mailbox.keys.acme.tenant)).json.webhooks).toHaveLength(2);
      expect((await call(url, mailbox.keys.acme.tenant, HOOK)).status).toBe(201);
      expect(mailbox).toHaveReceivedRequest({ operation: 'createWebhook', times: 1 });
      expect(mailbox).toHaveReceivedRequest({ times: 2 });
    });
  }
});

test.sequential('the sandbox is told of every refused request', async ({ mailbox, sandbox, expect }) => {
  const url = `${mailbox.baseUrl}/v1/me`;
  expect((await call(url, sandbox.keys.tenant)).status).toBe(200);
  expect(sandbox).toHaveNoUnexpectedRefusals();
  expect((await call(url, 'tk_wrong')).status).toBe(401);
  expect(() => expect(sandbox).toHaveNoUnexpectedRefusals()).toThrow(
    'without a key of this sandbox: GET /v1/me → 401: ',
  );
  expect(sandbox.requests()).toHaveLength(1);
});

describe.concurrent('at the same time', () => {
  const [started, done] = [new Set<string>(), new Set<string>()];
  const names = ['a', 'b', 'c', 'd'];
  for (const name of names) {
    test(`test ${name} sees only its own mail and requests`, async ({ mailbox, sandbox, expect }) => {
      started.add(name);
      await expect.poll(() => started.size).toBe(names.length);
      const { helpdesk } = sandbox.ids.inboxes;
      const url = `https://mailbox.test/v1/inboxes/${helpdesk}/send`;
      const mail = { to: DANA, subject: name, plainBody: 'Hi', verified: true };
      expect((await call(url, sandbox.keys.inboxes.helpdesk, mail)).status).toBe(200);
      expect((await call('https://mailbox.test/v1/webhooks', 'tk_wrong')).status).toBe(401);

      done.add(name);
      await expect.poll(() => done.size).toBe(names.length);
      for (const each of [mailbox, sandbox]) {
        expect(each).toHaveSentMail({ times: 1 });
        expect(each).toHaveSentMail({ to: DANA, subject: name });
        expect(each).toHaveReceivedRequest({ times: 1 });
        expect(each).toHaveNoUnexpectedRefusals();
      }
      expect(await sandbox.waitForMessage({ to: DANA })).toMatchObject({ subject: name });
    });
  }
});

describe.concurrent('with the keys of the fixture', () => {
  const open = new Set<string>();
  for (const name of ['a', 'b']) {
    test(`test ${name} is refused, because the key does not tell whose request it is`, async ({ mailbox, expect }) => {
      open.add(name);
      await expect.poll(() => open.size).toBeGreaterThanOrEqual(2);
      const { status, json } = await call(`${mailbox.baseUrl}/v1/webhooks`, mailbox.keys.acme.tenant);
      open.add(`${name} answered`);
      await expect.poll(() => open.size).toBe(4);
      expect([status, json]).toEqual([
        500,
        {
          error:
            'Several tests run at the same time, and the mailbox of each has the key of this request; ' +
            'use a key of the fixture sandbox.',
          code: 'INTERNAL_ERROR',
        },
      ]);
    });
  }
});

const custom = createMailboxTest({
  baseUrl: 'https://api.example.com',
  fixtures: { tenants: { initech: { workspaces: { main: { inboxes: { orders: {} } } } } } },
});

custom('a test can have options and a fixture of its own', async ({ mailbox, sandbox, expect }) => {
  const { status } = await call('https://api.example.com/v1/messages', mailbox.keys.initech.workspaces.main);
  expect(status).toBe(200);
  expect(sandbox.keys.workspaces.main).toMatch(/^wk_/);
});

plain('a test without the fixtures is an ordinary one', () => {
  expect(1).toBe(1);
});
