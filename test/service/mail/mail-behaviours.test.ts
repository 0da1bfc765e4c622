import type { BehaviourOptions } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { CHANGEABLE_IDS, changeableDefinition } from '../../../src/contract/behaviours.ts';
import { everywhere, interceptRequests, type Reply } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, type InboxClient, openInboxClients } from '../../support/inbox-clients.ts';
import {
  deleteThen,
  deleteThenChange,
  deleteThenDelete,
  deleteThenRead,
  deleteThenReply,
  firstOf,
  forward,
  type InboxClients,
  list,
  listAll,
  type MailCall,
  read,
  readRaw,
  readThread,
  replyToAll,
  sendDraft,
  sendTo,
  sendToNamed,
} from '../../support/mail-calls.ts';

interceptRequests();

const { messages: MESSAGES, attachments: ATTACHMENTS, drafts: DRAFTS } = IDS.acme;

interface Reading {
  readonly call: MailCall;
  readonly expected: (reply: Reply, inboxClients: InboxClients) => unknown;
  readonly value: unknown;
}

const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

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
      { 'messages.addresses': 'display' },
      { call, expected: ({ json }) => firstOf(json).from, value: 'Dana Reyes <dana@customer.test>' },
      of,
    ],
  ),
  [
    { 'messages.addresses': 'display' },
    {
      call: sendToNamed,
      expected: ({ json: { to, cc, bcc } }) => [to, cc, bcc],
      value: ['Info <Info@globex.test>', ['"B, of Acme" <billing@acme.test>'], ['Ada <ada@example.com>']],
    },
    'the recipients of a message',
  ],
  [
    { 'messages.shape': 'legacy' },
    {
      call: read,
      expected: ({ json: { fromAddress, fromName, toAddresses, sentAt, createdAt } }) => ({
        fromAddress,
        fromName,
        toAddresses,
        sentAt,
        createdAt,
      }),
      value: {
        fromAddress: 'dana@customer.test',
        fromName: 'Dana Reyes',
        toAddresses: ['helpdesk@acme.test'],
        sentAt: '2026-01-06T09:02:17.000Z',
        createdAt: '2026-01-06T09:02:17.000Z',
      },
    },
  ],
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
    { 'messages.delete.deleted': 'not-found' },
    { call: deleteThenDelete, expected: statusAndCode, value: [404, 'NOT_FOUND'] },
  ],
  ...Object.entries({
    reply: deleteThenReply,
    'reply to all': deleteThen('POST', `/reply-all/${MESSAGES.thanks}`, {}),
    forward: deleteThen('POST', `/forward/${MESSAGES.thanks}`, { to: ADDRESS.dana }),
    draft: deleteThen('POST', '/drafts', { replyToMessageId: MESSAGES.thanks }),
  }).map(([of, call]): [BehaviourOptions, Reading, string] => [
    { 'messages.answer.deleted': 'not-found' },
    { call, expected: statusAndCode, value: [404, 'NOT_FOUND'] },
    of,
  ]),
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
