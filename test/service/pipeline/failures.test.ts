import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createMailbox, type Environment } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { buildMailbox } from '../../../src/mailbox/mailbox.ts';
import { createHttpServer } from '../../../src/server/http/http-server.ts';
import { createBareApp } from '../../support/bare-app.ts';
import { openDeliveryClient } from '../../support/deliveries.ts';
import { eventually } from '../../support/eventually.ts';
import { everywhere, interceptRequests, type Options, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { withoutTimes } from '../../support/log.ts';
import { senderTo } from '../../support/send.ts';
import { createWebhook } from '../../support/webhooks.ts';

interceptRequests();

const CAUSE = new Error('The dice are broken.');

/** Creates an environment that can be broken, and collects the reported bugs. */
function createBreakable() {
  const reported: unknown[] = [];
  let broken: keyof Environment | undefined;
  const fail = (part: keyof Environment) => {
    if (broken === part) throw CAUSE;
  };
  const environment: Partial<Environment> = {
    randomBytes(length) {
      fail('randomBytes');
      return crypto.getRandomValues(new Uint8Array(length));
    },
    setTimer(delayMs, wake) {
      fail('setTimer');
      const timer = setTimeout(wake, delayMs);
      return () => clearTimeout(timer);
    },
    fetch: async () => new Response(),
    report: (error) => void reported.push(error),
  };
  return {
    environment,
    reported,
    break: (part: keyof Environment) => {
      broken = part;
    },
    mend: () => {
      broken = undefined;
    },
  };
}

const REPLY = {
  error:
    'The emulator failed because of a bug in it; the cause is printed to its stderr, or to the console of the page.',
  code: 'INTERNAL_ERROR',
};

/** Registers an `everywhere` test with an environment that can be broken. */
function withBreakable(
  title: string,
  body: (service: Service, breakable: ReturnType<typeof createBreakable>) => Promise<void>,
) {
  const made: ReturnType<typeof createBreakable>[] = [];
  const options: Options = {
    get environment() {
      made.push(createBreakable());
      return made.at(-1)?.environment ?? {};
    },
  };
  everywhere(title, options, async (service) => body(service, made.at(-1) as never));
}

withBreakable('a bug is a 500 that shows nothing of its cause, which is reported once', async (service, breakable) => {
  breakable.break('randomBytes');
  const key = service.mailbox.keys.acme.tenant;
  const json = { url: 'https://agent.example/in', events: ['message.received'] };
  const reply = await service.send('POST', '/v1/webhooks', { key, json });
  expect([reply.status, reply.json]).toEqual([500, REPLY]);
  expect(breakable.reported).toEqual([CAUSE]);
  breakable.mend();
  expect((await service.send('POST', '/v1/webhooks', { key, json })).status).toBe(201);
});

withBreakable(
  'a delivery that a bug ends has failed, and settled rejects with the bug once',
  async (service, breakable) => {
    const { mailbox } = service;
    const deliveryClient = openDeliveryClient(service);
    const webhook = await createWebhook(service, 'https://agent.example/in');
    mailbox.clock.freeze();
    breakable.break('setTimer');
    const [delivery] = mailbox.trigger('message.received', { webhookId: webhook.id });
    const { status, json } = await deliveryClient.settled();
    const what = `delivery ${delivery?.id} of message.received to webhook ${webhook.id}`;
    const error = `A bug in the emulator has ended ${what} (The dice are broken).`;
    expect([status, json]).toEqual([500, { error, code: 'INTERNAL_ERROR' }]);
    expect((await deliveryClient.deliveries({ state: 'failed' })).json.deliveries).toMatchObject([
      {
        id: delivery?.id,
        state: 'failed',
        reason: 'The emulator failed because of a bug in it: The dice are broken.',
        nextAttemptAt: null,
        attempts: [],
      },
    ]);
    expect(breakable.reported).toEqual([CAUSE]);

    breakable.mend();
    const settled = await deliveryClient.settled();
    expect([settled.status, settled.json]).toEqual([200, { settled: true, losses: { dropped: 0, forgotten: 0 } }]);
    expect((await deliveryClient.redeliver(delivery?.id ?? '')).status).toBe(200);
    await mailbox.settled();
    expect(mailbox.delivery(delivery?.id ?? '').state).toBe('delivered');
  },
);

test('settled rejects with the original error as its cause, and a reset clears it', async () => {
  const breakable = createBreakable();
  const mailbox = createMailbox({ environment: breakable.environment });
  mailbox.clock.freeze();
  breakable.break('setTimer');
  for (let count = 0; count < 5; count += 1)
    mailbox.trigger('message.received', { webhookId: IDS.acme.webhooks.support });
  await expect(mailbox.settled()).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
    message: expect.stringMatching(
      /^A bug in the emulator has ended (?:delivery [^,]+\)(?:, |(?= and))){3} and 2 more\.$/,
    ),
    cause: CAUSE,
  });
  mailbox.trigger('message.received', { webhookId: IDS.acme.webhooks.support });
  await eventually(() => expect(breakable.reported).toHaveLength(6));
  mailbox.reset();
  breakable.mend();
  await expect(mailbox.settled()).resolves.toEqual({ losses: { dropped: 0, forgotten: 0 } });
});

