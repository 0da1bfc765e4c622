import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, addAddress, type InboxClient, openInboxClients, sendDraft } from '../../support/inbox-clients.ts';
import { parseTwice } from '../../support/parse-mail.ts';

interceptRequests();

const { messages: MESSAGES, threads: THREADS } = IDS.acme;

const threadSize = async (inboxClient: InboxClient, id: string) =>
  (await inboxClient.call('GET', `/threads/${id}`)).json.messageCount;

const bounces = async ({ send, mailbox }: Service) =>
  (await send('GET', '/v1/metrics', { key: mailbox.keys.acme.inboxes.helpdesk })).json.counts;

/** Every way in which helpdesk can send something to an address. */
const WAYS: Record<string, (inboxClient: InboxClient, to: string) => ReturnType<InboxClient['call']>> = {
  'a send': (inboxClient, to) => inboxClient.call('POST', '/send', { to, subject: 'Hi', verified: true }),
  'a forward': (inboxClient, to) => inboxClient.call('POST', `/forward/${MESSAGES.thanks}`, { to }),
  'a draft': (inboxClient, to) => sendDraft(inboxClient, { to }),
  'a draft with bcc': (inboxClient, to) => sendDraft(inboxClient, { bcc: [to] }),
};

/** Address lists in one string, and the parsed addresses. */
const LISTS: [title: string, to: string, expected: string[]][] = [
  ['one address', 'dana@customer.test', ['dana@customer.test']],
  [
    'several',
    'dana@customer.test,Bo <bo@customer.test> , lee@prospect.test',
    ['dana@customer.test', 'Bo <bo@customer.test>', 'lee@prospect.test'],
  ],
  [
    'names with commas',
    '"Reyes, Dana" <dana@customer.test>, "O\\"Neil, Bo" <bo@customer.test>',
    ['"Reyes, Dana" <dana@customer.test>', '"O\\"Neil, Bo" <bo@customer.test>'],
  ],
  [
    'a comma at the end and twice',
    'dana@customer.test,, bo@customer.test, ',
    ['dana@customer.test', 'bo@customer.test'],
  ],
  [
    'a group',
    'Team: dana@customer.test, "B, o" <bo@customer.test>;, lee@prospect.test',
    ['dana@customer.test', '"B, o" <bo@customer.test>', 'lee@prospect.test'],
  ],
  ['an empty group beside an address', 'undisclosed-recipients:;, dana@customer.test', ['dana@customer.test']],
];

const LIKE = 'must be an e-mail address such as ada@example.com or Ada <ada@example.com>';

/** Invalid address lists and the expected errors. */
const WRONG_LISTS: [title: string, to: string, error: string][] = [
  ['nothing', '', 'must name at least one address'],
  ['an empty group', 'Team:;', 'must name at least one address'],
  ['what is no address', 'dana', LIKE],
  ['what is no address behind one', 'dana@customer.test, dan', `between its commas ${LIKE}, not "dan"`],
  [
    'a quote that does not end',
    'bo@customer.test, "Reyes, Dana <dana@customer.test>',
    `between its commas ${LIKE}, not "\\"Reyes, Dana <dana@customer.test>"`,
  ],
  ['a group that does not end', 'Team: dana@customer.test, bo@customer.test', LIKE],
  ['semicolons', 'dana@customer.test; bo@customer.test', LIKE],
  ['fifty-one addresses', Array(51).fill('dana@customer.test').join(','), 'must list at most 50 addresses'],
  ['text of 60000 open brackets', '(\\'.repeat(30_000), 'must be at most 50000 characters long'],
  ['text of 50000 open brackets', '(\\'.repeat(25_000), LIKE],
];

const WITH_NAMES = { behaviours: { 'messages.addresses': 'display' } } as const;

