import type { BehaviourId, BehaviourOptions } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { CHANGEABLE_IDS, changeableDefinition } from '../../src/contract/behaviours.ts';
import { everywhere, interceptRequests, type Reply, type Service } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { ADDRESS, type InboxClient, openInboxClients } from '../support/inbox-clients.ts';

interceptRequests();

const { messages: MESSAGES, attachments: ATTACHMENTS, drafts: DRAFTS } = IDS.acme;

type InboxClients = ReturnType<typeof openInboxClients>;

interface Reading {
  readonly call: (inboxClients: InboxClients, service: Service) => Promise<Reply>;
  readonly expected: (reply: Reply, inboxClients: InboxClients) => unknown;
  readonly value: unknown;
}

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

const read: Reading['call'] = ({ helpdesk }) => helpdesk.call('GET', `/messages/${MESSAGES.thanks}`);
const list: Reading['call'] = ({ helpdesk }) => helpdesk.call('GET', '/messages');
const listAll: Reading['call'] = ({ helpdesk }, { send }) => send('GET', '/v1/messages', { key: helpdesk.key });
const readThread: Reading['call'] = ({ helpdesk }) => helpdesk.call('GET', `/threads/${IDS.acme.threads.login}`);
/** The message of a reply, or the first of its messages that came in. */
const firstOf = (json: Reply['json']) =>
  (json.messages ?? [json]).find(({ direction }: { direction: string }) => direction === 'inbound');
const sendTo =
  (to: string): Reading['call'] =>
  ({ helpdesk }) =>
    helpdesk.call('POST', '/send', { to, subject: 'Hi' });
const forward: Reading['call'] = ({ helpdesk }) =>
  helpdesk.call('POST', `/forward/${MESSAGES.cannotLogIn}`, { to: ADDRESS.stranger, plainBody: 'See.' });
const sendDraft: Reading['call'] = async ({ helpdesk }) => {
  const { json } = await helpdesk.call('POST', '/drafts', { bcc: ADDRESS.stranger });
  return helpdesk.call('POST', `/drafts/${json.id}/send`);
};
const replyToAll: Reading['call'] = async ({ helpdesk, info }) => {
  await info.mail([helpdesk.address, ADDRESS.stranger]);
  return helpdesk.call('POST', `/reply-all/${(await helpdesk.latest()).id}`, {});
};
const readRaw: Reading['call'] = async ({ helpdesk }, { mailbox }) => {
  const [arrived] = await mailbox.receiveMessage({ to: helpdesk.address, from: ADDRESS.dana });
  return helpdesk.call('GET', `/messages/${arrived?.id}/raw`);
};
const deleteThenRead: Reading['call'] = async ({ helpdesk }) => {
  await helpdesk.call('DELETE', `/messages/${MESSAGES.thanks}`);
  return helpdesk.call('GET', `/messages/${MESSAGES.thanks}`);
};
const deleteThenChange: Reading['call'] = async ({ helpdesk }) => {
  await helpdesk.call('DELETE', `/messages/${MESSAGES.thanks}`);
  return helpdesk.call('PATCH', `/messages/${MESSAGES.thanks}`, { isRead: true });
};

const status = ({ status }: Reply) => status;
const statusAndCode = ({ status, json }: Reply) => [status, json.code];
const json = ({ json }: Reply) => json;

const sentBody = async ({ json }: Reply, { helpdesk }: { readonly helpdesk: InboxClient }) =>
  (await helpdesk.call('GET', `/messages/${json.id}`)).json.plainBody;

/** Whether the latest mail of an inbox bounced, as its metrics count. */
const bounced = (to: string): Reading => ({
  call: async ({ helpdesk }, { send }) => {
    const reply = await helpdesk.call('POST', '/send', { to, subject: 'Hi', verified: true });
    const { json } = await send('GET', '/v1/metrics', { key: helpdesk.key });
    return { ...reply, json: { bounced: json.counts.bounced } };
  },
  expected: ({ json }) => json.bounced,
  value: 0,
});

const EXAMPLES = 'ada@example.com or Ada <ada@example.com>';