test('settled rejects when a bug stops an event before it reaches the webhooks', async () => {
  const breakable = createBreakable();
  const mailbox = createMailbox({ environment: breakable.environment });
  await createWebhook({ mailbox, send: senderTo(mailbox) }, 'https://agent.example/in');
  breakable.break('randomBytes');
  const messageId = IDS.acme.messages.cannotLogIn;
  const fired = mailbox.trigger('message.received', { id: 'evt_1', messageId });
  expect(fired).toEqual([]);
  await expect(mailbox.settled()).rejects.toThrow('A bug in the emulator has ended an event (The dice are broken).');
});

test('the log of a server has a line for work that a bug has stopped', async () => {
  const lines: string[] = [];
  const breakable = createBreakable();
  const { environment } = breakable;
  await using server = await startServer({ port: 0, environment, log: (line) => lines.push(line) });
  server.mailbox.clock.freeze();
  breakable.break('setTimer');
  const webhookId = IDS.acme.webhooks.support;
  server.mailbox.trigger('message.received', { webhookId });
  await eventually(() => expect(lines).toHaveLength(2));
  const said = 'The emulator failed because of a bug in it: The dice are broken.';
  expect(lines.map(withoutTimes)).toEqual([
    `emulator ! ${said}`,
    `message.received ! webhook ac3e… http://127.0.0.1:9999/acme/support failed: ${said} (link)`,
  ]);
});

test('a bug during an SMTP mail is reported, and the client may retry', async () => {
  const { environment, reported, break: breakPart } = createBreakable();
  await using server = await startServer({ port: 0, smtpPort: 0, environment });
  const transport = createTransport({ host: '127.0.0.1', port: server.smtp?.port ?? 0, ignoreTLS: true });
  breakPart('randomBytes');
  const mail = { from: 'dana@customer.test', to: 'helpdesk@acme.test', text: 'Hello' };
  await expect(transport.sendMail(mail)).rejects.toMatchObject({ responseCode: 451 });
  transport.close();
  expect(reported).toEqual([CAUSE]);
});

test('a bug during the opening of a stream is reported and results in 500', async () => {
  const { environment, reported } = createBreakable();
  const internals = buildMailbox({ environment });
  const admit = () => {
    throw CAUSE;
  };
  const { app, mailbox } = createBareApp({ ...internals, admit });
  const http = createHttpServer(app);
  await using server = { port: await http.listen(0, '127.0.0.1'), [Symbol.asyncDispose]: http.close };
  const key = mailbox.keys.acme.tenant;
  const client = new WebSocket(`ws://127.0.0.1:${server.port}/v1/ws`, { headers: { 'X-API-Key': key } });
  const [, reply] = await once(client, 'unexpected-response');
  expect([reply.statusCode, JSON.parse(await text(reply))]).toEqual([500, REPLY]);
  expect(reported).toEqual([CAUSE]);
});
