import { describe, expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, type InboxClient, openInboxClients } from '../../support/inbox-clients.ts';

interceptRequests();

const { messages: MESSAGES, threads: THREADS, drafts: DRAFTS } = IDS.acme;

const create = async (inboxClient: InboxClient, draft: object = {}) =>
  (await inboxClient.call('POST', '/drafts', draft)).json;
const list = async (inboxClient: InboxClient, query = '') =>
  (await inboxClient.call('GET', `/drafts${query}`)).json.drafts;
const message = async (inboxClient: InboxClient, id: string) => (await inboxClient.call('GET', `/messages/${id}`)).json;

const EMPTY = {
  to: [],
  cc: [],
  bcc: [],
  subject: null,
  plainBody: null,
  htmlBody: null,
  replyToMessageId: null,
};

const FULL = {
  to: ['Dana <dana@customer.test>'],
  cc: ['one@customer.test', 'two@customer.test'],
  bcc: ['three@customer.test'],
  subject: 'Hi',
  plainBody: 'Hello',
  htmlBody: '<p>Hello</p>',
  replyToMessageId: MESSAGES.thanks,
};

describe('drafts', () => {
  everywhere('are created without any field', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { status, json } = await helpdesk.call('POST', '/drafts', {});
    expect([status, json]).toEqual([
      201,
      {
        id: expect.any(String),
        inboxId: helpdesk.id,
        ...EMPTY,
        createdAt: expect.any(String),
        updatedAt: json.createdAt,
      },
    ]);
    expect((await helpdesk.call('POST', '/drafts')).status).toBe(201);
  });

  everywhere('are created with all fields, and one address or several', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const sent = { ...FULL, to: FULL.to[0], bcc: FULL.bcc[0] };
    const draft = await create(helpdesk, sent);
    expect(draft).toMatchObject(FULL);
    expect((await helpdesk.call('GET', `/drafts/${draft.id}`)).json).toEqual(draft);
  });

  everywhere('are listed oldest first, by page', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const [one, two] = [await create(helpdesk), await create(helpdesk, FULL)];
    const drafts = await list(helpdesk);
    expect(drafts.map(({ id }: { id: string }) => id)).toEqual([DRAFTS.helpdesk, one.id, two.id]);
    expect(await list(helpdesk, '?limit=1&offset=2')).toEqual([two]);
  });

  everywhere('are merged with the fields of a PATCH; null clears a field', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const draft = await create(helpdesk, FULL);
    const patch = async (changes: object) => (await helpdesk.call('PATCH', `/drafts/${draft.id}`, changes)).json;
    const expected = { ...draft, updatedAt: expect.any(String) };
    expect(await patch({})).toEqual(expected);
    expect(await patch({ subject: 'New', cc: 'four@customer.test' })).toEqual({
      ...expected,
      subject: 'New',
      cc: ['four@customer.test'],
    });
    expect(await patch({ subject: '', to: [] })).toMatchObject({ subject: '', to: [], cc: ['four@customer.test'] });
    const emptied = await patch(Object.fromEntries(Object.keys(FULL).map((field) => [field, null])));
    expect(emptied).toEqual({ ...expected, ...EMPTY });
    expect(Date.parse(emptied.updatedAt)).toBeGreaterThanOrEqual(Date.parse(draft.updatedAt));
    expect(await list(helpdesk)).toContainEqual(emptied);
  });

  everywhere('stay as they were when a PATCH is refused', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const draft = await create(helpdesk, FULL);
    const { status, json } = await helpdesk.call('PATCH', `/drafts/${draft.id}`, { subject: 'New', to: 7 });
    expect([status, json.error]).toEqual([400, 'The body is not valid: to must be a string or an array of strings.']);
    expect((await helpdesk.call('GET', `/drafts/${draft.id}`)).json).toEqual(draft);
  });

  everywhere('keep incomplete addresses, and split a string that is a list', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const typed: [to: unknown, kept: string[]][] = [
      ['dan', ['dan']],
      ['dana@customer.test, ', ['dana@customer.test']],
      ['"Reyes, Dana" <dana@customer.test>, Bo <bo@', ['"Reyes, Dana" <dana@customer.test>', 'Bo <bo@']],
      ['"Reyes, Da', ['"Reyes, Da']],
      ['Team: a@customer.test, b@cus', ['Team: a@customer.test, b@cus']],
      ['Team: a@customer.test, b@customer.test;', ['a@customer.test', 'b@customer.test']],
      ['', []],
      [['', 'dan, bo'], ['dan, bo']],
    ];
    const draft = await create(helpdesk);
    for (const [to, kept] of typed) {
      const patched = await helpdesk.call('PATCH', `/drafts/${draft.id}`, { to, cc: to, bcc: to });
      expect([to, patched.status, patched.json.to]).toEqual([to, 200, kept]);
      expect([patched.json.cc, patched.json.bcc]).toEqual([kept, kept]);
    }
  });

  everywhere('are not sent with an invalid address, which the error names, and are kept', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const draft = await create(helpdesk, { to: 'dana@customer.test, dan', cc: 'Bo <bo@', bcc: ['"a, b" <a@b.test>'] });
    const { status, json } = await helpdesk.call('POST', `/drafts/${draft.id}/send`);
    const like = 'must be an e-mail address such as ada@example.com or Ada <ada@example.com>';
    expect([status, json]).toEqual([
      400,
      {
        error: `The draft cannot be sent: to[1] ${like}, not "dan"; cc[0] ${like}, not "Bo <bo@".`,
        code: 'VALIDATION_ERROR',
      },
    ]);
    expect((await helpdesk.call('GET', `/drafts/${draft.id}`)).json).toEqual(draft);
    await helpdesk.call('PATCH', `/drafts/${draft.id}`, { to: 'dana@customer.test', cc: 'Bo <bo@customer.test>' });
    const sent = await helpdesk.call('POST', `/drafts/${draft.id}/send`);
    expect(await message(helpdesk, sent.json.id)).toMatchObject({
      to: 'dana@customer.test',
      cc: ['bo@customer.test'],
      bcc: ['a@b.test'],
    });
  });

  everywhere('are not found after they are deleted', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const path = `/drafts/${DRAFTS.helpdesk}`;
    const { status, json } = await helpdesk.call('DELETE', path);
    expect([status, json]).toEqual([200, { deleted: true, id: DRAFTS.helpdesk }]);
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/send`],
    ] as const) {
      const gone = await helpdesk.call(method, at);
      expect([gone.status, gone.json.error]).toEqual([404, 'There is no draft with this id.']);
    }
    expect(await list(helpdesk)).toEqual([]);
  });

  everywhere('are found in their own inbox only', async (service) => {
    const { billing } = openInboxClients(service);
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/send'],
    ] as const) {
      const { status } = await billing.call(method, `/drafts/${DRAFTS.helpdesk}${path}`);
      expect(status).toBe(404);
    }
  });

  everywhere(
    'are sent once, and become a message',
    { behaviours: { 'messages.addresses': 'display' } },
    async (service) => {
      const { helpdesk } = openInboxClients(service);
      const draft = await create(helpdesk, { ...FULL, replyToMessageId: null });
      const { status, json } = await helpdesk.call('POST', `/drafts/${draft.id}/send`);
      expect([status, json]).toEqual([
        200,
        {
          id: expect.any(String),
          threadId: expect.any(String),
          status: 'sent',
          messageId: `<${json.id}@acme.test>`,
          draftId: draft.id,
        },
      ]);
      const { to, cc, subject, plainBody, htmlBody } = FULL;
      expect(await message(helpdesk, json.id)).toMatchObject({
        direction: 'outbound',
        to: to.join(', '),
        cc,
        subject,
        plainBody,
        htmlBody,
        inReplyTo: null,
        threadId: json.threadId,
      });
      const again = await helpdesk.call('POST', `/drafts/${draft.id}/send`);
      expect([again.status, again.json.error]).toEqual([404, 'There is no draft with this id.']);
      expect((await list(helpdesk)).map(({ id }: { id: string }) => id)).toEqual([DRAFTS.helpdesk]);
    },
  );

  everywhere('need no subject and no body', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const draft = await create(helpdesk, { bcc: ADDRESS.dana });
    const { json } = await helpdesk.call('POST', `/drafts/${draft.id}/send`);
    expect(await message(helpdesk, json.id)).toMatchObject({ to: '', subject: '', plainBody: '', htmlBody: null });
  });

  everywhere('cannot be sent without a recipient, and are kept', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const draft = await create(helpdesk, { subject: 'Hi' });
    const { status, json } = await helpdesk.call('POST', `/drafts/${draft.id}/send`);
    expect([status, json]).toEqual([
      400,
      { error: 'The draft has no recipient; set to, cc or bcc.', code: 'VALIDATION_ERROR' },
    ]);
    expect(await list(helpdesk)).toContainEqual(draft);
    await helpdesk.call('PATCH', `/drafts/${draft.id}`, { to: ADDRESS.dana });
    expect((await helpdesk.call('POST', `/drafts/${draft.id}/send`)).status).toBe(200);
  });

  everywhere('that cannot be sent are kept unchanged', async (service) => {
    const { helpdesk } = openInboxClients(service);
    for (const [to, code] of [
      ['relay-error@simulator.test', 'RELAY_FAILED'],
      ['pause@simulator.test', 'INBOX_PAUSED'],
    ]) {
      const draft = await create(helpdesk, { to });
      const { json } = await helpdesk.call('POST', `/drafts/${draft.id}/send`);
      expect(json.code).toBe(code);
      expect((await helpdesk.call('GET', `/drafts/${draft.id}`)).json).toEqual(draft);
    }
  });

  everywhere('that reply stay in the thread', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { json } = await helpdesk.call('POST', `/drafts/${DRAFTS.helpdesk}/send`);
    expect(json.threadId).toBe(THREADS.login);
    expect(await message(helpdesk, json.id)).toMatchObject({
      to: 'dana@customer.test',
      subject: 'Re: Cannot log in',
      inReplyTo: '<login-3@customer.test>',
    });
  });

  everywhere('that reply go to the sender if they have no recipients, with Re:', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const draft = await create(helpdesk, { replyToMessageId: MESSAGES.cannotLogIn.toUpperCase() });
    expect(draft.replyToMessageId).toBe(MESSAGES.cannotLogIn);
    const { json } = await helpdesk.call('POST', `/drafts/${draft.id}/send`);
    expect(await message(helpdesk, json.id)).toMatchObject({
      to: 'dana@customer.test',
      cc: [],
      subject: 'Re: Cannot log in',
      threadId: THREADS.login,
      inReplyTo: '<login-1@customer.test>',
    });
  });

  everywhere('that reply to a deleted message stay in its thread', async (service) => {
    const { helpdesk } = openInboxClients(service);
    await helpdesk.call('DELETE', `/messages/${MESSAGES.thanks}`);
    const { json } = await helpdesk.call('POST', `/drafts/${DRAFTS.helpdesk}/send`);
    expect(json.threadId).toBe(THREADS.login);
  });

  everywhere('cannot reply to a message of another inbox', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const before = await list(helpdesk);
    for (const replyToMessageId of [IDS.nobody, MESSAGES.invoice, IDS.globex.messages.hours]) {
      for (const [method, path] of [
        ['POST', '/drafts'],
        ['PATCH', `/drafts/${DRAFTS.helpdesk}`],
      ] as const) {
        const { status, json } = await helpdesk.call(method, path, { subject: 'New', replyToMessageId });
        expect([status, json.error]).toEqual([404, 'There is no message with this id.']);
      }
    }
    expect(await list(helpdesk)).toEqual(before);
    const { status, json } = await helpdesk.call('POST', '/drafts', { replyToMessageId: 'x' });
    expect([status, json.error]).toEqual([400, 'The body is not valid: replyToMessageId must be a UUID.']);
  });
});