/** Values that are not defaults, and the replies that they lead to. */
const READINGS: [BehaviourOptions, Reading, of?: string][] = [
  [
    { 'messages.shape': 'reference' },
    {
      call: read,
      expected: ({ json }) => ['inboxId', 'cc', 'isStarred', 'isArchived'].filter((field) => field in json),
      value: [],
    },
  ],
  ...Object.entries({ message: read, row: listAll, thread: readThread }).map(
    ([of, call]): [BehaviourOptions, Reading, string] => [
      { 'messages.to': 'array' },
      { call, expected: ({ json }) => firstOf(json).to, value: ['helpdesk@acme.test'] },
      of,
    ],
  ),
  ...Object.entries({ message: read, row: listAll, thread: readThread }).map(
    ([of, call]): [BehaviourOptions, Reading, string] => [
      { 'messages.from': 'bare' },
      { call, expected: ({ json }) => firstOf(json).from, value: 'dana@customer.test' },
      of,
    ],
  ),
  [
    { 'messages.list.order': 'oldest-first' },
    {
      call: list,
      expected: ({ json }) => idsOf(json.messages),
      value: [MESSAGES.cannotLogIn, MESSAGES.linkSent, MESSAGES.thanks],
    },
  ],
  [
    { 'messages.list.over-limit': 'invalid' },
    {
      call: ({ helpdesk }) => helpdesk.call('GET', '/messages?limit=201'),
      expected: ({ status, json }) => [status, json.error],
      value: [400, 'The query is not valid: limit must be a whole number from 1 to 200.'],
    },
  ],
  [
    { 'messages.update.deleted': 'not-found' },
    { call: deleteThenChange, expected: statusAndCode, value: [404, 'NOT_FOUND'] },
  ],
  [
    { 'messages.all.shape': 'messages' },
    {
      call: ({ helpdesk }, { send }) => send('GET', '/v1/messages?group=thread', { key: helpdesk.key }),
      expected: ({ json: { messages } }) => [messages[0].plainBody, messages[0].messageCount, messages[0].snippet],
      value: ['That worked, thank you!', 3, undefined],
    },
  ],
  [
    { 'messages.folders.counts': 'numbers' },
    {
      call: ({ helpdesk }, { send }) => send('GET', '/v1/messages/folders/counts', { key: helpdesk.key }),
      expected: json,
      value: { inbox: { unread: 1, total: 2 }, sent: 1, starred: 0, archived: 0, trash: 0 },
    },
  ],
  [{ 'messages.get.marks-read': 'no' }, { call: read, expected: ({ json }) => json.isRead, value: false }],
  [
    { 'messages.update.reply': 'message' },
    {
      call: ({ helpdesk }) => helpdesk.call('PATCH', `/messages/${MESSAGES.thanks}`, { isStarred: true }),
      expected: ({ json }) => [json.id, json.isStarred],
      value: [MESSAGES.thanks, true],
    },
  ],
  [
    { 'messages.delete.body': 'empty' },
    { call: ({ helpdesk }) => helpdesk.call('DELETE', `/messages/${MESSAGES.thanks}`), expected: json, value: {} },
  ],
  [
    { 'messages.deleted': 'shown' },
    { call: deleteThenRead, expected: ({ status, json }) => [status, json.id], value: [200, MESSAGES.thanks] },
  ],
  [
    { 'messages.attachments.disposition': 'inline' },
    {
      call: ({ helpdesk }) =>
        helpdesk.call('GET', `/messages/${MESSAGES.cannotLogIn}/attachments/${ATTACHMENTS.loginError}`),
      expected: ({ headers }) => headers.get('content-disposition'),
      value: 'inline; filename="login-error.txt"',
    },
  ],
  [
    { 'messages.all.folder': 'inbox' },
    {
      call: listAll,
      expected: ({ json }) => idsOf(json.messages),
      value: [MESSAGES.thanks, MESSAGES.cannotLogIn],
    },
  ],
  [
    { 'sending.address-lists': 'arrays' },
    {
      call: sendTo(`${ADDRESS.dana}, ${ADDRESS.dana}`),
      expected: ({ status, json }) => [status, json.error],
      value: [400, `The body is not valid: to must be an e-mail address such as ${EXAMPLES}.`],
    },
    'send',
  ],
  [
    { 'sending.reply': 'message-id' },
    { call: sendTo(ADDRESS.dana), expected: ({ json }) => json.messageId === json.id, value: true },
  ],
  [
    { 'sending.verified': 'invalid' },
    { call: sendTo(ADDRESS.stranger), expected: statusAndCode, value: [400, 'VALIDATION_ERROR'] },
  ],
  [{ 'sending.verified': 'sent' }, { call: sendTo(ADDRESS.stranger), expected: status, value: 200 }],
  [
    { 'sending.verified.scope': 'send-and-forward' },
    { call: forward, expected: statusAndCode, value: [403, 'UNVERIFIED_RECIPIENT'] },
  ],
  ...Object.entries({ forward, sendDraft, replyToAll }).map(([of, call]): [BehaviourOptions, Reading, string] => [
    { 'sending.verified.scope': 'every-send' },
    {
      call,
      expected: ({ status, json }) => [status, json.error],
      value: [403, `${ADDRESS.stranger} has never written to this inbox.`],
    },
    of,
  ]),
  [{ 'sending.simulators': 'off' }, bounced('bounce@simulator.test'), 'bounce'],
  [
    { 'sending.simulators': 'off' },
    { call: sendTo('pause@simulator.test'), expected: statusAndCode, value: [403, 'UNVERIFIED_RECIPIENT'] },
    'pause',
  ],
  [{ 'sending.unknown-user': 'accepted' }, bounced('nobody@acme.test')],
  [{ 'messages.raw.trace': 'hidden' }, { call: readRaw, expected: ({ text }) => text.slice(0, 5), value: 'From:' }],
  [
    { 'sending.bounce.report': 'none' },
    {
      call: sendTo('bounce@simulator.test'),
      expected: async (_, { helpdesk }) => (await helpdesk.latest()).subject,
      value: 'Re: Cannot log in',
    },
  ],
  [{ 'sending.plus-tags': 'exact' }, { ...bounced('billing+orders@acme.test'), value: 1 }],
  [{ 'sending.forward.body': 'as-sent' }, { call: forward, expected: sentBody, value: 'See.' }],
  [
    { 'drafts.list.reply': 'with-pagination' },
    {
      call: ({ helpdesk }) => helpdesk.call('GET', '/drafts'),
      expected: ({ json }) => [json.drafts.length, json.pagination],
      value: [1, { total: 1, limit: 50, offset: 0 }],
    },
  ],
  [
    { 'drafts.list.order': 'newest-first' },
    {
      call: async ({ helpdesk }) => {
        await helpdesk.call('POST', '/drafts', { subject: 'Second' });
        return helpdesk.call('GET', '/drafts');
      },
      expected: ({ json: { drafts } }) => drafts[0].subject,
      value: 'Second',
    },
  ],
  [
    { 'drafts.recipients': 'checked' },
    {
      call: ({ helpdesk }) => helpdesk.call('POST', '/drafts', { to: 'dana@cust' }),
      expected: ({ status, json }) => [status, json.error],
      value: [
        400,
        'The body is not valid: to must be an e-mail address such as ada@example.com or Ada <ada@example.com>.',
      ],
    },
  ],
  [
    { 'drafts.unknown-message': 'invalid' },
    {
      call: ({ helpdesk }) => helpdesk.call('POST', '/drafts', { replyToMessageId: IDS.nobody }),
      expected: ({ status, json }) => [status, json.error],
      value: [400, 'The body is not valid: replyToMessageId must be the id of a message of this inbox.'],
    },
  ],
  [
    { 'drafts.delete.body': 'empty' },
    { call: ({ helpdesk }) => helpdesk.call('DELETE', `/drafts/${DRAFTS.helpdesk}`), expected: json, value: {} },
  ],
];

