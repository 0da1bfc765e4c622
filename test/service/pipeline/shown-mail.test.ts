import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { OPERATION_ROWS, type OperationRow } from '../../../src/contract/operations.ts';
import { IDS } from '../../support/ids.ts';
import { type MarkedMail, partsInJournal, partsSeenIn, receiveMarked } from '../../support/marked-mail.ts';
import { senderTo } from '../../support/send.ts';

const TENANT = 'tk_acme_tenant_key';

/** A body that most operations take; what an operation does not take is refused, and then nothing is shown. */
const BODY = {
  to: 'dana@customer.test',
  subject: 'Hello',
  plainBody: 'Hello.',
  verified: true,
  isRead: true,
  name: 'new',
  username: 'new',
  url: 'http://127.0.0.1:9/x',
  events: ['message.received'],
};

/** Fills the path of an operation, about a mail where it can be about one. */
function fillPath({ path }: OperationRow, mail: MarkedMail): string {
  const values: Record<string, string> = {
    messageId: mail.id,
    threadId: mail.threadId,
    attachmentId: mail.attachmentIds[0] ?? '',
    draftId: IDS.acme.drafts.helpdesk,
    listId: IDS.acme.lists.customers,
    id: path.startsWith('/v1/inboxes/') ? IDS.acme.inboxes.helpdesk : IDS.nobody,
  };
  return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? IDS.nobody);
}

/** The behaviours that change which mail replies show. */
const BEHAVIOURS = [
  {},
  { 'messages.update.reply': 'message', 'messages.all.shape': 'messages', 'messages.shape': 'reference' },
] as const;

const ROWS = OPERATION_ROWS.flatMap((row) => BEHAVIOURS.map((behaviours, index) => ({ row, behaviours, index })));

test.for(ROWS.map((each) => [each.row.id, each.index, each] as const))(
  'the journal says what the reply of %s shows of each mail, with behaviours %i',
  async ([, , { row, behaviours }]) => {
    for (const method of row.method === 'GET' ? ['GET', 'HEAD'] : [row.method]) {
      const mailbox = createMailbox({ behaviours } as never);
      const first = await receiveMarked(mailbox, 'one');
      const second = await receiveMarked(mailbox, 'two', first.messageIdHeader);
      const sent = row.method === 'GET' ? {} : { json: BODY };
      const { status, text } = await senderTo(mailbox)(method, fillPath(row, second), { key: TENANT, ...sent });
      for (const mail of [first, second]) {
        const seen = status < 300 ? partsSeenIn(text, mail) : [];
        // The row is removed with its mail, so a mail that is gone is not among what the journal can name.
        expect([method, mail.name, partsInJournal(mailbox, mail)]).toEqual([method, mail.name, seen]);
      }
    }
  },
);

test('the operations that show content are found by the marks', async () => {
  const mailbox = createMailbox();
  const mail = await receiveMarked(mailbox, 'one');
  const showing: string[] = [];
  for (const row of OPERATION_ROWS.filter(({ method }) => method === 'GET')) {
    const { text } = await senderTo(mailbox)('GET', fillPath(row, mail), { key: TENANT });
    if (partsSeenIn(text, mail).length > 0) showing.push(row.id);
  }
  expect(showing.sort()).toEqual(
    [
      ...['getMessage', 'listMessages', 'listAllMessages', 'getThread', 'listThreads'],
      ...['getRawMessage', 'listAttachments', 'getAttachment'],
    ].sort(),
  );
});

