import { createMailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { isAutomatic } from '../../../src/service/mail/correspondents/answers.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';
import { hook, startReceiver } from '../../support/webhooks.ts';

interceptRequests();

const mailOf = (...lines: string[]) => [...lines, '', 'Hello', ''].join('\r\n');

/** Senders that no mail can reach: their field, how they are shown, the bare address, and why. */
const UNREACHABLE: Readonly<Record<string, readonly [field: string, shown: string, bare: string, why: string]>> = {
  'a name and no domain': [
    'From: Mail Delivery System <MAILER-DAEMON>',
    'Mail Delivery System <MAILER-DAEMON>',
    'mailer-daemon',
    'has no domain',
  ],
  'a comment and no domain': ['From: root (Cron Daemon)', 'Cron Daemon <root>', 'root', 'has no domain'],
  'a word alone': ['From: root', 'root', 'root', 'has no domain'],
  'a name alone': ['From: John Smith', 'John Smith', 'john smith', 'is not an address'],
  'a name in quotes alone': ['From: "bo@x.test"', '"bo@x.test"', '"bo@x.test"', 'is not an address'],
  'a name that is encoded, alone': [
    'From: =?utf-8?q?J=C3=B6rg_M=C3=BCller?=',
    'Jörg Müller',
    'jörg müller',
    'is not an address',
  ],
  'a domain alone': ['From: Bo <@x.test>', 'Bo <@x.test>', '@x.test', 'is not a valid address'],
};

describe('a sender to whom no mail can be sent', () => {
  for (const [title, [field, shown, bare, why]] of Object.entries(UNREACHABLE)) {
    everywhere(`is shown as the header has it, and a reply says why it cannot be sent: ${title}`, async (service) => {
      const { helpdesk } = openInboxClients(service);
      const { mailbox } = service;
      const [arrived] = await mailbox.receiveMessage({
        eml: mailOf(field, 'Sender: other@x.test', 'Subject: Hi'),
        to: ADDRESS.helpdesk,
        envelopeFrom: 'envelope@x.test',
      });
      const { json } = await helpdesk.call('GET', `/messages/${arrived?.id}`);
      expect(json.from).toBe(bare);
      const mail = mailbox.messages().at(-1);
      expect(mail?.from).toBe(shown);
      const sentence = `${JSON.stringify(shown)} ${why}`;
      expect(mail?.problems).toEqual([`The sender ${sentence}, so no mail can be sent to it.`]);
      for (const path of ['reply', 'reply-all']) {
        const reply = await helpdesk.call('POST', `/${path}/${arrived?.id}`, { plainBody: 'Yes.' });
        expect([reply.status, reply.json.code]).toEqual([400, 'VALIDATION_ERROR']);
        expect(JSON.stringify(reply.json)).toContain(
          JSON.stringify(`This message cannot be replied to: its sender ${sentence}.`).slice(1, -1),
        );
      }
    });
  }

  everywhere('is in the payload of webhooks and in the text of a forwarded mail', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { mailbox } = service;
    await using receiver = startReceiver(service);
    await hook(service, receiver);
    const [arrived] = await mailbox.receiveMessage({
      eml: mailOf('From: root (Cron Daemon)', 'Subject: Hi'),
      to: ADDRESS.helpdesk,
    });
    const forwarded = await helpdesk.call('POST', `/forward/${arrived?.id}`, { to: ADDRESS.dana, verified: true });
    expect(forwarded.status).toBe(200);
    expect(mailbox.messages().at(-1)?.plainBody).toContain('From: Cron Daemon <root>');
    const [event] = await receiver.received(1);
    expect(event?.body).toContain('"Cron Daemon <root>"');
  });

  everywhere('gives way to a usable address after it in the same field', async (service) => {
    await service.mailbox.receiveMessage({ eml: mailOf('From: Smith, John <j@x.test>'), to: ADDRESS.helpdesk });
    expect(service.mailbox.messages().at(-1)?.from).toBe('John <j@x.test>');
  });

  test('counts as a program by its name alone', () => {
    const from = ['Mail <MAILER-DAEMON>', 'postmaster', 'noreply', 'owner-list', 'list-request', 'a-bounces', 'dana'];
    expect(from.map((each) => isAutomatic({ from: each, headers: {} }))).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });
});

