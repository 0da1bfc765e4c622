import { createMailbox } from 'agent-mailbox-mock';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ControlClient, createControlClient, RefusedCallError } from '../../src/control/table/client.ts';
import { loadTenants } from '../../src/inspector/scope.ts';
import { createTraceClient } from '../../src/inspector/trace-client.ts';
import { IDS } from '../support/ids.ts';
import { serve } from '../support/serve.ts';

const { keys: KEYS } = createMailbox();

const ACME = [
  { id: IDS.acme.inboxes.helpdesk, address: 'helpdesk@acme.test', key: KEYS.acme.inboxes.helpdesk },
  { id: IDS.acme.inboxes.billing, address: 'billing@acme.test', key: KEYS.acme.inboxes.billing },
  { id: IDS.acme.inboxes.outreach, address: 'outreach@acme.test', key: KEYS.acme.inboxes.outreach },
];

const PEOPLE = ['Dana Reyes <dana@customer.test>', 'kim@visitor.test', '"Lee, J." <lee@münchen.test>'];
const SUBJECTS = ['Order 1042', 'Re: Order 1042', 'INVOICE für Mai', ''];
const BODIES = ['Where is my order?', 'See https://shop.test/track?id=7 please', ''];
const HTML = '<a href="https://evil.test/x">https://bank.test/login</a> <b>invoice</b>';

/** One thing that a test or an agent does. The numbers choose among what is there, and begin again at its end. */
const step = fc.oneof(
  { weight: 5, arbitrary: numbers('receive', 3, 3, 4, 3, 3) },
  { weight: 3, arbitrary: numbers('answer', 40, 3) },
  { weight: 3, arbitrary: numbers('mark', 40, 4) },
  { weight: 2, arbitrary: numbers('delete', 40) },
  numbers('send', 3, 3, 3),
  numbers('read', 3, 4),
  numbers('sample', 3),
  numbers('sandbox', 3),
  numbers('close', 3),
  numbers('remove', 40),
  numbers('fault', 4),
  numbers('redeliver', 20),
  numbers('advance', 3),
  fc.constantFrom(['clear', []] as const, ['restore', []] as const, ['release', []] as const),
  numbers('alias', 3),
);

type Step = readonly [name: string, numbers: readonly number[]];

function numbers(name: string, ...limits: readonly number[]): fc.Arbitrary<Step> {
  return fc.tuple(...limits.map((limit) => fc.nat(limit - 1))).map((chosen) => [name, chosen]);
}

const at = <Item>(items: readonly Item[], index = 0) => items[index % items.length] as Item;

