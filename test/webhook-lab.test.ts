import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests } from './support/everywhere.ts';
import { IDS } from './support/ids.ts';
import { createWebhook, START } from './support/webhooks.ts';

interceptRequests();

const WEBHOOK = { url: 'http://127.0.0.1/', events: ['message.received'] };

/** A mailbox whose receivers answer when the test lets them. */
function openHanging() {
  const answers: ((response: Response) => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => answers.push(resolve));
  const mailbox = createMailbox({ environment: { fetch, now: () => new Date(START) } });
  async function send(method: string, path: string, key: string, json?: object) {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const init = { method, headers, ...(json && { body: JSON.stringify(json) }) };
    return (await mailbox.fetch(new Request(mailbox.baseUrl + path, init))).json();
  }
  const answerAll = () => {
    for (const answer of answers) answer(new Response());
  };
  return { mailbox, send, answerAll };
}

test('a tenant that is deleted while time moves on holds up none of the others', async () => {
  const { mailbox, send, answerAll } = openHanging();
  await send('POST', '/v1/webhooks', mailbox.keys.globex.tenant, WEBHOOK);
  mailbox.trigger('message.received', { tenant: IDS.globex.tenant });
  const moved = mailbox.clock.advance('1h');
  await send('DELETE', `/v1/tenants/${IDS.globex.tenant}`, mailbox.keys.operator);
  answerAll();
  await moved;
  const times = [mailbox.clock.now(), mailbox.clock.now({ tenant: IDS.acme.tenant })];
  expect(times.map((time) => time.toISOString())).toEqual(Array(2).fill('2026-03-01T10:00:00.000Z'));
});

test.each([
  ['a tenant of the start', ({ mailbox }: ReturnType<typeof openHanging>) => mailbox.keys.acme.tenant],
  [
    'a tenant that was made later',
    async ({ mailbox, send }: ReturnType<typeof openHanging>) =>
      (await send('POST', '/v1/tenants', mailbox.keys.operator, { name: 'Initech' })).apiKey as string,
  ],
])('a reset while time waits for %s ends the move', async (_, findKey) => {
  const world = openHanging();
  const { mailbox, send } = world;
  const key = await findKey(world);
  await send('POST', '/v1/webhooks', key, WEBHOOK);
  mailbox.trigger('message.received');
  const moved = mailbox.clock.advance('1h');
  mailbox.reset();
  await moved;
  expect(mailbox.clock.now().toISOString()).toBe(START);
});

test('a stream that cannot be closed does not keep a mailbox from its reset', () => {
  const mailbox = createMailbox();
  const before = mailbox.snapshot();
  const url = `${mailbox.baseUrl}/v1/ws?api_key=${mailbox.keys.acme.tenant}`;
  mailbox.stream({ url, headers: new Headers() })({
    send() {},
    close() {
      throw new Error('Gone.');
    },
    bufferedBytes: 0,
  });
  mailbox.reset();
  expect(mailbox.snapshot()).toEqual(before);
});

test('a mailbox without tenants has no event to fire, and nobody to be hostile to', () => {
  const mailbox = createMailbox({ fixtures: { tenants: {} } });
  expect([mailbox.trigger('message.received'), mailbox.hostile({ plan: 'drop' }), mailbox.deliveries()]).toEqual([
    [],
    [],
    [],
  ]);
});

everywhere('no event can be fired in an inbox that is deleted', async (world) => {
  const { mailbox, send } = world;
  const { helpdesk } = IDS.acme.inboxes;
  await send('DELETE', `/v1/inboxes/${helpdesk}`, { key: mailbox.keys.acme.tenant });
  const fire = () => mailbox.trigger('message.received', { inboxId: helpdesk });
  expect(fire).toThrow('There is no inbox with this id.');
});

everywhere('a plan for a webhook that is deleted stands no more', async (world) => {
  const { mailbox, send } = world;
  const { id } = await createWebhook(world, 'http://127.0.0.1/');
  mailbox.hostile({ plan: 'drop', webhookId: id });
  await send('DELETE', `/v1/webhooks/${id}`, { key: mailbox.keys.acme.tenant });
  expect(mailbox.hostile()).toEqual([]);
});

test('a message that is named in capitals is found', () => {
  const mailbox = createMailbox({ fixtures: FIXTURE });
  const [delivery] = mailbox.trigger('message.received', { messageId: MESSAGE.toUpperCase() });
  expect(delivery?.payload).toMatchObject({ subject: 'Opening hours', from: 'kim@visitor.test' });
  mailbox.reset();
});

const MESSAGE = '0f0f0f0f-0006-4000-8000-00000000000a';

const FIXTURE = {
  tenants: {
    initech: {
      workspaces: {
        main: {
          inboxes: {
            orders: { messages: [{ id: MESSAGE, from: 'kim@visitor.test', subject: 'Opening hours' }] },
          },
        },
      },
      webhooks: { audit: { url: 'http://127.0.0.1:9/audit' } },
    },
  },
};
