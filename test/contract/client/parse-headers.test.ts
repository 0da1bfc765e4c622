import { createMailbox } from 'agent-mailbox-mock';
import { parseHeaders } from 'agent-mailbox-mock/client';
import { expect, test } from 'vitest';

test('the header of a raw mail is read by lower-case names, with folded lines joined', () => {
  const raw =
    'From dana Mon Jan  5 09:00:00 2026\r\nAuto-Submitted : auto-replied\r\nLIST-ID: A list\r\n\t<a.list.test>\r\n' +
    'X-Empty:\r\nReceived: by one\r\nReceived: by two\r\nnot a field\r\n : no name\r\n\r\nPrecedence: bulk\r\n';
  const expected = {
    'auto-submitted': 'auto-replied',
    'list-id': 'A list\t<a.list.test>',
    'x-empty': '',
    received: 'by two',
  };
  expect(parseHeaders(raw)).toEqual(expected);
  expect(parseHeaders(new TextEncoder().encode(raw.replaceAll('\r\n', '\n')))).toEqual(expected);
  expect(parseHeaders('')).toEqual({});
});

test('the header is that which the mailbox shows, for mail of every sample of a program', async () => {
  const mailbox = createMailbox();
  const inbox = mailbox.ids.acme.inboxes.helpdesk;
  const client = mailbox.client(mailbox.keys.acme.inboxes.helpdesk);
  for (const sample of ['out-of-office', 'list-one-click-unsubscribe', 'bounce-unknown-user'] as const) {
    await mailbox.receiveMessage({ sample, to: 'helpdesk@acme.test' });
    const mail = mailbox.messages().at(-1);
    const parsed = parseHeaders(await client.getRawMessage(inbox, mail?.id ?? ''));
    for (const name of ['auto-submitted', 'list-id', 'precedence', 'return-path', 'message-id', 'subject']) {
      expect([sample, name, parsed[name]]).toEqual([sample, name, mail?.headers[name]]);
    }
  }
});