/** Does one thing. What an agent may not do is refused, which belongs to the traffic. */
async function take(
  { mailbox, client }: MailboxServer,
  [name, [a = 0, b = 0, c = 0, d = 0, e = 0]]: Step,
): Promise<void> {
  const inbox = at(ACME, a);
  const mails = mailbox.messages();
  const mail = at(mails, a);
  const agent = client(ACME.find(({ id }) => id === mail?.inboxId)?.key ?? KEYS.acme.tenant);
  const sandboxes = mailbox.sandboxes();
  const deliveries = mailbox.deliveries();
  switch (name) {
    case 'receive': {
      const toSandbox = d === 0 && sandboxes.length > 0;
      await mailbox.receiveMessage({
        to: toSandbox ? `helpdesk@${at(sandboxes, c).domain}` : inbox.address,
        from: at(PEOPLE, b),
        subject: at(SUBJECTS, c),
        plainBody: at(BODIES, e),
        ...(d === 1 && { htmlBody: HTML, attachments: [{ filename: 'a.txt', text: 'abc' }] }),
        ...(d === 2 && mail && { inReplyTo: mail.messageIdHeader, cc: [at(PEOPLE, b + 1)] }),
      });
      return;
    }
    case 'answer':
      if (mail) await agent.replyToMessage(mail.inboxId, mail.id, { plainBody: at(BODIES, b) });
      return;
    case 'mark':
      if (mail)
        await agent.updateMessage(
          mail.inboxId,
          mail.id,
          at([{ isRead: true }, { isRead: false }, { isStarred: true }, { isArchived: true }], b),
        );
      return;
    case 'delete':
      if (mail) await agent.deleteMessage(mail.inboxId, mail.id);
      return;
    case 'send':
      await client(inbox.key).sendMessage(inbox.id, {
        to: [at(PEOPLE, b), 'nobody@unknown.acme.test'],
        bcc: ['bounce@simulator.test'],
        subject: at(SUBJECTS, c),
        plainBody: 'Hi',
        verified: true,
      });
      return;
    case 'read':
      await client(at([inbox.key, KEYS.acme.tenant, KEYS.globex.tenant, 'ak_unknown'], b)).listMessages(inbox.id);
      return;
    case 'sample':
      await mailbox.receiveMessage({
        sample: at(['injection-plain', 'no-reply', 'injection-in-quote'] as const, a),
        to: inbox.address,
      });
      return;
    case 'sandbox':
      mailbox.createSandbox(a === 0 ? {} : { name: `Worker ${a}` }).clearMail();
      return;
    case 'close':
      if (sandboxes.length > 0) at(sandboxes, a).close();
      return;
    case 'remove':
      if (mail) mailbox.removeMail(mail.id);
      return;
    case 'fault':
      mailbox.addFault(
        at(
          [
            { on: 'delivery', kind: 'hold', times: 1 },
            { on: 'delivery', kind: 'duplicate', times: 1 },
            { on: 'delivery', kind: 'delay', delay: '1m', times: 1 },
            { on: 'delivery', kind: 'wrong-secret', times: 1 },
          ] as const,
          a,
        ),
      );
      return;
    case 'redeliver':
      if (deliveries.length > 0) mailbox.redeliver(at(deliveries, a).id);
      return;
    case 'advance':
      await mailbox.clock.advance(at(['1s', '10s', '6m'], a));
      return;
    case 'clear':
      mailbox.clearRequests();
      return;
    case 'restore':
      mailbox.restoreRequests();
      return;
    case 'release':
      mailbox.release();
      return;
    case 'alias':
      await client(inbox.key).addInboxAddress(inbox.id, { email: `also-${a}@acme.test`, primary: false });
  }
}

/** Runs some traffic, and passes the client of the server and the client of its trace to a comparison. */
async function withTraffic(steps: readonly Step[], compare: (clients: Clients) => Promise<void>): Promise<void> {
  let answered = 0;
  await using receiver = await serve((_, response) => {
    answered += 1;
    response.writeHead(answered % 3 === 0 ? 500 : 200, { 'x-answer': String(answered) }).end(`answer ${answered}`);
  });
  await using server = await startServer({ port: 0 });
  const { mailbox } = server;
  mailbox.clock.freeze();
  // A trace does not have the mail that was there before.
  mailbox.clearMail();
  await mailbox.addWebhook({ url: `${receiver.url}?part=1`, workspaceOf: 'helpdesk@acme.test' });
  for (const each of steps) {
    // What the service refuses is a part of the traffic.
    await take(server, each).catch((error: Error & { code?: string }) => expect(error.code).toBeDefined());
    await mailbox.settled();
  }
  const live = createControlClient({ control: server.control });
  const trace = new Blob([mailbox.trace()]);
  await compare({ live, trace: createTraceClient(async () => trace.stream()) });
}

interface Clients {
  readonly live: ControlClient;
  readonly trace: ControlClient;
}

const SEARCHES = [
  ...['', 'order', '"order 1042"', 'from:dana', 'from:"dana reyes" order', 'to:münchen.test', 'to:xn--mnchen-3ya.test'],
  ...['subject:invoice', 'inbox:helpdesk', 'inbox:also-', 'sandbox:worker', 'sandbox:"worker 1" order', 'is:sample'],
  ...['is:unread', 'has:attachment', 'is:unread has:attachment', 'nowhere', 'bounce@simulator.test', 'INBOX:BILLING'],
];

const FOLDERS = ['all', 'inbox', 'sent', 'starred', 'archived', 'trash'] as const;

test('a trace answers every call by which the page reads as the server does', async () => {
  const run = fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 60 }), (steps) =>
    withTraffic(steps, async (clients) => {
      await compareMail(clients);
      await compareDeliveries(clients);
      await compareRequests(clients);
      await compareEntries(clients);
    }),
  );
  await fc.assert(run, { numRuns: 4, endOnFailure: true });
});