describe('sending', () => {
  everywhere('returns the id, the thread, the status and a real Message-ID', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { status, json } = await helpdesk.call('POST', '/send', { to: ADDRESS.dana, subject: 'Hi' });
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(['id', 'threadId', 'status', 'messageId']);
    expect(json.status).toBe('sent');
    expect(json.messageId).toBe(`<${json.id}@acme.test>`);
  });

  everywhere('makes an outbound message that lists show', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const to = ['Dana <dana@customer.test>', 'lee@prospect.test'];
    const sent = await helpdesk.mail(to, { plainBody: 'a', htmlBody: '<b>b</b>', replyTo: 'answers@acme.test' });
    expect((await helpdesk.list('?direction=outbound')).at(-1)).toEqual({
      id: sent.id,
      direction: 'outbound',
      from: 'helpdesk@acme.test',
      to: 'dana@customer.test, lee@prospect.test',
      subject: 'Hello',
      plainBody: 'a',
      htmlBody: '<b>b</b>',
      isRead: true,
      threadId: sent.threadId,
      messageIdHeader: sent.messageId,
      inReplyTo: null,
      receivedAt: expect.any(String),
      attachments: [],
      inboxId: helpdesk.id,
      cc: [],
      bcc: [],
      isStarred: false,
      isArchived: false,
    });
  });

  everywhere('starts a new thread each time, whatever the subject', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const sent = [
      await helpdesk.mail(ADDRESS.dana),
      await helpdesk.mail(ADDRESS.dana, { subject: 'Re: Cannot log in' }),
    ];
    const threads = new Set([...sent.map(({ threadId }) => threadId), THREADS.login]);
    expect(threads.size).toBe(3);
    expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(2);
  });

  for (const [field, json] of Object.entries({
    'to is required': { subject: 'Hi' },
    'subject is required': { to: ADDRESS.dana },
    'to must name at least one address': { to: [], subject: 'Hi' },
    'to[1] must be an e-mail address such as ada@example.com or Ada <ada@example.com>': {
      to: [ADDRESS.dana, 'nobody'],
      subject: 'Hi',
    },
    'subject must be at most 998 characters long': { to: ADDRESS.dana, subject: 'x'.repeat(999) },
    'verified must be true or false': { to: ADDRESS.dana, subject: 'Hi', verified: 'true' },
  })) {
    everywhere(`is refused where ${field}`, async (service) => {
      const { status, json: error } = await openInboxClients(service).helpdesk.call('POST', '/send', json);
      expect([status, error]).toEqual([400, { error: `The body is not valid: ${field}.`, code: 'VALIDATION_ERROR' }]);
    });
  }

  everywhere('accepts every address that needs no quotes', WITH_NAMES, async (service) => {
    const { helpdesk } = openInboxClients(service);
    const to = ['bounce+ada=example.com@lists.test', 'c=us/o=acme@x400.test', "Ada <o'neil&!#$%*?^`{|}~_-@x.test>"];
    const { id } = await helpdesk.mail(to);
    const { status, json } = await helpdesk.call('GET', `/messages/${id}`);
    expect([status, json.to]).toEqual([200, to.join(', ')]);
    for (const wrong of ['.a@x.test', 'a.@x.test', 'a..b@x.test', '@x.test', 'a b@x.test', '=?utf-8?q?x?=@x.test']) {
      expect((await helpdesk.call('POST', '/send', { to: wrong, subject: 'Hi', verified: true })).status, wrong).toBe(
        400,
      );
    }
  });

  for (const [title, to, expected] of LISTS) {
    everywhere(`accepts ${title} in one string`, WITH_NAMES, async (service) => {
      const { helpdesk } = openInboxClients(service);
      const json = { to, cc: to, bcc: to, subject: 'Hi', verified: true };
      const sent = await helpdesk.call('POST', '/send', json);
      expect(sent.status, sent.text).toBe(200);
      const message = (await helpdesk.call('GET', `/messages/${sent.json.id}`)).json;
      expect([message.to, message.cc, message.bcc]).toEqual([expected.join(', '), expected, expected]);
    });
  }

  for (const [title, to, error] of WRONG_LISTS) {
    everywhere(`refuses ${title} in one string, and sends nothing`, async (service) => {
      const { helpdesk } = openInboxClients(service);
      const before = service.mailbox.snapshot();
      const { status, json } = await helpdesk.call('POST', '/send', { to, subject: 'Hi', verified: true });
      expect([status, json.error]).toEqual([400, `The body is not valid: to ${error}.`]);
      expect(service.mailbox.snapshot()).toEqual(before);
    });
  }

  everywhere('goes to cc and bcc too, which must be verified like to', async (service) => {
    const { helpdesk, info, billing } = openInboxClients(service);
    const json = { to: ADDRESS.dana, cc: 'info@globex.test', bcc: ['billing@acme.test'], subject: 'Copies' };
    const refused = await helpdesk.call('POST', '/send', json);
    expect([refused.status, refused.json.error]).toEqual([
      403,
      'info@globex.test has never written to this inbox; send with "verified": true if you know the address to be right.',
    ]);
    await helpdesk.call('POST', '/send', { ...json, verified: true });
    for (const inboxClient of [info, billing]) {
      expect(await inboxClient.latest()).toMatchObject({ subject: 'Copies', cc: ['info@globex.test'], bcc: [] });
    }
  });

  everywhere('accepts cc and bcc for a reply, a reply to all and a forward', async (service) => {
    const { helpdesk, info, billing } = openInboxClients(service);
    const copies = { cc: 'info@globex.test', bcc: 'billing@acme.test', plainBody: 'Copy' };
    for (const [path, more] of [
      [`/reply/${MESSAGES.thanks}`, {}],
      [`/reply-all/${MESSAGES.thanks}`, {}],
      [`/forward/${MESSAGES.thanks}`, { to: 'Lee <lee@prospect.test>, Kim <kim@visitor.test>' }],
    ] as const) {
      const { status, json } = await helpdesk.call('POST', path, { ...copies, ...more });
      expect([path, status]).toEqual([path, 200]);
      for (const inboxClient of [info, billing]) {
        const { plainBody, messageIdHeader } = await inboxClient.latest();
        expect([plainBody.startsWith('Copy'), messageIdHeader]).toEqual([true, json.messageId]);
      }
    }
  });

  everywhere('arrives in inboxes of the same tenant and of another one, unread', async (service) => {
    const { helpdesk, billing, info } = openInboxClients(service);
    const sent = await helpdesk.mail([billing.address, info.address], { htmlBody: '<i>x</i>', replyTo: 'x@y.test' });
    for (const inboxClient of [billing, info]) {
      const received = await inboxClient.latest();
      expect(received).toMatchObject({
        direction: 'inbound',
        from: 'helpdesk@acme.test',
        to: `${billing.address}, ${info.address}`,
        subject: 'Hello',
        plainBody: 'Hello!',
        htmlBody: '<i>x</i>',
        isRead: false,
        messageIdHeader: sent.messageId,
        inboxId: inboxClient.id,
      });
      expect([sent.id, sent.threadId]).not.toContain(received.id);
      expect(received.threadId).not.toBe(sent.threadId);
    }
  });

  everywhere('arrives only once in an inbox, even if several of its addresses are named', async (service) => {
    const { helpdesk, billing } = openInboxClients(service);
    await addAddress(service, billing.id, 'invoices@acme.test');
    const before = (await billing.list()).length;
    await sendDraft(helpdesk, {
      to: ['billing@acme.test', 'Billing <BILLING@acme.test>'],
      cc: 'invoices@acme.test',
      bcc: 'billing@ACME.test',
    });
    expect(await billing.list()).toHaveLength(before + 1);
  });

  everywhere('to oneself arrives as a second message', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const sent = await helpdesk.mail(helpdesk.address);
    const [out, back] = (await helpdesk.list()).slice(-2);
    expect([out.id, out.direction, back.direction]).toEqual([sent.id, 'outbound', 'inbound']);
    expect(back.messageIdHeader).toBe(sent.messageId);
    const reply = (await helpdesk.call('POST', `/reply/${back.id}`, {})).json;
    expect((await helpdesk.latest()).threadId).toBe(reply.threadId);
    expect(await threadSize(helpdesk, back.threadId)).toBe(3);
  });

  everywhere('shows cc to every recipient and bcc to none', async (service) => {
    const { helpdesk, billing, outreach, info } = openInboxClients(service);
    await sendDraft(helpdesk, { to: billing.address, cc: outreach.address, bcc: info.address, subject: 'Quiet' });
    for (const inboxClient of [billing, outreach, info]) {
      const received = await inboxClient.latest();
      expect(received).toMatchObject({ subject: 'Quiet', to: billing.address, cc: [outreach.address], bcc: [] });
      const raw = await inboxClient.call('GET', `/messages/${received.id}/raw`);
      expect(JSON.stringify(received) + raw.text).not.toMatch(/^bcc:|info@globex/im);
    }
    expect((await helpdesk.list('?direction=outbound')).at(-1).bcc).toEqual([info.address]);
  });

  everywhere('keeps a long conversation of two agents in one thread on each side', async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    const first = await helpdesk.mail(info.address, { subject: 'Long' });
    const threadAtInfo = (await info.latest()).threadId;
    for (let round = 0; round < 5; round += 1) {
      for (const [inboxClient, threadId] of [
        [info, threadAtInfo],
        [helpdesk, first.threadId],
      ] as const) {
        const latest = await inboxClient.latest();
        const { json } = await inboxClient.call('POST', `/reply/${latest.id}`, { plainBody: `Round ${round}` });
        expect(json.threadId).toBe(threadId);
      }
    }
    expect([await threadSize(helpdesk, first.threadId), await threadSize(info, threadAtInfo)]).toEqual([11, 11]);
    const subjects = (await info.list('?limit=100')).slice(1).map(({ subject }) => subject);
    expect(new Set(subjects)).toEqual(new Set(['Long', 'Re: Long']));
    const raw = await info.call('GET', `/messages/${(await info.latest()).id}/raw`);
    const { references, inReplyTo } = (await parseTwice(raw.bytes)).mailparser;
    expect([references.length, references[0], references.at(-1)]).toEqual([10, first.messageId, inReplyTo]);
  });

  everywhere('threads incoming mail by References if In-Reply-To is unknown', async (service) => {
    const { helpdesk, billing, info } = openInboxClients(service);
    // Billing joins the conversation late, so it can find the parent of its latest message only by References.
    const first = await helpdesk.mail([info.address, billing.address], { subject: 'Late' });
    const atBilling = (await billing.latest()).threadId;
    await info.call('POST', `/reply/${(await info.latest()).id}`, {});
    const reply = await helpdesk.call('POST', `/reply-all/${(await helpdesk.latest()).id}`, {});
    expect(reply.json.threadId).toBe(first.threadId);
    const cc = await sendDraft(helpdesk, { replyToMessageId: (await helpdesk.latest()).id, to: billing.address });
    expect((await billing.latest()).messageIdHeader).toBe(cc.json.messageId);
    expect((await billing.latest()).threadId).toBe(atBilling);
  });

  everywhere('to somebody who never wrote needs verified: true', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const json = { to: [ADDRESS.dana, `Nobody <${ADDRESS.stranger.toUpperCase()}>`], subject: 'Hi' };
    const before = await helpdesk.list();
    const refused = await helpdesk.call('POST', '/send', json);
    expect([refused.status, refused.json]).toEqual([
      403,
      {
        error: `${ADDRESS.stranger} has never written to this inbox; send with "verified": true if you know the address to be right.`,
        code: 'UNVERIFIED_RECIPIENT',
      },
    ]);
    expect(await helpdesk.list()).toEqual(before);
    expect((await helpdesk.call('POST', '/send', { ...json, verified: false })).status).toBe(403);
    expect((await helpdesk.call('POST', '/send', { ...json, verified: true })).status).toBe(200);
  });

  everywhere('to a known correspondent needs no verified, for any form of the address', async (service) => {
    const { helpdesk, billing, info } = openInboxClients(service);
    for (const to of ['dana@customer.test', 'DANA@Customer.Test', '"Reyes, Dana" <Dana@customer.test>']) {
      expect((await helpdesk.call('POST', '/send', { to, subject: 'Hi' })).status).toBe(200);
    }
    const answer = async () => (await helpdesk.call('POST', '/send', { to: info.address, subject: 'Hi' })).status;
    expect(await answer()).toBe(403);
    await info.mail(billing.address);
    expect(await answer()).toBe(403);
    // Outbound mail does not make its recipients known correspondents, not even the sending inbox.
    expect((await helpdesk.call('POST', '/send', { to: helpdesk.address, subject: 'Hi' })).status).toBe(403);
    await helpdesk.mail(info.address);
    expect(await answer()).toBe(403);
    await info.mail(helpdesk.address);
    expect(await answer()).toBe(200);
  });

  for (const [way, sendTo] of Object.entries(WAYS)) {
    everywhere(`${way} to bounce@simulator.test is sent and bounces`, async (service) => {
      const { helpdesk } = openInboxClients(service);
      const before = await bounces(service);
      for (const to of ['bounce@simulator.test', 'Bounce+42 <BOUNCE+42@Simulator.Test>']) {
        expect((await sendTo(helpdesk, to)).status).toBe(200);
      }
      const after = await bounces(service);
      expect([after.sent - before.sent, after.bounced - before.bounced]).toEqual([2, 2]);
    });

    everywhere(`${way} to relay-error@simulator.test returns 502 and stores nothing`, async (service) => {
      const { helpdesk } = openInboxClients(service);
      const before = await helpdesk.list();
      const { status, json } = await sendTo(helpdesk, 'relay-error+x@simulator.test');
      expect([status, json]).toEqual([
        502,
        { error: 'The mail relay failed, so nothing was sent.', code: 'RELAY_FAILED' },
      ]);
      expect(await helpdesk.list()).toEqual(before);
    });

    everywhere(`${way} to pause@simulator.test pauses all sending until resume`, async (service) => {
      const { helpdesk, info } = openInboxClients(service);
      const paused = [403, { error: 'This inbox is paused and cannot send.', code: 'INBOX_PAUSED' }];
      const refused = await sendTo(helpdesk, 'PAUSE@simulator.test');
      expect([refused.status, refused.json]).toEqual(paused);
      const before = await helpdesk.list();
      for (const send of Object.values(WAYS)) {
        const { status, json } = await send(helpdesk, ADDRESS.dana);
        expect([status, json]).toEqual(paused);
      }
      for (const path of ['reply', 'reply-all']) {
        expect((await helpdesk.call('POST', `/${path}/${MESSAGES.thanks}`, {})).json.code).toBe('INBOX_PAUSED');
      }
      expect(await helpdesk.list()).toEqual(before);
      const sent = await info.mail(helpdesk.address);
      expect((await helpdesk.latest()).messageIdHeader).toBe(sent.messageId);
      expect((await info.call('POST', '/send', { to: 'kim@visitor.test', subject: 'Hi' })).status).toBe(200);
      expect((await sendTo(helpdesk, 'resume+now@simulator.test')).status).toBe(200);
      expect((await sendTo(helpdesk, ADDRESS.dana)).status).toBe(200);
    });
  }

  everywhere('to success@simulator.test needs no verified and is not delivered', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const before = await bounces(service);
    const { status } = await helpdesk.call('POST', '/send', { to: 'success@simulator.test', subject: 'Hi' });
    expect(status).toBe(200);
    expect(await bounces(service)).toEqual({ ...before, sent: before.sent + 1 });
  });

  everywhere('knows no other simulator', async (service) => {
    const { helpdesk } = openInboxClients(service);
    for (const to of ['constructor@simulator.test', 'bouncer@simulator.test', 'bounce@simulator.test.test']) {
      const { json } = await helpdesk.call('POST', '/send', { to, subject: 'Hi' });
      expect(json.code).toBe('UNVERIFIED_RECIPIENT');
    }
  });

  everywhere('does not reach other unknown recipients together with resume', async (service) => {
    const { helpdesk } = openInboxClients(service);
    await helpdesk.mail('pause@simulator.test');
    const to = ['resume@simulator.test', ADDRESS.stranger];
    const { json } = await helpdesk.call('POST', '/send', { to, subject: 'Hi' });
    expect(json.code).toBe('UNVERIFIED_RECIPIENT');
    expect((await helpdesk.call('POST', '/send', { to: 'success@simulator.test', subject: 'Hi' })).json.code).toBe(
      'INBOX_PAUSED',
    );
  });

  everywhere('reaches an inbox by a plus-tagged address, which no other inbox can take', async (service) => {
    const { helpdesk, billing } = openInboxClients(service);
    const json = { email: 'billing+orders@acme.test' };
    const key = service.mailbox.keys.acme.tenant;
    await service.send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/addresses`, { key, json });
    await helpdesk.mail('Billing+Orders@acme.test', { subject: 'Tagged' });
    expect((await billing.latest()).subject).toBe('Tagged');
  });

  everywhere(
    'under sending.plus-tags=exact reaches the inbox that has the tagged address',
    { behaviours: { 'sending.plus-tags': 'exact' } },
    async (service) => {
      const { helpdesk, billing } = openInboxClients(service);
      const json = { email: 'billing+orders@acme.test' };
      const key = service.mailbox.keys.acme.tenant;
      await service.send('POST', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/addresses`, { key, json });
      await billing.mail('billing+orders@acme.test', { subject: 'Tagged' });
      expect((await helpdesk.latest()).subject).toBe('Tagged');
    },
  );

  everywhere('to an unknown address bounces at a domain of the emulator, and not at other domains', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const before = await bounces(service);
    for (const [to, bounced] of [
      ['nobody@acme.test', 1],
      ['nobody@globex.test', 1],
      ['nobody@mailbox.test', 1],
      ['nobody@elsewhere.test', 0],
      ['nobody@mail.acme.test', 0],
    ] as const) {
      const earlier = (await bounces(service)).bounced;
      await helpdesk.mail(to);
      expect([to, (await bounces(service)).bounced - earlier]).toEqual([to, bounced]);
    }
    expect((await bounces(service)).sent - before.sent).toBe(5);
  });

  everywhere('that bounces for one recipient still reaches the others, and bounces only once', async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    const before = await bounces(service);
    const sent = await helpdesk.mail(['nobody@acme.test', info.address, 'bounce@simulator.test']);
    expect((await info.latest()).messageIdHeader).toBe(sent.messageId);
    expect((await bounces(service)).bounced - before.bounced).toBe(1);
  });

  everywhere('to the addresses of a deleted inbox bounces', async (service) => {
    const { helpdesk, billing } = openInboxClients(service);
    await addAddress(service, billing.id, 'invoices@acme.test');
    const { status } = await service.send('DELETE', `/v1/inboxes/${billing.id}`, {
      key: service.mailbox.keys.acme.tenant,
    });
    expect(status).toBe(200);
    const before = await bounces(service);
    await helpdesk.mail('billing@acme.test');
    await helpdesk.mail('invoices@acme.test');
    expect((await bounces(service)).bounced - before.bounced).toBe(2);
  });

  everywhere('from the primary address has its domain in the Message-ID', WITH_NAMES, async (service) => {
    const { helpdesk, info } = openInboxClients(service);
    expect((await addAddress(service, helpdesk.id, 'help@mailbox.test', true)).status).toBe(201);
    const sent = await helpdesk.mail(info.address);
    expect(sent.messageId).toBe(`<${sent.id}@mailbox.test>`);
    expect((await info.latest()).from).toBe('Acme Helpdesk <help@mailbox.test>');
    const back = await info.call('POST', `/reply/${(await info.latest()).id}`, {});
    expect((await helpdesk.latest()).messageIdHeader).toBe(back.json.messageId);
  });
});
