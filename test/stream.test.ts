import { BEHAVIOURS, type BehaviourId, type BehaviourOptions, createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { getResponse, type WebSocketHandler } from 'msw';
import { describe, expect, test } from 'vitest';
import { CLOSE_CODES, MAX_BUFFERED_BYTES, MAX_FRAME_BYTES } from '../src/contract/stream.ts';
import { ADDRESS, openDesks } from './support/desk.ts';
import { everywhere, interceptRequests, type World } from './support/everywhere.ts';
import { IDS } from './support/ids.ts';
import { within } from './support/raw-http.ts';
import {
  beginPageStream,
  type Frame,
  openSocket,
  provideWebSocket,
  refusalOf,
  type StreamClient,
} from './support/stream-client.ts';

provideWebSocket();
interceptRequests();

const { acme, globex, nobody } = IDS;
const KEYS = createMailbox().keys;
const { helpdesk, billing, outreach } = acme.inboxes;
const { support, sales } = acme.workspaces;
const ALL_KINDS = ['message.received', 'message.sent', 'message.bounced'];
const NOON = '2026-03-01T12:00:00.000Z';
const EVENT_ID = expect.stringMatching(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

const aliasOf = (inboxId: string) => `/v1/inboxes/${inboxId}/ws`;
const isInProcess = ({ url, mailbox }: World) => url === mailbox.baseUrl;

/** Opens a stream as clients do: in process by the global `WebSocket`, over HTTP by `ws` with the key in a header. */
async function open(world: World, key: string, path = '/v1/ws'): Promise<StreamClient> {
  if (isInProcess(world)) return beginPageStream(`${world.url}${path}?api_key=${key}`);
  return openSocket(world.url + path, { 'X-API-Key': key });
}

/** Opens a stream and says what it is to hear of. */
async function listen(world: World, key: string, wanted: Frame = {}): Promise<StreamClient> {
  const client = await open(world, key);
  await client.next('connected');
  await client.subscribe(wanted);
  return client;
}

/** The kind of error with which a stream is refused: the body over HTTP, the close code in process. */
async function refusal(world: World, query: string, path = '/v1/ws'): Promise<number> {
  const url = `${world.url}${path}${query}`;
  if (!isInProcess(world)) return (await refusalOf(openSocket(url))).status;
  const client = beginPageStream(url);
  const { code } = await client.closed;
  expect(client.frames).toEqual([]);
  return code - 4000;
}

/** The inboxes of both tenants. */
const PLACES: readonly string[] = [helpdesk, billing, outreach, globex.inboxes.info];
/** Lets something happen in each inbox that is there, in this order. */
function happenEverywhere({ mailbox }: World): string[] {
  const addresses = [ADDRESS.helpdesk, ADDRESS.billing, ADDRESS.outreach, ADDRESS.info];
  const there = PLACES.filter((_, index) => mailbox.receives(addresses[index] ?? ''));
  for (const inboxId of there) mailbox.trigger('message.received', { inboxId });
  return there;
}

const inboxesOf = (frames: readonly Frame[]) => frames.map(({ message }) => message.inbox_id);

/** What a client hears, once something has happened everywhere. */
async function hears(world: World, client: StreamClient): Promise<string[]> {
  await client.news();
  happenEverywhere(world);
  return inboxesOf(await client.news());
}

describe('the first frame', () => {
  everywhere('names the inbox that the key is of, and none for a wider key', async (world) => {
    const first = async (key: string) => {
      await using client = await open(world, key);
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

  everywhere('has the address that is primary now', async (world) => {
    const email = 'new-primary@acme.test';
    await world.send('POST', `/v1/inboxes/${helpdesk}/addresses`, { key: KEYS.acme.tenant, json: { email } });
    await using client = await open(world, KEYS.acme.inboxes.helpdesk);
    expect(await client.next()).toEqual({ type: 'connected', inboxId: helpdesk, email });
  });

  everywhere('of the alias names its inbox, and the stream subscribes by itself', async (world) => {
    const { tenant, workspaces, inboxes } = KEYS.acme;
    for (const key of [tenant, workspaces.support, inboxes.helpdesk]) {
      await using client = await open(world, key, aliasOf(helpdesk));
      expect(await client.next()).toEqual({ type: 'connected', inboxId: helpdesk, email: 'helpdesk@acme.test' });
      expect(await client.next()).toEqual({
        type: 'subscribed',
        event_types: ALL_KINDS,
        inbox_ids: [helpdesk],
        workspace_ids: [],
      });
      expect(await hears(world, client)).toEqual([helpdesk]);
    }
  });

  everywhere('of the alias takes an id in capitals, and can be subscribed to more', async (world) => {
    await using client = await open(world, KEYS.acme.tenant, aliasOf(helpdesk.toUpperCase()));
    expect(await client.next()).toMatchObject({ inboxId: helpdesk });
    expect(await client.next()).toMatchObject({ inbox_ids: [helpdesk] });
    expect(await client.subscribe()).toMatchObject({ type: 'subscribed', inbox_ids: [] });
    expect(await hears(world, client)).toEqual([helpdesk, billing, outreach]);
  });
});

describe('a subscription', () => {
  everywhere('to nothing in particular is to everything in scope', async (world) => {
    await using client = await open(world, KEYS.acme.tenant);
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
    expect(await hears(world, client)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('names kinds', async (world) => {
    await using client = await listen(world, KEYS.acme.tenant, { event_types: ['message.sent', 'message.bounced'] });
    for (const kind of ['message.received', 'message.bounced', 'message.sent'] as const) {
      world.mailbox.trigger(kind, { inboxId: helpdesk });
    }
    expect((await client.news()).map(({ event_type }) => event_type)).toEqual(['message.bounced', 'message.sent']);
  });

  everywhere('names inboxes, workspaces, or both, which adds them up', async (world) => {
    await using client = await open(world, KEYS.acme.tenant);
    await client.next();
    expect(await client.subscribe({ inbox_ids: [billing] })).toMatchObject({ inbox_ids: [billing], workspace_ids: [] });
    expect(await hears(world, client)).toEqual([billing]);
    await client.subscribe({ workspace_ids: [support] });
    expect(await hears(world, client)).toEqual([helpdesk, billing]);
    expect(await client.subscribe({ inbox_ids: [billing], workspace_ids: [sales] })).toMatchObject({
      inbox_ids: [billing],
      workspace_ids: [sales],
    });
    expect(await hears(world, client)).toEqual([billing, outreach]);
  });

  everywhere('takes pod_ids for workspace_ids, and ids in capitals', async (world) => {
    await using client = await open(world, KEYS.acme.tenant);
    await client.next();
    const wanted = { pod_ids: [sales.toUpperCase()], workspace_ids: [sales], inbox_ids: [billing.toUpperCase()] };
    expect(await client.subscribe(wanted)).toEqual({
      type: 'subscribed',
      event_types: ALL_KINDS,
      inbox_ids: [billing],
      workspace_ids: [sales],
    });
    expect(await hears(world, client)).toEqual([billing, outreach]);
    await client.subscribe({ pod_ids: [sales] });
    expect(await hears(world, client)).toEqual([outreach]);
  });

  everywhere('takes the place of the one before', async (world) => {
    await using client = await listen(world, KEYS.acme.tenant, {
      inbox_ids: [helpdesk],
      event_types: ['message.sent'],
    });
    await client.subscribe({ inbox_ids: [billing] });
    expect(await hears(world, client)).toEqual([billing]);
  });

  everywhere('may have more in it than we know', async (world) => {
    await using client = await open(world, KEYS.acme.tenant);
    await client.next();
    expect(await client.subscribe({ since: NOON, organization_ids: [nobody] })).toMatchObject({ type: 'subscribed' });
  });
});

type Reach = readonly [key: string, inboxes: readonly string[], workspaces: readonly string[]];

/** What each key of Acme reaches; it reaches nothing else. */
const REACHES: Record<string, Reach> = {
  'a tenant key': [KEYS.acme.tenant, [helpdesk, billing, outreach], [support, sales]],
  'the key of support': [KEYS.acme.workspaces.support, [helpdesk, billing], [support]],
  'the key of sales': [KEYS.acme.workspaces.sales, [outreach], [sales]],
  'the key of helpdesk': [KEYS.acme.inboxes.helpdesk, [helpdesk], []],
  'the key of outreach': [KEYS.acme.inboxes.outreach, [outreach], []],
};

const inboxesBy = (wanted: string) =>
  Object.values(REACHES).find(([key]) => key === wanted)?.[1] ?? [globex.inboxes.info];

const INBOXES = [...PLACES, nobody, support, '', 'x', '__proto__'];
const WORKSPACES = [support, sales, globex.workspaces.main, nobody, helpdesk, '', '__proto__'];

describe('the scope of', () => {
  for (const [title, [key, inboxes, workspaces]] of Object.entries(REACHES)) {
    everywhere(`${title} is what a stream hears of when it names nothing`, async (world) => {
      await using client = await listen(world, key);
      expect(await hears(world, client)).toEqual(inboxes);
    });

    everywhere(`${title} bounds what it can subscribe to, and the rest is an error`, async (world) => {
      await using client = await listen(world, key);
      const tries = [
        ...INBOXES.map((id) => ({ id, isThere: inboxes.includes(id), wanted: { inbox_ids: [id] } })),
        ...WORKSPACES.map((id) => ({ id, isThere: workspaces.includes(id), wanted: { workspace_ids: [id] } })),
        ...WORKSPACES.map((id) => ({ id, isThere: workspaces.includes(id), wanted: { pod_ids: [id] } })),
      ];
      for (const { id, isThere, wanted } of tries) {
        const answer = await client.subscribe(wanted);
        const refused = { type: 'error', message: expect.stringContaining(`${id}; the subscription is as before.`) };
        expect(answer).toEqual(isThere ? expect.objectContaining({ type: 'subscribed' }) : refused);
        const heard = await hears(world, client);
        expect(heard.filter((inbox) => !inboxes.includes(inbox))).toEqual([]);
      }
    });

    everywhere(`${title} bounds the alias`, async (world) => {
      for (const id of INBOXES) {
        if (inboxes.includes(id)) await (await open(world, key, aliasOf(id))).next('subscribed');
        else if (id !== '') expect(await refusal(world, `?api_key=${key}`, aliasOf(id))).toBe(404);
      }
    });
  }

  everywhere('a subscription that is out of scope in part is refused, and the one before stays', async (world) => {
    await using client = await listen(world, KEYS.acme.workspaces.support, { inbox_ids: [billing] });
    expect(await client.subscribe({ inbox_ids: [helpdesk, outreach] })).toEqual({
      type: 'error',
      message: `This key reaches no inbox ${outreach}; the subscription is as before.`,
    });
    expect(await client.subscribe({ inbox_ids: [helpdesk], workspace_ids: [sales] })).toMatchObject({ type: 'error' });
    expect(await hears(world, client)).toEqual([billing]);
  });

  everywhere('a refused first subscription is none', async (world) => {
    await using client = await open(world, KEYS.acme.tenant);
    await client.next();
    expect(await client.subscribe({ inbox_ids: [globex.inboxes.info] })).toMatchObject({ type: 'error' });
    expect(await hears(world, client)).toEqual([]);
  });

  everywhere('a deleted inbox is over: it is told of no more and cannot be named', async (world) => {
    const key = KEYS.acme.tenant;
    await using client = await listen(world, key, { inbox_ids: [outreach, billing] });
    await world.send('DELETE', `/v1/inboxes/${outreach}`, { key });
    await world.mailbox.receiveMessage({ from: 'dana@customer.test', to: 'billing@acme.test', subject: 'Still here' });
    expect(inboxesOf(await client.news())).toEqual([billing]);
    expect(await client.subscribe({ inbox_ids: [outreach] })).toMatchObject({ type: 'error' });
    expect(await refusal(world, `?api_key=${key}`, aliasOf(outreach))).toBe(404);
  });

  everywhere('what comes later is in scope too', async (world) => {
    const { tenant, workspaces } = KEYS.acme;
    await using whole = await listen(world, tenant);
    await using inSales = await listen(world, workspaces.sales);
    await using inSupport = await listen(world, workspaces.support, { workspace_ids: [support] });
    const { json } = await world.send('POST', '/v1/inboxes', { key: workspaces.sales, json: { username: 'scout' } });
    world.mailbox.trigger('message.received', { inboxId: json.id });
    expect(inboxesOf(await whole.news())).toEqual([json.id]);
    expect(inboxesOf(await inSales.news())).toEqual([json.id]);
    expect(await inSupport.news()).toEqual([]);
  });
});

const event = (kind: string, message: object, subject: string) => ({
  type: 'event',
  event_type: kind,
  event_id: EVENT_ID,
  message: { thread_id: expect.any(String), plain_body: null, html_body: null, timestamp: NOON, ...message },
  thread: { thread_id: expect.any(String), subject },
});

function expectSameThread(frames: readonly Frame[]): void {
  for (const { message, thread } of frames) expect(thread.thread_id).toBe(message.thread_id);
}

describe('an event', () => {
  everywhere('of mail from outside is told in full', async (world) => {
    const { mailbox } = world;
    mailbox.clock.freeze(NOON);
    await using client = await listen(world, KEYS.acme.inboxes.helpdesk);
    const [arrived] = await mailbox.receiveMessage({
      from: 'Dana Réyes ✉ <dana@customer.test>',
      to: ['helpdesk@acme.test', 'Ann <ann@elsewhere.test>'].slice(0, 1),
      subject: 'Grüße',
      text: 'Hi ✉',
      html: '<p>Hi</p>',
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

  everywhere('of a send is told as sent, as received and as bounced', async (world) => {
    world.mailbox.clock.freeze(NOON);
    const desks = openDesks(world);
    await using client = await listen(world, KEYS.acme.tenant);
    const to = ['billing@acme.test', 'bounce@simulator.test'];
    const sent = await desks.helpdesk.mail(to);
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
  });

  everywhere('of a reply has the subject of its thread', async (world) => {
    const desks = openDesks(world);
    const first = (await desks.helpdesk.call('GET', `/messages/${acme.messages.cannotLogIn}`)).json;
    await using client = await listen(world, KEYS.acme.inboxes.helpdesk);
    await desks.helpdesk.call('POST', `/reply/${acme.messages.thanks}`, { plainBody: 'Welcome' });
    const [frame] = await client.news();
    expect(frame).toMatchObject({
      event_type: 'message.sent',
      message: { thread_id: acme.threads.login, subject: `Re: ${first.subject}` },
      thread: { thread_id: acme.threads.login, subject: first.subject },
    });
  });

  everywhere('of a draft that is sent, and of a forward, is told too', async (world) => {
    const desks = openDesks(world);
    await using client = await listen(world, KEYS.acme.workspaces.support);
    await desks.helpdesk.call('POST', `/drafts/${acme.drafts.helpdesk}/send`);
    await desks.billing.call('POST', `/forward/${acme.messages.invoice}`, { to: 'dana@customer.test' });
    expect(inboxesOf(await client.news())).toEqual([helpdesk, billing]);
  });

  everywhere('has the id that a webhook is told', async (world) => {
    const { mailbox } = world;
    mailbox.clock.freeze(NOON);
    await using client = await listen(world, KEYS.acme.tenant);
    const json = { url: 'https://agent.example/hook', events: ['message.received'] };
    await world.send('POST', '/v1/webhooks', { key: KEYS.acme.tenant, json });
    mailbox.trigger('message.received', { inboxId: helpdesk, id: 'evt_mine' });
    expect((await client.news()).map(({ event_id }) => event_id)).toEqual(['evt_mine']);
    expect(mailbox.deliveries().map(({ eventId }) => eventId)).toContain('evt_mine');
  });

  everywhere('that is fired for one webhook is for that alone', async (world) => {
    const { mailbox } = world;
    await using client = await listen(world, KEYS.acme.tenant);
    mailbox.trigger('message.received', { webhookId: acme.webhooks.everything });
    mailbox.trigger('message.sent', { tenant: acme.tenant });
    expect((await client.news()).map(({ event_type }) => event_type)).toEqual(['message.sent']);
  });

  everywhere('that is fired by hand is told with what it says', async (world) => {
    await using client = await listen(world, KEYS.acme.tenant);
    const said = { from: 'Ada <ada@customer.test>', to: ['a@acme.test', 'b@acme.test'], subject: 'By hand' };
    world.mailbox.trigger('message.received', { inboxId: billing, ...said, threadId: 'thread-1' });
    expect(await client.news()).toMatchObject([
      { message: { inbox_id: billing, thread_id: 'thread-1', ...said }, thread: { thread_id: 'thread-1' } },
    ]);
  });

  everywhere('from before is not told later', async (world) => {
    happenEverywhere(world);
    await using client = await open(world, KEYS.acme.tenant);
    await client.next();
    expect(await hears(world, client)).toEqual([]);
    await client.subscribe();
    expect(await client.news()).toEqual([]);
    expect(await hears(world, client)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('is told to each of many clients, and to each only what is theirs', async (world) => {
    const keys = [
      ...Object.values(REACHES).map(([key, inboxes]) => [key, inboxes] as const),
      [KEYS.globex.tenant, [globex.inboxes.info]] as const,
      [KEYS.globex.inboxes.info, [globex.inboxes.info]] as const,
    ];
    const clients = await Promise.all(
      [...keys, ...keys].map(async ([key, inboxes]) => ({ client: await listen(world, key), inboxes })),
    );
    happenEverywhere(world);
    for (const { client, inboxes } of clients) expect(inboxesOf(await client.news())).toEqual(inboxes);
    for (const { client } of clients) client.close();
  });

  everywhere('is told in the order in which it happened, however many there are', async (world) => {
    await using client = await listen(world, KEYS.acme.tenant);
    const subjects = Array.from({ length: 300 }, (_, index) => `Mail ${index}`);
    for (const subject of subjects) world.mailbox.trigger('message.received', { inboxId: helpdesk, subject });
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
  'no type': [{ inbox_ids: [] }, 'must have the type subscribe or pong'],
  'a type that is none': [{ type: 'unsubscribe' }, 'must have the type subscribe or pong'],
  'a type that is no text': [{ type: { subscribe: true } }, 'must have the type subscribe or pong'],
  'a type of Object': [{ type: 'constructor' }, 'must have the type subscribe or pong'],
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
  everywhere('is answered with an error, and the stream lives on as it was', async (world) => {
    await using client = await listen(world, KEYS.acme.tenant, { inbox_ids: [billing] });
    for (const [sent, said] of Object.values(WRONG)) {
      client.send(sent);
      expect(await client.next()).toEqual({ type: 'error', message: expect.stringContaining(said) });
    }
    expect(await hears(world, client)).toEqual([billing]);
  });

  everywhere('is not a pong, which is not answered', async (world) => {
    await using client = await listen(world, KEYS.acme.tenant);
    client.send({ type: 'pong' });
    client.send({ type: 'pong', at: NOON });
    expect(await client.news()).toEqual([]);
  });
});

const ACME = { tenant: acme.tenant };
const PING = { type: 'ping' };

describe('a ping', () => {
  everywhere('is sent every 30 seconds of the time of the tenant', async (world) => {
    const { clock } = world.mailbox;
    clock.freeze(NOON);
    await using client = await listen(world, KEYS.acme.tenant);
    await clock.advance(29_999, ACME);
    expect(await client.news()).toEqual([]);
    await clock.advance(1, ACME);
    expect(await client.news()).toEqual([PING]);
    await clock.advance('60s', ACME);
    expect(await client.news()).toEqual([PING, PING]);
    await clock.advance('5m', { tenant: globex.tenant });
    expect(await client.news()).toEqual([]);
  });

  everywhere('is sent before anything is subscribed to, and while time runs', async (world) => {
    await using client = await open(world, KEYS.globex.inboxes.info);
    await client.next();
    await world.mailbox.clock.advance('31s');
    expect(await client.next()).toEqual(PING);
  });

  everywhere('counts from when its stream began', async (world) => {
    const { clock } = world.mailbox;
    clock.freeze(NOON);
    await using first = await listen(world, KEYS.acme.tenant);
    await clock.advance('20s');
    await using second = await listen(world, KEYS.acme.tenant);
    await clock.advance('10s');
    expect([await first.news(), await second.news()]).toEqual([[PING], []]);
    await clock.advance('20s');
    expect([await first.news(), await second.news()]).toEqual([[], [PING]]);
  });

  everywhere('comes in its turn among events', async (world) => {
    const { clock, trigger } = world.mailbox;
    clock.freeze(NOON);
    await using client = await listen(world, KEYS.acme.tenant);
    trigger('message.received', { inboxId: helpdesk });
    await clock.advance('30s');
    trigger('message.received', { inboxId: helpdesk });
    expect((await client.news()).map(({ type }) => type)).toEqual(['event', 'ping', 'event']);
  });

  everywhere('is sent once where time is frozen far ahead', async (world) => {
    const { clock } = world.mailbox;
    clock.freeze(NOON);
    await using client = await listen(world, KEYS.acme.tenant);
    clock.freeze('2027-03-01T12:00:00Z');
    await clock.advance(0);
    expect(await client.news()).toEqual([PING]);
    await clock.advance('30s');
    expect(await client.news()).toEqual([PING]);
  });
});

/** Ends something of Acme; `ended` names whose streams end with it. */
const ENDINGS: Record<string, { end: (world: World) => Promise<unknown> | unknown; ended: readonly string[] }> = {
  'a rotated inbox key': {
    end: ({ send }) => send('POST', `/v1/inboxes/${helpdesk}/keys`, { key: KEYS.acme.tenant }),
    ended: [KEYS.acme.inboxes.helpdesk],
  },
  'a deleted workspace key': {
    end: ({ send }) => send('DELETE', `/v1/workspaces/${support}/keys/${acme.keys.support}`, { key: KEYS.acme.tenant }),
    ended: [KEYS.acme.workspaces.support],
  },
  'a deleted inbox': {
    end: ({ send }) => send('DELETE', `/v1/inboxes/${outreach}`, { key: KEYS.acme.tenant }),
    ended: [KEYS.acme.inboxes.outreach],
  },
  'a deleted workspace': {
    end: ({ send }) => send('DELETE', `/v1/workspaces/${sales}`, { key: KEYS.acme.tenant }),
    ended: [KEYS.acme.workspaces.sales, KEYS.acme.inboxes.outreach],
  },
  'a deleted tenant': {
    end: ({ send }) => send('DELETE', `/v1/tenants/${acme.tenant}`, { key: KEYS.operator }),
    ended: Object.values(REACHES).map(([key]) => key),
  },
  'a reset': {
    end: ({ mailbox }) => mailbox.reset(),
    ended: [...Object.values(REACHES).map(([key]) => key), KEYS.globex.tenant],
  },
};

describe('a stream ends at once with', () => {
  for (const [title, { end, ended }] of Object.entries(ENDINGS)) {
    everywhere(`${title}, and other streams stay`, async (world) => {
      const keys = [...Object.values(REACHES).map(([key]) => key), KEYS.globex.tenant];
      const clients = await Promise.all(
        [...keys, ...keys].map(async (key) => ({ key, client: await listen(world, key) })),
      );
      await end(world);
      for (const { key, client } of clients) {
        const isEnded = ended.includes(key);
        if (isEnded) expect(await client.closed).toMatchObject({ code: 4401, reason: expect.stringContaining('key') });
        else expect(await client.news()).toEqual([]);
      }
      const there = happenEverywhere(world);
      for (const { key, client } of clients) {
        const inReach = there.filter((inboxId) => inboxesBy(key).includes(inboxId));
        if (ended.includes(key)) expect(client.frames.map(({ type }) => type)).toEqual(['connected', 'subscribed']);
        else expect(inboxesOf(await client.news())).toEqual(inReach);
        client.close();
      }
    });
  }

  everywhere('its key, though it was opened by the alias', async (world) => {
    await using client = await open(world, KEYS.acme.workspaces.sales, aliasOf(outreach));
    await client.next('subscribed');
    await world.send('DELETE', `/v1/workspaces/${sales}/keys/${acme.keys.sales}`, { key: KEYS.acme.tenant });
    expect((await client.closed).code).toBe(4401);
    expect(await refusal(world, `?api_key=${KEYS.acme.workspaces.sales}`)).toBe(401);
  });

  everywhere('a reset, after which its key opens another', async (world) => {
    const { mailbox } = world;
    mailbox.clock.freeze(NOON);
    await using before = await listen(world, KEYS.acme.tenant);
    mailbox.reset();
    await before.closed;
    await using after = await listen(world, KEYS.acme.tenant);
    await mailbox.clock.advance('31s');
    expect(await after.next()).toEqual(PING);
    expect(await hears(world, after)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('a reset, and its client may come back in that very moment', async (world) => {
    const url = `${world.url.replace(/^http/, 'ws')}/v1/ws?api_key=${KEYS.acme.tenant}`;
    const first = new WebSocket(url);
    await within(new Promise((resolve) => first.addEventListener('message', resolve)));
    const back = new Promise<string>((resolve) => {
      first.addEventListener('close', () => {
        const again = new WebSocket(url);
        again.addEventListener('message', ({ data }) => resolve(String(data)));
        again.addEventListener('close', ({ code }) => resolve(`closed ${code}`));
      });
    });
    world.mailbox.reset();
    expect(await within(back)).toBe(JSON.stringify({ type: 'connected', inboxId: null, email: null }));
  });

  everywhere('a frame that is too large', async (world) => {
    await using other = await listen(world, KEYS.acme.tenant);
    await using client = await listen(world, KEYS.acme.tenant);
    client.send(JSON.stringify({ type: 'pong' }).padEnd(MAX_FRAME_BYTES));
    expect(await client.news()).toEqual([]);
    client.send(JSON.stringify({ type: 'pong' }).padEnd(MAX_FRAME_BYTES + 1));
    expect((await client.closed).code).toBe(isInProcess(world) ? CLOSE_CODES.tooLarge : 1009);
    expect(await hears(world, other)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('a rotation, and the new key opens another', async (world) => {
    await using before = await listen(world, KEYS.acme.inboxes.helpdesk);
    const { json } = await world.send('POST', `/v1/inboxes/${helpdesk}/keys`, { key: KEYS.acme.tenant });
    await before.closed;
    await using after = await listen(world, json.key);
    expect(await hears(world, after)).toEqual([helpdesk]);
  });

  everywhere('its client, which harms nobody else', async (world) => {
    await using other = await listen(world, KEYS.acme.tenant);
    await using client = await listen(world, KEYS.acme.tenant);
    client.close(1000);
    expect((await client.closed).code).toBe(1000);
    expect(await hears(world, other)).toEqual([helpdesk, billing, outreach]);
    expect(client.frames).toHaveLength(2);
  });
});

type StreamBehaviour = Extract<BehaviourId, `stream.${string}`>;

const CHOICES = (Object.keys(BEHAVIOURS) as BehaviourId[])
  .filter((id): id is StreamBehaviour => id.startsWith('stream.'))
  .filter((id) => Object.keys(BEHAVIOURS[id].choices).length > 1);

/** What shows a choice, and what it shows under each. */
const READINGS: Record<string, { read: (world: World) => Promise<unknown>; values: Record<string, unknown> }> = {
  'stream.key': {
    read: async (world) => {
      const query = `?api_key=${KEYS.acme.tenant}`;
      if (world.mailbox.behaviours['stream.key'] === 'header') return refusal(world, query);
      await using client = isInProcess(world)
        ? beginPageStream(`${world.url}/v1/ws${query}`)
        : await openSocket(`${world.url}/v1/ws${query}`);
      return (await client.next()).type;
    },
    values: { 'header-or-query': 'connected', header: 401 },
  },
  'stream.before-subscribe': {
    read: async (world) => {
      await using client = await open(world, KEYS.acme.workspaces.support);
      await client.next();
      return await hears(world, client);
    },
    values: { nothing: [], everything: [helpdesk, billing] },
  },
  'stream.alias': {
    read: async (world) => {
      await using client = await open(world, KEYS.acme.tenant, aliasOf(outreach));
      await client.next();
      return [...(await client.news()), ...(await hears(world, client))];
    },
    values: {
      subscribed: [{ type: 'subscribed', event_types: ALL_KINDS, inbox_ids: [outreach], workspace_ids: [] }, outreach],
      silent: [outreach],
    },
  },
  'stream.event.message': {
    read: async (world) => {
      await using client = await listen(world, KEYS.acme.tenant);
      world.mailbox.trigger('message.received', { messageId: acme.messages.talk });
      return (await client.next()).message.message_id;
    },
    values: { 'with-id': acme.messages.talk, reference: undefined },
  },
  'stream.ping': {
    read: async (world) => {
      const { clock } = world.mailbox;
      clock.freeze();
      await using client = await listen(world, KEYS.acme.tenant);
      await clock.advance('10m');
      return (await client.news()).length;
    },
    values: { '30s': 20, '5m': 2, never: 0 },
  },
};

describe('a choice of the ledger', () => {
  test('is shown here for each that there is', ({ expect }) => {
    expect(CHOICES.sort()).toEqual(Object.keys(READINGS).sort());
  });

  for (const id of CHOICES) {
    for (const choice of Object.keys(BEHAVIOURS[id].choices)) {
      everywhere(`${id}=${choice} is what a client sees`, { behaviours: { [id]: choice } }, async (world) => {
        expect(await READINGS[id]?.read(world)).toEqual(READINGS[id]?.values[choice]);
      });
    }
  }

  everywhere(
    'auth.wrong-tier=not-found hides streams from the operator',
    { behaviours: { 'auth.wrong-tier': 'not-found' } },
    async (world) => {
      expect(await refusal(world, `?api_key=${KEYS.operator}`)).toBe(404);
      expect(await refusal(world, '?api_key=sa_unknown_operator_key')).toBe(401);
    },
  );

  everywhere(
    'errors.foreign-resource=forbidden tells that the inbox of the alias is elsewhere',
    { behaviours: { 'errors.foreign-resource': 'forbidden' } },
    async (world) => {
      const query = `?api_key=${KEYS.acme.workspaces.sales}`;
      expect(await refusal(world, query, aliasOf(helpdesk))).toBe(403);
      expect(await refusal(world, query, aliasOf(globex.inboxes.info))).toBe(403);
      expect(await refusal(world, query, aliasOf(nobody))).toBe(404);
    },
  );

  const SHAPE: BehaviourOptions = { 'errors.shape': 'error-only' };
  test('shapes the refusal of a stream too', async ({ expect }) => {
    await using server = await startServer({ port: 0, behaviours: SHAPE });
    const { json } = await refusalOf(openSocket(`${server.url}/v1/ws`));
    expect(json).toEqual({ error: expect.any(String) });
  });
});

const UNFIT = ['', '?api_key=', '?api_key=x', '?api_key=tk_short', '?api_key=tk_unknown_tenant_key', '?key=tk_1'];

describe('a key', () => {
  everywhere('that is missing, malformed or unknown opens nothing', async (world) => {
    for (const query of UNFIT) expect([query, await refusal(world, query)]).toEqual([query, 401]);
    for (const query of UNFIT) expect(await refusal(world, query, aliasOf(helpdesk))).toBe(401);
  });

  everywhere('that has ended opens nothing', async (world) => {
    await world.send('POST', `/v1/inboxes/${helpdesk}/keys`, { key: KEYS.acme.tenant });
    expect(await refusal(world, `?api_key=${KEYS.acme.inboxes.helpdesk}`)).toBe(401);
  });

  everywhere('of the operator opens nothing', async (world) => {
    expect(await refusal(world, `?api_key=${KEYS.operator}`)).toBe(403);
    expect(await refusal(world, `?api_key=${KEYS.operator}`, aliasOf(helpdesk))).toBe(403);
  });

  test.for<[title: string, headers: Record<string, string>, query: string, tenantInboxes: readonly string[] | number]>([
    ['X-API-Key', { 'X-API-Key': KEYS.acme.workspaces.sales }, '', [outreach]],
    ['Authorization', { Authorization: `Bearer ${KEYS.acme.workspaces.sales}` }, '', [outreach]],
    ['?api_key=', {}, `?api_key=${KEYS.acme.workspaces.sales}`, [outreach]],
    [
      'X-API-Key before ?api_key=',
      { 'X-API-Key': KEYS.acme.inboxes.billing },
      `?api_key=${KEYS.acme.tenant}`,
      [billing],
    ],
    [
      'Authorization before ?api_key=',
      { Authorization: `bearer ${KEYS.acme.inboxes.billing}` },
      `?api_key=${KEYS.globex.tenant}`,
      [billing],
    ],
    ['a bad header before a good ?api_key=', { 'X-API-Key': 'nonsense' }, `?api_key=${KEYS.acme.tenant}`, 401],
    ['an empty header and a good ?api_key=', { 'X-API-Key': '' }, `?api_key=${KEYS.acme.inboxes.billing}`, [billing]],
    [
      'both headers',
      { 'X-API-Key': KEYS.acme.inboxes.billing, Authorization: `Bearer ${KEYS.acme.tenant}` },
      '',
      [billing],
    ],
  ])('is taken from %s', async ([, headers, query, outcome], { expect }) => {
    await using server = await startServer({ port: 0 });
    const opening = openSocket(`${server.url}/v1/ws${query}`, headers);
    if (typeof outcome === 'number') return expect((await refusalOf(opening)).status).toBe(outcome);
    await using client = await opening;
    await client.subscribe();
    await client.next('subscribed');
    for (const inboxId of PLACES) server.mailbox.trigger('message.received', { inboxId });
    expect(inboxesOf(await client.news())).toEqual(outcome);
  });

  test.for([
    ['authorization', [helpdesk, billing, outreach]],
    ['refuse', 401],
  ] as const)('in both headers counts as auth.both-headers=%s has it', async ([choice, outcome], { expect }) => {
    await using server = await startServer({ port: 0, behaviours: { 'auth.both-headers': choice } });
    const headers = { 'X-API-Key': KEYS.acme.inboxes.billing, Authorization: `Bearer ${KEYS.acme.tenant}` };
    const opening = openSocket(`${server.url}/v1/ws`, headers);
    if (typeof outcome === 'number') return expect((await refusalOf(opening)).status).toBe(outcome);
    await using client = await opening;
    await client.next('connected');
    await client.subscribe();
    for (const inboxId of PLACES) server.mailbox.trigger('message.received', { inboxId });
    expect(inboxesOf(await client.news())).toEqual(outcome);
  });

  test.for([{}, { 'stream.key': 'header' }] as const)(
    'that is refused is told of what a stream takes, under %j',
    async (behaviours, { expect }) => {
      await using server = await startServer({ port: 0, behaviours });
      const basic = { Authorization: 'Basic dGs6' };
      const { json } = await refusalOf(openSocket(`${server.url}/v1/ws?api_key=${KEYS.acme.tenant}x`, basic));
      expect(json.error).not.toContain('for WebSocket connections only');
    },
  );
});

/** A mailbox that is connected to by hand, and what it sends: the side of an adapter. */
function connect(mailbox: Mailbox, key = KEYS.acme.tenant) {
  const sent: string[] = [];
  const closed: number[] = [];
  const connection = {
    bufferedBytes: 0,
    send: (text: string) => void sent.push(text),
    close: (code: number) => void closed.push(code),
  };
  const request = { url: 'http://localhost/v1/ws', headers: new Headers({ 'X-API-Key': key }) };
  return { ...mailbox.stream(request)(connection), connection, sent, closed };
}

describe('a connection', () => {
  test('that has ended is sent nothing more, not even a ping', async ({ expect }) => {
    const mailbox = createMailbox();
    mailbox.clock.freeze();
    const { receive, end, sent, closed } = connect(mailbox);
    receive('{"type":"subscribe"}');
    end();
    const before = sent.length;
    mailbox.trigger('message.received', { inboxId: helpdesk });
    await mailbox.clock.advance('5m');
    mailbox.reset();
    end();
    receive('{"type":"subscribe"}');
    expect([sent.length, closed]).toEqual([before, []]);
  });

  test('that takes no more is closed once, and hears no more', async ({ expect }) => {
    const mailbox = createMailbox();
    mailbox.clock.freeze();
    const slow = connect(mailbox);
    const quick = connect(mailbox);
    for (const { receive } of [slow, quick]) receive('{"type":"subscribe"}');
    slow.connection.bufferedBytes = MAX_BUFFERED_BYTES + 1;
    for (const _ of PLACES) mailbox.trigger('message.received', { inboxId: helpdesk });
    slow.connection.bufferedBytes = 0;
    slow.receive('{"type":"subscribe"}');
    await mailbox.clock.advance('5m');
    expect([slow.sent.length, slow.closed]).toEqual([2, [CLOSE_CODES.tooSlow]]);
    expect([quick.sent.length, quick.closed]).toEqual([2 + PLACES.length + 10, []]);
  });

  test('that throws harms no other', ({ expect }) => {
    const mailbox = createMailbox();
    const broken = connect(mailbox);
    const other = connect(mailbox);
    for (const { receive } of [broken, other]) receive('{"type":"subscribe"}');
    broken.connection.send = () => {
      throw new Error('Gone.');
    };
    mailbox.trigger('message.received', { inboxId: helpdesk });
    expect(other.sent).toHaveLength(3);
    broken.connection.send = (text) => void broken.sent.push(text);
    mailbox.trigger('message.received', { inboxId: helpdesk });
    expect([broken.sent.length, other.sent.length]).toEqual([2, 4]);
  });

  test('whose key ends between admission and opening is closed', ({ expect }) => {
    const mailbox = createMailbox();
    const request = { url: `http://localhost/v1/ws?api_key=${KEYS.acme.tenant}`, headers: new Headers() };
    const accept = mailbox.stream(request);
    mailbox.reset();
    const closed: number[] = [];
    const { receive } = accept({ send: () => {}, close: (code) => void closed.push(code), bufferedBytes: 0 });
    receive('{"type":"subscribe"}');
    expect(closed).toEqual([CLOSE_CODES.unauthorized]);
  });
});

describe('in process', () => {
  test('a stream is at a base URL with a path', ({ expect }) => {
    const mailbox = createMailbox({ baseUrl: 'http://stream.test:8080/deep.er' });
    const path = `/v1/ws?api_key=${KEYS.acme.inboxes.billing}`;
    const sent: string[] = [];
    const accept = mailbox.stream({ url: `ws://stream.test:8080/deep.er${path}`, headers: new Headers() });
    accept({ send: (text) => void sent.push(text), close() {}, bufferedBytes: 0 });
    expect(sent.map((text) => JSON.parse(text).inboxId)).toEqual([billing]);

    const handler = mailbox.handlers.find((each) => 'kind' in each && each.kind === 'websocket') as WebSocketHandler;
    const isServed = (base: string) => handler.test(base + path);
    expect(['ws://stream.test:8080/deep.er', 'http://stream.test:8080/deep.er'].map(isServed)).toEqual([true, true]);
    const elsewhere = ['ws://stream.test:8080', 'ws://stream.test/deep.er', 'ws://stream.test:8080/deepxer', 'wss://x'];
    expect(elsewhere.map(isServed)).toEqual([false, false, false, false]);
  });

  test('the handlers answer requests where msw does not tell them from those of streams', async ({ expect }) => {
    const { handlers, baseUrl, keys } = createMailbox();
    const headers = { 'X-API-Key': keys.acme.tenant };
    const statuses = ['/v1/webhooks', '/v1/ws', '/health'].map(async (path) => {
      const response = await getResponse(handlers as never, new Request(baseUrl + path, { headers }));
      return response?.status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 426, 200]);
  });
});

describe('a request without an upgrade', () => {
  everywhere('is told to come by WebSocket, if it may', async (world) => {
    for (const path of ['/v1/ws', aliasOf(helpdesk)]) {
      const reply = await world.send('GET', path, { key: KEYS.acme.inboxes.helpdesk });
      expect([reply.status, reply.json, reply.headers.get('upgrade')]).toEqual([
        426,
        { error: expect.stringContaining('WebSocket'), code: 'UPGRADE_REQUIRED' },
        'websocket',
      ]);
    }
    const byQuery = await world.send('GET', '/v1/ws', { query: { api_key: KEYS.acme.tenant } });
    expect(byQuery.status).toBe(426);
  });

  everywhere('is refused as a stream is, if it may not', async (world) => {
    const get = async (path: string, key?: string) => {
      const { status, json } = await world.send('GET', path, key === undefined ? {} : { key });
      return [status, json.code];
    };
    expect(await get('/v1/ws')).toEqual([401, 'UNAUTHORIZED']);
    expect(await get('/v1/ws', KEYS.operator)).toEqual([403, 'FORBIDDEN']);
    expect(await get(aliasOf(globex.inboxes.info), KEYS.acme.tenant)).toEqual([404, 'NOT_FOUND']);
  });

  everywhere('names what is assumed in its refusal, as any reply does', async (world) => {
    const { headers } = await world.send('GET', aliasOf(globex.inboxes.info), { key: KEYS.acme.tenant });
    expect(headers.get('x-mock-assumed')).toContain('errors.foreign-resource');
  });

  everywhere('by another method is told of GET', async (world) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']) {
      const { status, headers } = await world.send(method, '/v1/ws', { key: KEYS.acme.tenant });
      expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, OPTIONS']);
    }
    const { status, headers } = await world.send('OPTIONS', '/v1/ws');
    expect([status, headers.get('allow')]).toEqual([204, 'GET, OPTIONS']);
  });

  everywhere('to a path that is no stream is not there', async (world) => {
    for (const path of ['/v1/ws/x', '/v1/ws/', '/v1/wss', '/v1/inboxes/ws', `/v1/inboxes/${helpdesk}/ws/x`]) {
      expect((await world.send('GET', path, { key: KEYS.acme.tenant })).status).toBe(404);
    }
  });
});