/** What a reply names, and what it does not: a behaviour is named where another value would have changed the reply. */
const NAMED: [title: string, call: Reading['call'], named: BehaviourId[], unnamed: BehaviourId[]][] = [
  [
    'a message that is read',
    read,
    ['messages.shape', 'messages.to', 'messages.get.marks-read'],
    ['messages.list.order', 'messages.list.pagination'],
  ],
  [
    'a message that was read before',
    ({ helpdesk }) => helpdesk.call('GET', `/messages/${MESSAGES.cannotLogIn}`),
    ['messages.shape'],
    ['messages.get.marks-read', 'messages.deleted'],
  ],
  [
    'a list of messages',
    list,
    ['messages.list.order', 'messages.list.pagination', 'messages.shape'],
    ['messages.list.over-limit', 'messages.deleted'],
  ],
  [
    'a limit that is too high',
    ({ helpdesk }) => helpdesk.call('GET', '/messages?limit=201'),
    ['messages.list.over-limit'],
    ['messages.update.deleted'],
  ],
  [
    'a tenant-wide row',
    listAll,
    ['messages.all.shape', 'messages.all.snippet', 'messages.all.thread-counts', 'messages.from', 'messages.to'],
    ['messages.shape', 'messages.folders'],
  ],
  ['a change of a message in the trash', deleteThenChange, ['messages.update.deleted'], ['messages.deleted']],
  [
    'a send to several in one string',
    sendTo(`${ADDRESS.dana}, ${ADDRESS.dana}`),
    ['sending.address-lists'],
    ['sending.addresses'],
  ],
  ['a send to what is no address', sendTo('dana@cust'), ['sending.addresses'], ['sending.address-lists']],
  [
    'a draft of what is half typed',
    ({ helpdesk }) => helpdesk.call('POST', '/drafts', { to: 'dana@cust' }),
    ['drafts.recipients'],
    ['sending.addresses'],
  ],
  [
    'sending a draft of what is half typed',
    async ({ helpdesk }) => {
      const { json } = await helpdesk.call('POST', '/drafts', { to: 'dana@cust' });
      return helpdesk.call('POST', `/drafts/${json.id}/send`);
    },
    ['drafts.recipients', 'sending.addresses'],
    ['sending.reply'],
  ],
  ['a message that is deleted', deleteThenRead, ['messages.deleted'], ['messages.shape']],
  [
    'a send to somebody known and away',
    sendTo(ADDRESS.dana),
    ['sending.reply'],
    ['sending.verified', 'sending.verified.scope', 'sending.simulators', 'sending.unknown-user', 'threads.inbound'],
  ],
  [
    'a send to a stranger',
    sendTo(ADDRESS.stranger),
    ['sending.verified'],
    ['sending.verified.scope', 'sending.reply', 'sending.simulators'],
  ],
  [
    'a send to a simulator',
    sendTo('success@simulator.test'),
    ['sending.simulators'],
    ['sending.verified', 'sending.unknown-user'],
  ],
  [
    'a send to nobody at home',
    ({ helpdesk }) => helpdesk.call('POST', '/send', { to: 'nobody@acme.test', subject: 'Hi', verified: true }),
    ['sending.unknown-user'],
    ['sending.verified', 'sending.simulators', 'sending.local'],
  ],
  [
    'a send from a paused inbox',
    async (inboxClients, service) => {
      await inboxClients.helpdesk.mail('pause@simulator.test');
      return sendTo(ADDRESS.stranger)(inboxClients, service);
    },
    ['sending.paused'],
    ['sending.verified', 'sending.reply'],
  ],
  [
    'a send within the emulator',
    ({ helpdesk, info }) => helpdesk.call('POST', '/send', { to: info.address, subject: 'Hi', verified: true }),
    ['sending.local'],
    ['threads.inbound', 'sending.verified'],
  ],
  [
    'a forward to somebody known',
    ({ helpdesk }) => helpdesk.call('POST', `/forward/${MESSAGES.thanks}`, { to: ADDRESS.dana, subject: 'Mine' }),
    ['sending.forward.body', 'sending.reply'],
    ['sending.verified', 'sending.verified.scope', 'sending.reply.subject'],
  ],
  [
    'a forward to a stranger',
    forward,
    ['sending.verified.scope', 'sending.reply.subject'],
    ['sending.verified', 'sending.reply.recipients'],
  ],
  [
    'a reply',
    ({ helpdesk }) => helpdesk.call('POST', `/reply/${MESSAGES.thanks}`, {}),
    ['sending.reply.recipients', 'sending.reply.subject'],
    ['sending.verified.scope', 'sending.forward.body'],
  ],
  [
    'a draft that says where it goes and what it is about',
    ({ helpdesk }) => helpdesk.call('POST', `/drafts/${DRAFTS.helpdesk}/send`),
    ['sending.reply'],
    ['sending.reply.recipients', 'sending.reply.subject', 'drafts.send.incomplete', 'sending.verified.scope'],
  ],
  [
    'a thread',
    ({ helpdesk }) => helpdesk.call('GET', `/threads/${IDS.acme.threads.login}`),
    ['threads.shape', 'messages.shape'],
    ['threads.list', 'messages.list.order', 'messages.deleted'],
  ],
  ['a list of threads', ({ helpdesk }) => helpdesk.call('GET', '/threads'), ['threads.list'], ['messages.shape']],
  [
    'a draft without recipients',
    async ({ helpdesk }) => {
      const { json } = await helpdesk.call('POST', '/drafts', {});
      return helpdesk.call('POST', `/drafts/${json.id}/send`);
    },
    ['drafts.send.incomplete'],
    ['sending.reply'],
  ],
  [
    'a raw message',
    ({ helpdesk }) => helpdesk.call('GET', `/messages/${MESSAGES.thanks}/raw`),
    ['messages.raw'],
    ['messages.shape', 'messages.get.marks-read'],
  ],
];

