import { describe, expect } from 'vitest';
import { EVENT_ID } from '../../support/deliveries.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { openInboxClients } from '../../support/inbox-clients.ts';
import { type Frame, provideWebSocket } from '../../support/stream-client.ts';
import {
  ALL_KINDS,
  aliasOf,
  fireEverywhere,
  inboxesOf,
  KEYS,
  listen,
  NOON,
  open,
  PLACES,
  REACHES,
  receivedInboxes,
  refusal,
} from '../../support/streams.ts';

provideWebSocket();
interceptRequests();

const { acme, globex, nobody } = IDS;
const { helpdesk, billing, outreach } = acme.inboxes;
const { support, sales } = acme.workspaces;

describe('the first frame', () => {
  everywhere('names the inbox of an inbox key, and none for a wider key', async (service) => {
    const first = async (key: string) => {
      await using client = await open(service, key);
      return await client.next();
    };
    const none = { type: 'connected', inboxId: null, email: null };
    expect(await first(KEYS.acme.tenant)).toEqual(none);
    expect(await first(KEYS.acme.workspaces.sales)).toEqual(none);
    expect(await first(KEYS.acme.inboxes.billing)).toEqual({
      type: 'connected',
      inboxId: billing,
      email: 'billing@acme.test',
    });
  });

  everywhere('has the current primary address', async (service) => {
    const email = 'new-primary@acme.test';
    await service.send('POST', `/v1/inboxes/${helpdesk}/addresses`, { key: KEYS.acme.tenant, json: { email } });
    await using client = await open(service, KEYS.acme.inboxes.helpdesk);
    expect(await client.next()).toEqual({ type: 'connected', inboxId: helpdesk, email });
  });

  everywhere('of the alias names its inbox, and the stream subscribes by itself', async (service) => {
    const { tenant, workspaces, inboxes } = KEYS.acme;
    for (const key of [tenant, workspaces.support, inboxes.helpdesk]) {
      await using client = await open(service, key, aliasOf(helpdesk));
      expect(await client.next()).toEqual({ type: 'connected', inboxId: helpdesk, email: 'helpdesk@acme.test' });
      expect(await client.next()).toEqual({
        type: 'subscribed',
        event_types: ALL_KINDS,
        inbox_ids: [helpdesk],
        workspace_ids: [],
      });
      expect(await receivedInboxes(service, client)).toEqual([helpdesk]);
    }
  });

  everywhere('of the alias accepts an id in upper case, and the subscription can be widened', async (service) => {
    await using client = await open(service, KEYS.acme.tenant, aliasOf(helpdesk.toUpperCase()));
    expect(await client.next()).toMatchObject({ inboxId: helpdesk });
    expect(await client.next()).toMatchObject({ inbox_ids: [helpdesk] });
    expect(await client.subscribe()).toMatchObject({ type: 'subscribed', inbox_ids: [] });
    expect(await receivedInboxes(service, client)).toEqual([helpdesk, billing, outreach]);
  });
});