test('the journal says what a tool of the Model Context Protocol shows of each mail', async ({ onTestFinished }) => {
  const server = await startServer({ port: 0 });
  onTestFinished(() => server.close());
  const { mailbox } = server;
  const call = async (name: string, given: object) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const headers = { 'X-API-Key': TENANT, 'Content-Type': 'application/json' };
    const response = await fetch(`${server.url}/mcp?tools=all`, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
    });
    return response.text();
  };
  const ids = (mail: MarkedMail) => ({
    id: IDS.acme.inboxes.helpdesk,
    messageId: mail.id,
    threadId: mail.threadId,
    attachmentId: mail.attachmentIds[0],
  });
  const calls: [name: string, pick: readonly string[], more?: object][] = [
    ['getMessage', ['id', 'messageId']],
    ['updateMessage', ['id', 'messageId'], { isRead: true }],
    ['listMessages', ['id']],
    ['listMessages', ['id'], { limit: 1 }],
    ['listAllMessages', [], { limit: 1 }],
    ['getThread', ['id', 'threadId']],
    ['getThread', ['id', 'threadId'], { limit: 1 }],
    ['getThread', ['id', 'threadId'], { limit: 1, offset: 1 }],
    ['listThreads', ['id']],
    ['getRawMessage', ['id', 'messageId']],
    ['listAttachments', ['id', 'messageId']],
    ['getAttachment', ['id', 'messageId', 'attachmentId']],
    ['countFolders', []],
    ['replyToMessage', ['id', 'messageId'], { plainBody: 'Yes.' }],
    ['getMessage', ['id'], { messageId: IDS.nobody }],
  ];
  for (const [name, pick, more] of calls) {
    mailbox.reset();
    const first = await receiveMarked(mailbox, 'one');
    const second = await receiveMarked(mailbox, 'two', first.messageIdHeader);
    const given = Object.fromEntries(Object.entries(ids(second)).filter(([field]) => pick.includes(field)));
    const text = await call(name, { ...given, ...more });
    for (const mail of [first, second]) {
      expect([name, more, partsInJournal(mailbox, mail)]).toEqual([name, more, partsSeenIn(text, mail)]);
    }
  }
});

test('a reply that a fault replaces shows nothing, and a body that a large reply shortens is a snippet', async () => {
  const mailbox = createMailbox();
  const mail = await receiveMarked(mailbox, 'one');
  const call = senderTo(mailbox);
  const path = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages`;
  mailbox.addFault({ on: 'request', operation: 'getMessage', status: 200, body: {}, times: 1 } as never);
  await call('GET', `${path}/${mail.id}`, { key: TENANT });
  expect(partsInJournal(mailbox, mail)).toEqual([]);
  for (let count = 0; count < 6; count += 1) {
    await mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: 'dana@customer.test',
      plainBody: 'x'.repeat(500_000),
    });
  }
  const large = await receiveMarked(mailbox, 'long');
  const { text } = await call('GET', `${path}?limit=100`, { key: TENANT });
  // The list has the newest first, so that the mail that came first is one of those that are shortened.
  expect(partsInJournal(mailbox, large)).toEqual(partsSeenIn(text, large));
  expect(partsInJournal(mailbox, mail)).toEqual(partsSeenIn(text, mail));
});

test('each file that a client reads is named, and a reply that shows nothing more has no entry', async () => {
  const mailbox = createMailbox();
  const file = (filename: string) => ({ filename, content: Buffer.from(filename).toString('base64') });
  const [{ id = '' } = {}] = await mailbox.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'dana@customer.test',
    attachments: [file('a.txt'), file('b.txt')],
  } as never);
  const ids = (mailbox.mail(id).api as never as { attachments: { id: string }[] }).attachments.map((each) => each.id);
  const call = (path: string) =>
    senderTo(mailbox)('GET', `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages/${id}${path}`, { key: TENANT });
  const entries = () => mailbox.journal({ kinds: ['read'] }).map(({ data }) => [data.parts, data.attachmentIds]);
  await call(`/attachments/${ids[0]}`);
  await call(`/attachments/${ids[0]}`);
  await call(`/attachments/${ids[1]}`);
  expect(entries()).toEqual([
    [['attachment'], [ids[0]]],
    [['attachment'], [ids[1]]],
  ]);
  await call('/raw');
  await call('');
  await call('/attachments');
  expect(entries().slice(2)).toEqual([[['raw'], ids]]);
});