/** The ids of the mails and the tenants that were gone at the end: a trace still has them, the server has not. */
async function findGone({ live, trace }: Clients) {
  const { entries } = await trace.readJournal({ kinds: 'mail-received,mail-sent' });
  const ids = entries.map(({ data }) => (data.mail as { id: string }).id);
  const isGone = await Promise.all(ids.map((id) => live.getMail({ id }).then(() => false, isRefused)));
  const tenants = (await live.listTenants()).tenants.map(({ id }) => id);
  return { ids, gone: new Set(ids.filter((_, index) => isGone[index])), tenants: new Set(tenants) };
}

function isRefused(error: unknown): true {
  if (error instanceof RefusedCallError) return true;
  throw error;
}

async function compareMail(clients: Clients): Promise<void> {
  const { live, trace } = clients;
  const { ids, gone, tenants } = await findGone(clients);
  const listed = await loadTenants(live);
  const inTrace = (await loadTenants(trace)).filter(({ id }) => tenants.has(id));
  // Mail that is gone is counted in a trace.
  if (gone.size === 0) expect(inTrace).toEqual(listed);
  const choices = [
    {},
    { tenant: IDS.acme.tenant },
    { workspace: IDS.acme.workspaces.support },
    { inbox: IDS.acme.inboxes.helpdesk },
    ...listed.filter(({ isSandbox }) => isSandbox).map(({ id }) => ({ tenant: id })),
  ];
  for (const choice of choices) {
    for (const folder of FOLDERS) await compareSearch(clients, { ...choice, folder, limit: 200 }, gone);
  }
  for (const search of SEARCHES) await compareSearch(clients, { search, limit: 200 }, gone);
  if (gone.size === 0) {
    for (const folder of FOLDERS) await compareSearch(clients, { folder, threads: true, limit: 200 }, gone);
    for (const indexOf of ids) await compareSearch(clients, { limit: 3, offset: 2, indexOf }, gone);
  }
  for (const id of ids.filter((id) => !gone.has(id))) {
    const [shown, traced] = await Promise.all([live.getMail({ id }), trace.getMail({ id })]);
    expect(detailsOf(traced, gone)).toEqual(detailsOf(shown, gone));
    expect(await trace.explainMail({ id })).toEqual(await live.explainMail({ id }));
  }
  const unknown = IDS.globex.tenant;
  expect(await trace.getMail({ id: unknown }).then(() => false, isRefused)).toBe(true);
}

async function compareSearch(
  { live, trace }: Clients,
  query: Parameters<ControlClient['searchMail']>[0],
  gone: ReadonlySet<string>,
): Promise<void> {
  const [shown, traced] = await Promise.all([live.searchMail(query), trace.searchMail(query)]);
  const present = traced.messages.filter(({ id }) => !gone.has(id));
  const total = traced.total - (traced.messages.length - present.length);
  const summaries = (messages: typeof present) => messages.map((message) => summaryOf(message, gone));
  expect({ ...traced, total, messages: summaries(present) }, JSON.stringify(query)).toEqual({
    ...shown,
    messages: summaries([...shown.messages]),
  });
}

type Summary = Awaited<ReturnType<ControlClient['searchMail']>>['messages'][number];

/** A summary; without the size of the thread if a mail is gone, which a trace still counts. */
function summaryOf<Mail extends Summary>(mail: Mail, gone: ReadonlySet<string>) {
  return gone.size === 0 ? mail : { ...mail, messagesInThread: undefined };
}

/** The details of a mail that a trace has: not the raw form of its header, nor what the service replies. */
function detailsOf(mail: Awaited<ReturnType<ControlClient['getMail']>>, gone: ReadonlySet<string>) {
  const { headers: _, api: _api, thread, ...details } = mail;
  const inThread = thread.filter(({ id }) => !gone.has(id)).map((each) => summaryOf(each, gone));
  return { ...summaryOf(details, gone), thread: inThread };
}