describe('a subscription', () => {
  everywhere('without filters is to everything in scope', async (service) => {
    await using client = await open(service, KEYS.acme.tenant);
    await client.next();
    expect(await client.subscribe()).toEqual({
      type: 'subscribed',
      event_types: ALL_KINDS,
      inbox_ids: [],
      workspace_ids: [],
    });
    expect(await client.subscribe({ event_types: [], inbox_ids: [], workspace_ids: [], pod_ids: [] })).toMatchObject({
      event_types: ALL_KINDS,
    });
    expect(await receivedInboxes(service, client)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('can name event kinds', async (service) => {
    await using client = await listen(service, KEYS.acme.tenant, { event_types: ['message.sent', 'message.bounced'] });
    for (const kind of ['message.received', 'message.bounced', 'message.sent'] as const) {
      service.mailbox.trigger(kind, { inboxId: helpdesk });
    }
    expect((await client.news()).map(({ event_type }) => event_type)).toEqual(['message.bounced', 'message.sent']);
  });

  everywhere('can name inboxes, workspaces, or the union of both', async (service) => {
    await using client = await open(service, KEYS.acme.tenant);
    await client.next();
    expect(await client.subscribe({ inbox_ids: [billing] })).toMatchObject({ inbox_ids: [billing], workspace_ids: [] });
    expect(await receivedInboxes(service, client)).toEqual([billing]);
    await client.subscribe({ workspace_ids: [support] });
    expect(await receivedInboxes(service, client)).toEqual([helpdesk, billing]);
    expect(await client.subscribe({ inbox_ids: [billing], workspace_ids: [sales] })).toMatchObject({
      inbox_ids: [billing],
      workspace_ids: [sales],
    });
    expect(await receivedInboxes(service, client)).toEqual([billing, outreach]);
  });

  everywhere('accepts pod_ids for workspace_ids, and ids in upper case', async (service) => {
    await using client = await open(service, KEYS.acme.tenant);
    await client.next();
    const wanted = { pod_ids: [sales.toUpperCase()], workspace_ids: [sales], inbox_ids: [billing.toUpperCase()] };
    expect(await client.subscribe(wanted)).toEqual({
      type: 'subscribed',
      event_types: ALL_KINDS,
      inbox_ids: [billing],
      workspace_ids: [sales],
    });
    expect(await receivedInboxes(service, client)).toEqual([billing, outreach]);
    await client.subscribe({ pod_ids: [sales] });
    expect(await receivedInboxes(service, client)).toEqual([outreach]);
  });

  everywhere('replaces the previous one', async (service) => {
    await using client = await listen(service, KEYS.acme.tenant, {
      inbox_ids: [helpdesk],
      event_types: ['message.sent'],
    });
    await client.subscribe({ inbox_ids: [billing] });
    expect(await receivedInboxes(service, client)).toEqual([billing]);
  });

  everywhere('may have unknown fields', async (service) => {
    await using client = await open(service, KEYS.acme.tenant);
    await client.next();
    expect(await client.subscribe({ since: NOON, organization_ids: [nobody] })).toMatchObject({ type: 'subscribed' });
  });
});

const INBOXES = [...PLACES, nobody, support, '', 'x', '__proto__'];
const WORKSPACES = [support, sales, globex.workspaces.main, nobody, helpdesk, '', '__proto__'];

describe('the scope of', () => {
  for (const [title, [key, inboxes, workspaces]] of Object.entries(REACHES)) {
    everywhere(`${title} decides what a subscription without filters receives`, async (service) => {
      await using client = await listen(service, key);
      expect(await receivedInboxes(service, client)).toEqual(inboxes);
    });

    everywhere(`${title} bounds what it can subscribe to, and the rest is an error`, async (service) => {
      await using client = await listen(service, key);
      const tries = [
        ...INBOXES.map((id) => ({ id, isThere: inboxes.includes(id), wanted: { inbox_ids: [id] } })),
        ...WORKSPACES.map((id) => ({ id, isThere: workspaces.includes(id), wanted: { workspace_ids: [id] } })),
        ...WORKSPACES.map((id) => ({ id, isThere: workspaces.includes(id), wanted: { pod_ids: [id] } })),
      ];
      for (const { id, isThere, wanted } of tries) {
        const answer = await client.subscribe(wanted);
        const refused = { type: 'error', message: expect.stringContaining(`${id}; the subscription is unchanged.`) };
        expect(answer).toEqual(isThere ? expect.objectContaining({ type: 'subscribed' }) : refused);
        const heard = await receivedInboxes(service, client);
        expect(heard.filter((inbox) => !inboxes.includes(inbox))).toEqual([]);
      }
    });

    everywhere(`${title} bounds the alias`, async (service) => {
      for (const id of INBOXES) {
        if (inboxes.includes(id)) await (await open(service, key, aliasOf(id))).next('subscribed');
        else if (id !== '') expect(await refusal(service, `?api_key=${key}`, aliasOf(id))).toBe(404);
      }
    });
  }

  everywhere('a subscription that is partly out of scope is refused, and the previous one stays', async (service) => {
    await using client = await listen(service, KEYS.acme.workspaces.support, { inbox_ids: [billing] });
    expect(await client.subscribe({ inbox_ids: [helpdesk, outreach] })).toEqual({
      type: 'error',
      message: `This key has no access to inbox ${outreach}; the subscription is unchanged.`,
    });
    expect(await client.subscribe({ inbox_ids: [helpdesk], workspace_ids: [sales] })).toMatchObject({ type: 'error' });
    expect(await receivedInboxes(service, client)).toEqual([billing]);
  });

  everywhere('a refused first subscription subscribes to nothing', async (service) => {
    await using client = await open(service, KEYS.acme.tenant);
    await client.next();
    expect(await client.subscribe({ inbox_ids: [globex.inboxes.info] })).toMatchObject({ type: 'error' });
    expect(await receivedInboxes(service, client)).toEqual([]);
  });

  everywhere('a deleted inbox sends no more events and cannot be named', async (service) => {
    const key = KEYS.acme.tenant;
    await using client = await listen(service, key, { inbox_ids: [outreach, billing] });
    await service.send('DELETE', `/v1/inboxes/${outreach}`, { key });
    await service.mailbox.receiveMessage({
      from: 'dana@customer.test',
      to: 'billing@acme.test',
      subject: 'Still here',
    });
    expect(inboxesOf(await client.news())).toEqual([billing]);
    expect(await client.subscribe({ inbox_ids: [outreach] })).toMatchObject({ type: 'error' });
    expect(await refusal(service, `?api_key=${key}`, aliasOf(outreach))).toBe(404);
  });

  everywhere('an inbox that is created later is in scope too', async (service) => {
    const { tenant, workspaces } = KEYS.acme;
    await using whole = await listen(service, tenant);
    await using inSales = await listen(service, workspaces.sales);
    await using inSupport = await listen(service, workspaces.support, { workspace_ids: [support] });
    const { json } = await service.send('POST', '/v1/inboxes', { key: workspaces.sales, json: { username: 'scout' } });
    service.mailbox.trigger('message.received', { inboxId: json.id });
    expect(inboxesOf(await whole.news())).toEqual([json.id]);
    expect(inboxesOf(await inSales.news())).toEqual([json.id]);
    expect(await inSupport.news()).toEqual([]);
  });
});

const event = (kind: string, message: object, subject: string) => ({
  type: 'event',
  event_type: kind,
  event_id: expect.stringMatching(EVENT_ID),
  message: { thread_id: expect.any(String), plain_body: null, html_body: null, timestamp: NOON, ...message },
  thread: { thread_id: expect.any(String), subject },
});

function expectSameThread(frames: readonly Frame[]): void {
  for (const { message, thread } of frames) expect(thread.thread_id).toBe(message.thread_id);
}

describe('an event', () => {
  everywhere('of mail from outside has every field', async (service) => {
    const { mailbox } = service;
    mailbox.clock.freeze(NOON);
    await using client = await listen(service, KEYS.acme.inboxes.helpdesk);
    const [arrived] = await mailbox.receiveMessage({
      from: 'Dana Réyes ✉ <dana@customer.test>',
      to: ['helpdesk@acme.test', 'Ann <ann@elsewhere.test>'].slice(0, 1),
      subject: 'Grüße',
      plainBody: 'Hi ✉',
      htmlBody: '<p>Hi</p>',
    });
    const frames = await client.news();
    expect(frames).toEqual([
      event(
        'message.received',
        {
          inbox_id: helpdesk,
          from: 'Dana Réyes ✉ <dana@customer.test>',
          to: ['helpdesk@acme.test'],
          subject: 'Grüße',
          plain_body: 'Hi ✉',
          html_body: '<p>Hi</p>',
        },
        'Grüße',
      ),
    ]);
    expect(frames[0]?.message.thread_id).toBe(arrived?.threadId);
    expectSameThread(frames);
  });

  everywhere(
    'of a send is sent as sent, received and bounced',
    { behaviours: { 'sending.bounce.report': 'none' } },
    async (service) => {
      service.mailbox.clock.freeze(NOON);
      const inboxClients = openInboxClients(service);
      await using client = await listen(service, KEYS.acme.tenant);
      const to = ['billing@acme.test', 'bounce@simulator.test'];
      const sent = await inboxClients.helpdesk.mail(to);
      const frames = await client.news();
      const mail = { from: 'helpdesk@acme.test', to, subject: 'Hello', plain_body: 'Hello!' };
      const from = expect.stringContaining('helpdesk@acme.test');
      expect(frames).toEqual([
        event('message.sent', { ...mail, from, inbox_id: helpdesk, thread_id: sent.threadId }, 'Hello'),
        event('message.received', { ...mail, from, inbox_id: billing }, 'Hello'),
        event('message.bounced', { ...mail, from, inbox_id: helpdesk, thread_id: sent.threadId }, 'Hello'),
      ]);
      expect(new Set(frames.map(({ event_id }) => event_id)).size).toBe(3);
      expectSameThread(frames);
    },
  );

  everywhere('of a reply has the subject of its thread', async (service) => {
    const inboxClients = openInboxClients(service);
    const first = (await inboxClients.helpdesk.call('GET', `/messages/${acme.messages.cannotLogIn}`)).json;
    await using client = await listen(service, KEYS.acme.inboxes.helpdesk);
    await inboxClients.helpdesk.call('POST', `/reply/${acme.messages.thanks}`, { plainBody: 'Welcome' });
    const [frame] = await client.news();
    expect(frame).toMatchObject({
      event_type: 'message.sent',
      message: { thread_id: acme.threads.login, subject: `Re: ${first.subject}` },
      thread: { thread_id: acme.threads.login, subject: first.subject },
    });
  });

  everywhere('is sent for a draft that is sent, and for a forward, too', async (service) => {
    const inboxClients = openInboxClients(service);
    await using client = await listen(service, KEYS.acme.workspaces.support);
    await inboxClients.helpdesk.call('POST', `/drafts/${acme.drafts.helpdesk}/send`);
    await inboxClients.billing.call('POST', `/forward/${acme.messages.invoice}`, { to: 'dana@customer.test' });
    expect(inboxesOf(await client.news())).toEqual([helpdesk, billing]);
  });

  everywhere('has the same id as the delivery to a webhook', async (service) => {
    const { mailbox } = service;
    mailbox.clock.freeze(NOON);
    await using client = await listen(service, KEYS.acme.tenant);
    const json = { url: 'https://agent.example/hook', events: ['message.received'] };
    await service.send('POST', '/v1/webhooks', { key: KEYS.acme.tenant, json });
    mailbox.trigger('message.received', { inboxId: helpdesk, id: 'evt_mine' });
    expect((await client.news()).map(({ event_id }) => event_id)).toEqual(['evt_mine']);
    expect(mailbox.deliveries().map(({ eventId }) => eventId)).toContain('evt_mine');
  });

  everywhere('that is fired for one webhook is not sent to streams', async (service) => {
    const { mailbox } = service;
    await using client = await listen(service, KEYS.acme.tenant);
    mailbox.trigger('message.received', { webhookId: acme.webhooks.everything });
    mailbox.trigger('message.sent', { tenant: acme.tenant });
    expect((await client.news()).map(({ event_type }) => event_type)).toEqual(['message.sent']);
  });

  everywhere('that is fired by hand has the given fields', async (service) => {
    await using client = await listen(service, KEYS.acme.tenant);
    const said = { from: 'Ada <ada@customer.test>', to: ['a@acme.test', 'b@acme.test'], subject: 'By hand' };
    service.mailbox.trigger('message.received', { inboxId: billing, ...said, threadId: 'thread-1' });
    expect(await client.news()).toMatchObject([
      { message: { inbox_id: billing, thread_id: 'thread-1', ...said }, thread: { thread_id: 'thread-1' } },
    ]);
  });

  everywhere('from before a stream is not sent later', async (service) => {
    fireEverywhere(service);
    await using client = await open(service, KEYS.acme.tenant);
    await client.next();
    expect(await receivedInboxes(service, client)).toEqual([]);
    await client.subscribe();
    expect(await client.news()).toEqual([]);
    expect(await receivedInboxes(service, client)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('is sent to each client that has it in scope, and to no other', async (service) => {
    const keys = [
      ...Object.values(REACHES).map(([key, inboxes]) => [key, inboxes] as const),
      [KEYS.globex.tenant, [globex.inboxes.info]] as const,
      [KEYS.globex.inboxes.info, [globex.inboxes.info]] as const,
    ];
    const clients = await Promise.all(
      [...keys, ...keys].map(async ([key, inboxes]) => ({ client: await listen(service, key), inboxes })),
    );
    fireEverywhere(service);
    for (const { client, inboxes } of clients) expect(inboxesOf(await client.news())).toEqual(inboxes);
    for (const { client } of clients) client.close();
  });

  everywhere('is sent in the order in which it happened, among hundreds of events', async (service) => {
    await using client = await listen(service, KEYS.acme.tenant);
    const subjects = Array.from({ length: 300 }, (_, index) => `Mail ${index}`);
    for (const subject of subjects) service.mailbox.trigger('message.received', { inboxId: helpdesk, subject });
    expect((await client.news()).map(({ message }) => message.subject)).toEqual(subjects);
  });
});

const WRONG: Record<string, [sent: unknown, said: string]> = {
  'no JSON': ['subscribe', 'The frame is not valid'],
  'half of JSON': ['{"type":"subscribe"', 'The frame is not valid'],
  'an empty text': ['', 'The frame is not valid'],
  bytes: [new TextEncoder().encode('{"type":"subscribe"}'), 'The frame is not valid'],
  'an array': [[{ type: 'subscribe' }], 'The frame is not valid'],
  null: ['null', 'The frame is not valid'],
  'a number': ['1', 'The frame is not valid'],
  'no type': [{ inbox_ids: [] }, 'type must be subscribe or pong'],
  'a type that is none': [{ type: 'unsubscribe' }, 'type must be subscribe or pong'],
  'a type that is no text': [{ type: { subscribe: true } }, 'type must be subscribe or pong'],
  'a type of Object': [{ type: 'constructor' }, 'type must be subscribe or pong'],
  'kinds that are no list': [{ type: 'subscribe', event_types: 'message.sent' }, 'must be an array of event kinds'],
  'a kind that is none': [
    { type: 'subscribe', event_types: ['message.opened'] },
    'must be one of message.received, message.sent, message.bounced',
  ],
  'ids that are no list': [{ type: 'subscribe', inbox_ids: helpdesk }, 'inbox_ids must be an array of ids'],
  'ids that are null': [{ type: 'subscribe', workspace_ids: null }, 'workspace_ids must be an array of ids'],
  'an id that is a number': [{ type: 'subscribe', pod_ids: [7] }, 'must be an id'],
  'too many ids': [{ type: 'subscribe', inbox_ids: Array(1001).fill(helpdesk) }, 'must be at most 1000 ids'],
};

describe('a frame that is not valid', () => {
  everywhere('is answered with an error, and the stream stays open and unchanged', async (service) => {
    await using client = await listen(service, KEYS.acme.tenant, { inbox_ids: [billing] });
    for (const [sent, said] of Object.values(WRONG)) {
      client.send(sent);
      expect(await client.next()).toEqual({ type: 'error', message: expect.stringContaining(said) });
    }
    expect(await receivedInboxes(service, client)).toEqual([billing]);
  });

  everywhere('does not include a pong, which is not answered', async (service) => {
    await using client = await listen(service, KEYS.acme.tenant);
    client.send({ type: 'pong' });
    client.send({ type: 'pong', at: NOON });
    expect(await client.news()).toEqual([]);
  });
});
