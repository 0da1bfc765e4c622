import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { CLOSE_CODES, MAX_BUFFERED_BYTES, MAX_FRAME_BYTES } from '../../../src/contract/stream-protocol.ts';
import { isInProcess } from '../../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { within } from '../../support/raw-http.ts';
import { provideWebSocket } from '../../support/stream-client.ts';
import {
  aliasOf,
  fireEverywhere,
  inboxesBy,
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

const { acme, globex } = IDS;
const { helpdesk, billing, outreach } = acme.inboxes;
const { support, sales } = acme.workspaces;

const ACME = { tenant: acme.tenant };
const PING = { type: 'ping' };

describe('a ping', () => {
  everywhere('is sent every 30 seconds in the time of the tenant', async (service) => {
    const { clock } = service.mailbox;
    clock.freeze(NOON);
    await using client = await listen(service, KEYS.acme.tenant);
    await clock.advance(29_999, ACME);
    expect(await client.news()).toEqual([]);
    await clock.advance(1, ACME);
    expect(await client.news()).toEqual([PING]);
    await clock.advance('60s', ACME);
    expect(await client.news()).toEqual([PING, PING]);
    await clock.advance('5m', { tenant: globex.tenant });
    expect(await client.news()).toEqual([]);
  });

  everywhere('is sent before the first subscription, and while time runs', async (service) => {
    await using client = await open(service, KEYS.globex.inboxes.info);
    await client.next();
    await service.mailbox.clock.advance('31s');
    expect(await client.next()).toEqual(PING);
  });

  everywhere('is timed from the start of its stream', async (service) => {
    const { clock } = service.mailbox;
    clock.freeze(NOON);
    await using first = await listen(service, KEYS.acme.tenant);
    await clock.advance('20s');
    await using second = await listen(service, KEYS.acme.tenant);
    await clock.advance('10s');
    expect([await first.news(), await second.news()]).toEqual([[PING], []]);
    await clock.advance('20s');
    expect([await first.news(), await second.news()]).toEqual([[], [PING]]);
  });

  everywhere('is sent in order with events', async (service) => {
    const { clock, trigger } = service.mailbox;
    clock.freeze(NOON);
    await using client = await listen(service, KEYS.acme.tenant);
    trigger('message.received', { inboxId: helpdesk });
    await clock.advance('30s');
    trigger('message.received', { inboxId: helpdesk });
    expect((await client.news()).map(({ type }) => type)).toEqual(['event', 'ping', 'event']);
  });

  everywhere('is sent once if time is frozen far ahead', async (service) => {
    const { clock } = service.mailbox;
    clock.freeze(NOON);
    await using client = await listen(service, KEYS.acme.tenant);
    clock.freeze('2027-03-01T12:00:00Z');
    await clock.advance(0);
    expect(await client.news()).toEqual([PING]);
    await clock.advance('30s');
    expect(await client.news()).toEqual([PING]);
  });
});

/** Ends something of Acme; `ended` names whose streams end with it. */
const ENDINGS: Record<string, { end: (service: Service) => Promise<unknown> | unknown; ended: readonly string[] }> = {
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
    everywhere(`${title}, and other streams stay`, async (service) => {
      const keys = [...Object.values(REACHES).map(([key]) => key), KEYS.globex.tenant];
      const clients = await Promise.all(
        [...keys, ...keys].map(async (key) => ({ key, client: await listen(service, key) })),
      );
      await end(service);
      for (const { key, client } of clients) {
        const isEnded = ended.includes(key);
        if (isEnded) expect(await client.closed).toMatchObject({ code: 4401, reason: expect.stringContaining('key') });
        else expect(await client.news()).toEqual([]);
      }
      const there = fireEverywhere(service);
      for (const { key, client } of clients) {
        const inReach = there.filter((inboxId) => inboxesBy(key).includes(inboxId));
        if (ended.includes(key)) expect(client.frames.map(({ type }) => type)).toEqual(['connected', 'subscribed']);
        else expect(inboxesOf(await client.news())).toEqual(inReach);
        client.close();
      }
    });
  }

  everywhere('the end of its key, even if it was opened by the alias', async (service) => {
    await using client = await open(service, KEYS.acme.workspaces.sales, aliasOf(outreach));
    await client.next('subscribed');
    await service.send('DELETE', `/v1/workspaces/${sales}/keys/${acme.keys.sales}`, { key: KEYS.acme.tenant });
    expect((await client.closed).code).toBe(4401);
    expect(await refusal(service, `?api_key=${KEYS.acme.workspaces.sales}`)).toBe(401);
  });

  everywhere('a reset, after which its key opens a new stream', async (service) => {
    const { mailbox } = service;
    mailbox.clock.freeze(NOON);
    await using before = await listen(service, KEYS.acme.tenant);
    mailbox.reset();
    await before.closed;
    await using after = await listen(service, KEYS.acme.tenant);
    await mailbox.clock.advance('31s');
    expect(await after.next()).toEqual(PING);
    expect(await receivedInboxes(service, after)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('a reset, during which its client may reconnect', async (service) => {
    const url = `${service.url.replace(/^http/, 'ws')}/v1/ws?api_key=${KEYS.acme.tenant}`;
    const first = new WebSocket(url);
    await within(new Promise((resolve) => first.addEventListener('message', resolve)));
    const back = new Promise<string>((resolve) => {
      first.addEventListener('close', () => {
        const again = new WebSocket(url);
        again.addEventListener('message', ({ data }) => resolve(String(data)));
        again.addEventListener('close', ({ code }) => resolve(`closed ${code}`));
      });
    });
    service.mailbox.reset();
    expect(await within(back)).toBe(JSON.stringify({ type: 'connected', inboxId: null, email: null }));
  });

  everywhere('a frame that is too large', async (service) => {
    await using other = await listen(service, KEYS.acme.tenant);
    await using client = await listen(service, KEYS.acme.tenant);
    client.send(JSON.stringify({ type: 'pong' }).padEnd(MAX_FRAME_BYTES));
    expect(await client.news()).toEqual([]);
    client.send(JSON.stringify({ type: 'pong' }).padEnd(MAX_FRAME_BYTES + 1));
    expect((await client.closed).code).toBe(isInProcess(service) ? CLOSE_CODES.tooLarge : 1009);
    expect(await receivedInboxes(service, other)).toEqual([helpdesk, billing, outreach]);
  });

  everywhere('the rotation of its key, and the new key opens a new stream', async (service) => {
    await using before = await listen(service, KEYS.acme.inboxes.helpdesk);
    const { json } = await service.send('POST', `/v1/inboxes/${helpdesk}/keys`, { key: KEYS.acme.tenant });
    await before.closed;
    await using after = await listen(service, json.key);
    expect(await receivedInboxes(service, after)).toEqual([helpdesk]);
  });

  everywhere('its client, without an effect on other streams', async (service) => {
    await using other = await listen(service, KEYS.acme.tenant);
    await using client = await listen(service, KEYS.acme.tenant);
    client.close(1000);
    expect((await client.closed).code).toBe(1000);
    expect(await receivedInboxes(service, other)).toEqual([helpdesk, billing, outreach]);
    expect(client.frames).toHaveLength(2);
  });
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
  test('receives the same bytes of an event as every other connection', async ({ expect }) => {
    const mailbox = createMailbox();
    const sent: Uint8Array[] = [];
    const request = { url: 'http://localhost/v1/ws', headers: new Headers({ 'X-API-Key': KEYS.acme.tenant }) };
    for (let count = 0; count < 3; count += 1) {
      const send = (text: string, toBytes: () => Uint8Array) => {
        if (JSON.parse(text).type === 'event') sent.push(toBytes());
      };
      mailbox
        .stream(request)({ send, close() {}, bufferedBytes: 0 })
        .receive('{"type":"subscribe"}');
    }
    mailbox.trigger('message.received', { inboxId: helpdesk, data: { subject: 'Grüße' } });
    const [first, ...others] = sent;
    expect(JSON.parse(new TextDecoder().decode(first))).toMatchObject({
      type: 'event',
      message: { inbox_id: helpdesk },
    });
    expect([others.length, others.every((bytes) => bytes === first)]).toEqual([2, true]);
  });

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

  test('whose buffer is full is closed once, and receives no more', async ({ expect }) => {
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

  test('that throws does not affect other connections', ({ expect }) => {
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

  test('whose key is revoked between admission and opening is closed', ({ expect }) => {
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