async function compareDeliveries({ live, trace }: Clients): Promise<void> {
  const { webhooks } = await live.listWebhookSettings();
  expect((await trace.listWebhookSettings()).webhooks).toEqual(
    webhooks.map((webhook) => ({
      ...webhook,
      secret: '',
      url: expect.stringContaining(webhook.url.replace(/\?.*/, '')),
    })),
  );
  for (const filter of [
    {},
    { state: 'delivered' },
    { event: 'message.sent' },
    { tenant: IDS.globex.tenant },
  ] as const) {
    const { deliveries } = await live.listDeliveries(filter);
    const traced = (await trace.listDeliveries(filter)).deliveries;
    const present = new Set(deliveries.map(({ id }) => id));
    expect(traced.filter(({ id }) => present.has(id))).toEqual(deliveries.map(withoutSent));
    for (const { id } of deliveries) {
      expect(await trace.getDelivery({ id })).toEqual(withoutSent(await live.getDelivery({ id })));
    }
  }
}

type Delivery = Awaited<ReturnType<ControlClient['getDelivery']>>;

/** A delivery without what was sent, which no trace has. */
function withoutSent({ attempts, payload: { id, event, messageId }, ...delivery }: Delivery) {
  return {
    ...delivery,
    payload: { id, event, messageId },
    attempts: attempts.map((attempt) => ({ ...attempt, requestHeaders: {}, requestBody: '' })),
  };
}

async function compareRequests({ live, trace }: Clients): Promise<void> {
  const all = await live.listRequests();
  const tenants = new Set((await live.listTenants()).tenants.map(({ id }) => id));
  // The requests of a sandbox that was gone at the end are still in a trace.
  const present = (requests: readonly Request[]) =>
    requests.filter(({ principal }) => principal?.tenantId == null || tenants.has(principal.tenantId));
  for (const filter of [
    {},
    { format: 'summary' },
    { status: 404 },
    { operation: 'listMessages' },
    { tenant: IDS.acme.tenant },
    { protocol: 'http', after: 'req_3' },
  ] as const) {
    const shown = await live.listRequests(filter);
    const traced = await trace.listRequests(filter);
    expect({ ...traced, requests: present(requestsIn(traced)) }, JSON.stringify(filter)).toEqual(shown);
  }
  for (const { id } of requestsIn(all)) expect(await trace.getRequest({ id })).toEqual(await live.getRequest({ id }));
}

type Request = { readonly id: string; readonly principal: { readonly tenantId: string | null } | null };

const requestsIn = (reply: object) => (reply as { readonly requests: readonly Request[] }).requests;

async function compareEntries({ live, trace }: Clients): Promise<void> {
  expect(await trace.listSamples()).toEqual(await live.listSamples());
  expect((await trace.getControlHealth()).version).toBe((await live.getControlHealth()).version);
  const { entries, dropped } = await live.readJournal();
  const traced = await trace.readJournal();
  expect(traced.dropped).toEqual(dropped);
  expect(asJson(traced.entries)).toEqual(entries.map(withoutContent));
  for (const kinds of ['clock', 'attempt,delivery-created', 'mail-sent']) {
    const query = { kinds };
    const shown = (await live.readJournal(query)).entries;
    expect(asJson((await trace.readJournal(query)).entries), kinds).toEqual(shown.map(withoutContent));
  }
  const events: object[] = [];
  for await (const { id: _, ...event } of await live.readFeed({ lastEventId: '0', follow: false })) events.push(event);
  const inTrace: object[] = [];
  for await (const { id: _, ...event } of await trace.readFeed({ lastEventId: '0', follow: false }))
    inTrace.push(asJson(event));
  expect(inTrace).toEqual(events);
}

/** What a reader of JSON gets: without fields that are undefined. */
const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

/** An entry without the bytes of files, which a trace has only if that is wanted. */
function withoutContent<Entry extends { readonly data: Record<string, unknown> }>(entry: Entry) {
  const mail = entry.data.mail as { readonly attachments: readonly object[] } | undefined;
  if (!mail) return entry;
  const attachments = mail.attachments.map((file) => ({ ...file, content: '' }));
  return { ...entry, data: { ...entry.data, mail: { ...mail, attachments } } };
}

test('a trace refuses what it does not have, and what would change something', async () => {
  await withTraffic([['receive', [0, 0, 0, 1, 0]]], async ({ trace }) => {
    for (const call of [
      trace.clearRequests(),
      trace.getMailSource({ id: 'x' }),
      trace.listRequests({ format: 'har' }),
    ]) {
      await expect(call).rejects.toThrow('This is a trace, a record of what has happened.');
    }
    await expect(trace.searchMail({ tenant: IDS.acme.messages.talk })).rejects.toThrow(
      'There is no tenant with this id.',
    );
  });
});
