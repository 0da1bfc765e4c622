import 'agent-mailbox-mock/matchers';
import { type Connection, createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { createSample } from 'agent-mailbox-mock/samples';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests } from '../support/everywhere.ts';

interceptRequests();

const HELPDESK = 'helpdesk@acme.test';
const MAIL = { from: 'dana@customer.test', subject: 'Where is it?', plainBody: 'Order 7.' };

/** An agent that checks the signature of an event and answers its mail, by what the connection has. */
async function answer(request: Request, { secret, client }: Connection): Promise<Response> {
  const body = await request.text();
  const event = new Webhook(secret).verify(body, Object.fromEntries(request.headers)) as Record<string, string>;
  await client.replyToMessage(String(event.inboxId), String(event.messageId), { plainBody: 'On its way.' });
  return new Response();
}

everywhere('a connected agent gets each mail with a signature that its secret verifies', async ({ mailbox }) => {
  const helpdesk = mailbox.connect(answer, { inbox: HELPDESK });
  const mail = await helpdesk.receive(MAIL);
  expect(mail).toMatchObject({ subject: 'Where is it?', direction: 'inbound', inboxId: helpdesk.inboxId });
  expect(mailbox).toHaveAnswered(mail);
  expect(mailbox.webhooks().find(({ id }) => id === helpdesk.id)).toMatchObject({
    secret: helpdesk.secret,
    url: 'https://agent-1.test/',
    events: ['message.received'],
  });
  expect(mailbox.deliveries()).toMatchObject([{ state: 'delivered', attempts: [{ url: helpdesk.url, status: 200 }] }]);
});

everywhere('a handler can be an object with fetch, which gets the connection and a context', async ({ mailbox }) => {
  const seen: unknown[] = [];
  const worker = {
    name: 'worker',
    async fetch(request: Request, environment: { readonly secret: string }) {
      seen.push([this.name, request.method, new URL(request.url).pathname, environment.secret]);
      return new Response(null, { status: 204 });
    },
  };
  const { receive, secret } = mailbox.connect(worker, { inbox: HELPDESK, url: 'https://shop.example/hooks/mail' });
  await receive(MAIL);
  expect(seen).toEqual([['worker', 'POST', '/hooks/mail', secret]]);
});

everywhere('what a handler throws is the reason of a failed attempt, which is tried again', async ({ mailbox }) => {
  const results = [
    () => Promise.reject(Object.assign(new TypeError('no model'), { code: 'ECONNRESET' })),
    () => {
      throw new Error('not even a promise.');
    },
    () => 'text' as never,
    () => new Response('busy', { status: 503 }),
    () => new Response(),
  ];
  const handler = () => (results.shift() ?? (() => new Response()))();
  const { id, receive } = mailbox.connect(handler, { inbox: HELPDESK });
  await receive(MAIL);
  const errors = () =>
    mailbox.deliveries({ webhookId: id }).flatMap(({ attempts }) => attempts.map(({ error }) => error));
  expect(errors()).toEqual(['The handler has thrown TypeError: no model.']);
  expect(mailbox.explain({ id: mailbox.messages()[0]?.id ?? '' }).lines.join('\n')).toContain('no model');
  await mailbox.clock.advance('1d');
  expect(errors()).toEqual([
    'The handler has thrown TypeError: no model.',
    'The handler has thrown Error: not even a promise.',
    'The handler must return a Response, not "text".',
    'The receiver answered 503.',
    null,
  ]);
  const failed = mailbox.journal({ kinds: ['attempt'] });
  expect(failed.map(({ data: { thrown } }) => /no model|not even/.exec(String(thrown))?.[0])).toEqual([
    'no model',
    'not even',
    ...[undefined, undefined, undefined],
  ]);
});

const quiet = { environment: { report: () => {} } };

everywhere(
  'work that a handler leaves for later is waited for, and its failure is told',
  quiet,
  async ({ mailbox }) => {
    const done: string[] = [];
    const { receive } = mailbox.connect(
      (_request, { client, inboxId }, { waitUntil }) => {
        const work = async () => {
          const { messages } = await client.listMessages(inboxId, { query: { limit: 1 } });
          done.push(messages[0]?.subject ?? '');
          if (done.length > 1) throw new Error('the model is gone');
        };
        waitUntil(work());
        return new Response(null, { status: 202 });
      },
      { inbox: HELPDESK },
    );
    await receive(MAIL);
    expect(done).toEqual(['Where is it?']);
    await expect(receive({ ...MAIL, subject: 'Again' })).rejects.toMatchObject({
      code: 'CONFLICT',
      message: 'The handler at https://agent-1.test/ has failed after its response: Error: the model is gone.',
      cause: { message: 'the model is gone' },
    });
  },
);

everywhere('a reset undoes a connection, and a restore brings back that of its checkpoint', async ({ mailbox }) => {
  let calls = 0;
  const count = () => {
    calls += 1;
    return new Response();
  };
  const before = mailbox.webhooks();
  mailbox.checkpoint('before');
  const helpdesk = mailbox.connect(count, { inbox: HELPDESK });
  mailbox.checkpoint('connected');
  await helpdesk.receive(MAIL);
  expect(calls).toBe(1);

  mailbox.reset();
  expect(mailbox.webhooks()).toEqual(before);
  await expect(helpdesk.receive(MAIL)).rejects.toThrow('The connection has ended, because the mailbox was reset');
  const { url } = mailbox.connect(() => new Response(), { inbox: HELPDESK });
  expect(url).toBe(helpdesk.url);
  await expect(helpdesk.receive(MAIL)).rejects.toThrow('The connection has ended');

  mailbox.restore('connected');
  await helpdesk.receive(MAIL);
  expect(calls).toBe(2);
  mailbox.restore('before');
  await expect(helpdesk.receive(MAIL)).rejects.toThrow('The connection has ended');
  expect(calls).toBe(2);
});