const namesOf = ({ headers }: Reply) => headers.get('x-mock-assumed')?.split(', ') ?? [];

const OURS = CHANGEABLE_IDS.filter((id) => /^(?:messages|sending|threads|drafts)\./.test(id));

describe('behaviours of mail', () => {
  for (const [behaviours, { call, expected, value }, of = 'the reply'] of READINGS) {
    everywhere(`${JSON.stringify(behaviours)} shapes ${of}`, { behaviours }, async (service) => {
      const inboxClients = openInboxClients(service);
      const reply = await call(inboxClients, service);
      expect(await expected(reply, inboxClients)).toEqual(value);
      expect(namesOf(reply)).toEqual(expect.arrayContaining(Object.keys(behaviours)));
    });

    everywhere(`the default shapes ${of} otherwise than ${JSON.stringify(behaviours)}`, async (service) => {
      const inboxClients = openInboxClients(service);
      expect(await expected(await call(inboxClients, service), inboxClients)).not.toEqual(value);
    });
  }

  test('every value that is not a default has a test here', ({ expect }) => {
    const read = READINGS.flatMap(([behaviours]) => Object.entries(behaviours).map((entry) => entry.join('=')));
    const others = OURS.flatMap((id) =>
      Object.keys(changeableDefinition(id).choices)
        .filter((current) => current !== changeableDefinition(id).default)
        .map((current) => `${id}=${current}`),
    );
    expect([...new Set(read)].sort()).toEqual(others.sort());
  });

  for (const [title, call, named, unnamed] of NAMED) {
    everywhere(`${title} names ${named.join(' and ')}`, async (service) => {
      const ids = namesOf(await call(openInboxClients(service), service));
      expect(ids).toEqual(expect.arrayContaining(named));
      expect(ids.filter((id) => unnamed.some((other) => other === id))).toEqual([]);
    });
  }

  everywhere(
    'under sending.verified.scope=send-and-forward a draft and a reply to all still go to strangers',
    { behaviours: { 'sending.verified.scope': 'send-and-forward' } },
    async (service) => {
      const inboxClients = openInboxClients(service);
      for (const call of [sendDraft, replyToAll]) expect((await call(inboxClients, service)).status).toBe(200);
    },
  );

  everywhere(
    'under messages.deleted=shown a deleted message can be changed, but is in no list',
    { behaviours: { 'messages.deleted': 'shown' } },
    async (service) => {
      const { helpdesk } = openInboxClients(service);
      const path = `/messages/${MESSAGES.thanks}`;
      await helpdesk.call('DELETE', path);
      expect((await helpdesk.call('DELETE', path)).status).toBe(200);
      expect((await helpdesk.call('PATCH', path, { isStarred: true })).status).toBe(200);
      expect((await helpdesk.call('GET', path)).json.isStarred).toBe(true);
      expect(idsOf(await helpdesk.list())).toEqual([MESSAGES.cannotLogIn, MESSAGES.linkSent]);
    },
  );

  everywhere(
    'under messages.get.marks-read=no a message stays unread in lists too',
    { behaviours: { 'messages.get.marks-read': 'no' } },
    async (service) => {
      const { helpdesk } = openInboxClients(service);
      await helpdesk.call('GET', `/messages/${MESSAGES.thanks}`);
      expect((await helpdesk.list()).at(-1).isRead).toBe(false);
    },
  );

  everywhere(
    'under messages.list.order=oldest-first threads and tenant-wide rows are listed in that order too',
    { behaviours: { 'messages.list.order': 'oldest-first' } },
    async (service) => {
      const { helpdesk } = openInboxClients(service);
      const sent = await helpdesk.mail(ADDRESS.dana);
      const threads = (await helpdesk.call('GET', '/threads?offset=1')).json;
      expect([threads.threads[0].threadId, threads.pagination.total]).toEqual([sent.threadId, 2]);
      const rows = (await service.send('GET', '/v1/messages?offset=3', { key: helpdesk.key })).json.messages;
      expect(idsOf(rows)).toEqual([sent.id]);
    },
  );

  everywhere(
    'under sending.plus-tags=exact a tagged address is free even if the address without the tag is taken',
    { behaviours: { 'sending.plus-tags': 'exact' } },
    async ({ send, mailbox }) => {
      const [first, second] = [IDS.acme.inboxes.helpdesk, IDS.acme.inboxes.billing];
      const add = (id: string, email: string) =>
        send('POST', `/v1/inboxes/${id}/addresses`, { key: mailbox.keys.acme.tenant, json: { email } });
      expect((await add(first, 'bob@mailbox.test')).status).toBe(201);
      expect((await add(second, 'bob+orders@mailbox.test')).status).toBe(201);
    },
  );
});