describe('recipients to whom no mail can be sent', () => {
  everywhere('are shown as the header has them, and a reply to all leaves them out', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { mailbox } = service;
    const [arrived] = await mailbox.receiveMessage({
      eml: mailOf(
        'From: dana@customer.test',
        `To: undisclosed-recipients:;, root, ${ADDRESS.helpdesk}, Team <team>`,
        'Cc: John Smith, ed@customer.test, <@a.test:al@customer.test>, "a b"@customer.test',
      ),
    });
    const mail = mailbox.messages().at(-1);
    expect(mail?.to).toEqual(['root', ADDRESS.helpdesk, 'Team <team>']);
    expect(mail?.cc).toEqual(['John Smith', 'ed@customer.test', 'al@customer.test', '"a b"@customer.test']);
    expect(mail?.problems).toEqual([
      'The recipient in To "root" has no domain, so no mail can be sent to it.',
      'The recipient in To "Team <team>" has no domain, so no mail can be sent to it.',
      'The recipient in Cc "John Smith" is not an address, so no mail can be sent to it.',
    ]);
    const reply = await helpdesk.call('POST', `/reply-all/${arrived?.id}`, { plainBody: 'Yes.' });
    expect(reply.status).toBe(200);
    const sent = mailbox.messages().at(-1);
    expect([sent?.to, sent?.cc]).toEqual([
      ['dana@customer.test'],
      ['ed@customer.test', 'al@customer.test', '"a b"@customer.test'],
    ]);
  });

  everywhere('are named if the mail has no other recipient', async (service) => {
    const receiving = service.mailbox.receiveMessage({ eml: mailOf('From: a@b.test', 'To: root, Team <team>') });
    await expect(receiving).rejects.toThrow('There is no inbox with the address root, Team <team>.');
  });

  everywhere('give way in Reply-To to a usable address, and otherwise a reply names them', async (service) => {
    const { helpdesk } = openInboxClients(service);
    const { mailbox } = service;
    const reply = async (field: string) => {
      const eml = mailOf('From: dana@customer.test', `Reply-To: ${field}`);
      const [arrived] = await mailbox.receiveMessage({ eml, to: ADDRESS.helpdesk });
      return helpdesk.call('POST', `/reply/${arrived?.id}`, { plainBody: 'Yes.' });
    };
    expect((await reply('desk, ed@customer.test')).status).toBe(200);
    expect(mailbox.messages().at(-1)?.to).toEqual(['ed@customer.test']);
    const refused = await reply('desk');
    expect(JSON.stringify(refused.json)).toContain('its Reply-To \\"desk\\" has no domain.');
  });
});

everywhere('a mail with two From fields says so', async (service) => {
  const eml = mailOf('From: a@customer.test', 'From: b@evil.test');
  await service.mailbox.receiveMessage({ eml, to: ADDRESS.helpdesk });
  const mail = service.mailbox.messages().at(-1);
  expect([mail?.from, mail?.problems]).toEqual([
    'a@customer.test',
    ['The mail has 2 From fields, and only the first is read.'],
  ]);
});

test('a fixture has addresses without a domain in angle brackets, and a name without an address in quotes', () => {
  const fixtures = {
    tenants: {
      acme: {
        workspaces: {
          main: {
            inboxes: {
              desk: {
                username: 'desk',
                domain: 'acme.test',
                messages: [
                  { from: '<root>', to: ['desk@acme.test', 'Team <team>'], cc: ['"John Smith"', 'a..b@localhost'] },
                  { from: 'Mail <MAILER-DAEMON>', replyTo: '<root>' },
                ],
              },
            },
          },
        },
      },
    },
  };
  const [acme] = createMailbox({ fixtures }).snapshot().tenants;
  expect(acme?.messages.map(({ from, to, cc, replyTo }) => [from, to, cc, replyTo])).toEqual([
    ['root', ['desk@acme.test', 'Team <team>'], ['John Smith', 'a..b@localhost'], null],
    ['Mail <MAILER-DAEMON>', ['desk@acme.test'], [], 'root'],
  ]);
});

everywhere('a reply goes to each address in Reply-To, once', async (service) => {
  const { helpdesk } = openInboxClients(service);
  const [arrived] = await service.mailbox.receiveMessage({
    eml: mailOf(
      'From: a@x.test',
      'Reply-To: Bo <b@x.test>,',
      ' "C, C" <c@x.test>, B@X.test, no address',
      'Reply-To: Team: d@x.test;',
      'Subject: Hi',
    ),
    to: ADDRESS.helpdesk,
  });
  const { json } = await helpdesk.call('POST', `/reply/${arrived?.id}`, { plainBody: 'Yes.' });
  const recipients = ['Bo <b@x.test>', '"C, C" <c@x.test>', 'd@x.test'];
  expect(service.mailbox.messages({ direction: 'outbound' })).toMatchObject([{ id: json.id, to: recipients }]);
  const drafted = await helpdesk.call('POST', '/drafts', { replyToMessageId: arrived?.id, plainBody: 'Later.' });
  await helpdesk.call('POST', `/drafts/${drafted.json.id}/send`);
  expect(service.mailbox.messages({ direction: 'outbound' }).at(-1)?.to).toEqual(recipients);
});