everywhere('each sandbox has its own handlers, also at the same URL', async ({ mailbox }) => {
  const calls: string[] = [];
  const connect = (name: string) => {
    const sandbox = mailbox.createSandbox();
    const handler = () => {
      calls.push(name);
      return new Response();
    };
    const inbox = `helpdesk@${sandbox.domain}`;
    return { sandbox, connection: sandbox.connect(handler, { inbox, url: 'https://agent.test/hook' }) };
  };
  const [one, two] = [connect('one'), connect('two')];
  await two.connection.receive(MAIL);
  await one.connection.receive(MAIL);
  expect(calls).toEqual(['two', 'one']);
  one.sandbox.close();
  await expect(one.connection.receive(MAIL)).rejects.toThrow('The connection has ended');
  expect(() => one.sandbox.connect(() => new Response(), { inbox: HELPDESK })).toThrow('There is no sandbox');
});

everywhere('a connection takes raw mail, samples and several kinds of event', async ({ mailbox }) => {
  const events: string[] = [];
  const handler = async (request: Request) => {
    events.push(((await request.json()) as { readonly event: string }).event);
    return new Response();
  };
  const { receive, client, inboxId } = mailbox.connect(handler, {
    inbox: mailbox.ids.acme.inboxes.helpdesk,
    events: ['message.received', 'message.sent'],
  });
  const eml =
    'From: dana@customer.test\r\nTo: other@elsewhere.test\r\nSubject: Raw\r\nList-Id: <a.list.test>\r\n\r\nHi';
  const raw = await receive({ eml });
  expect([raw.subject, raw.headers['list-id']]).toEqual(['Raw', '<a.list.test>']);
  expect((await receive({ sample: 'out-of-office' })).headers['auto-submitted']).toMatch(/^auto-/);
  const sample = createSample('injection-plain', { to: HELPDESK });
  await receive(sample);
  expect(mailbox.samples().map((delivered) => delivered.sample.name)).toEqual(['out-of-office', 'injection-plain']);
  await client.sendMessage(inboxId, { to: 'kim@visitor.test', subject: 'Hi', plainBody: 'Hi', verified: true });
  await mailbox.settled();
  expect(events.filter((event) => event === 'message.sent')).toHaveLength(1);
  expect(events).toHaveLength(4);
  await expect(receive({ ...MAIL, to: 'billing@acme.test' })).rejects.toThrow(`The mail did not go to ${HELPDESK}.`);
});

everywhere('a mail that the agent removes for good is returned as it arrived', async ({ mailbox }) => {
  const handler = async (request: Request) => {
    const { messageId } = (await request.json()) as { readonly messageId: string };
    mailbox.removeMail(messageId);
    return new Response();
  };
  const { receive } = mailbox.connect(handler, { inbox: HELPDESK });
  expect(await receive(MAIL)).toMatchObject(MAIL);
});

everywhere('what cannot be connected is refused, and nothing is added', async ({ mailbox }) => {
  const ok = () => new Response();
  const connect = mailbox.connect as (...input: unknown[]) => unknown;
  const before = mailbox.webhooks();
  expect(() => connect(undefined, { inbox: HELPDESK })).toThrow(
    'The handler must be a function that answers a Request, or an object with such a function as its fetch, not undefined.',
  );
  expect(() => connect({ fetch: 1 }, { inbox: HELPDESK })).toThrow('The handler must be a function');
  expect(() => connect(ok)).toThrow('must be an object with inbox');
  expect(() => connect(ok, { inbox: 'nobody@acme.test' })).toThrow('There is no inbox nobody@acme.test.');
  expect(() => connect(ok, { inbox: HELPDESK, events: ['mail'] })).toThrow('events[0]');
  expect(() => connect(ok, { inbox: HELPDESK, url: 'ftp://a.test' })).toThrow('url must be an absolute http');
  expect(mailbox.webhooks()).toEqual(before);
  connect(ok, { inbox: HELPDESK, url: 'https://agent.test/hook' });
  expect(() => connect(ok, { inbox: 'billing@acme.test', url: 'https://agent.test/hook' })).toThrow(
    'A handler is connected with https://agent.test/hook already; give another url.',
  );
});

test('a handler that does not answer is given up after the time of the service', async () => {
  const mailbox: Mailbox = createMailbox({ behaviours: { 'deliveries.timeout': '100ms' } });
  let signal: AbortSignal | undefined;
  const handler = (request: Request) => {
    signal = request.signal;
    return new Promise<Response>(() => {});
  };
  const { receive, id } = mailbox.connect(handler, { inbox: HELPDESK });
  await receive(MAIL);
  expect(mailbox.deliveries({ webhookId: id })).toMatchObject([
    { state: 'pending', attempts: [{ error: 'The receiver did not respond within 0.1 s.' }] },
  ]);
  expect(signal?.aborted).toBe(true);
});
