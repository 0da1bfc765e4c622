import { expect, test } from 'vitest';
import { type Quoting, quoteBelow } from '../../../../src/service/mail/correspondents/quoting.ts';
import { addCorrespondent, arrived, START, write } from '../../../support/correspondents.ts';
import { everywhere, interceptRequests } from '../../../support/everywhere.ts';

interceptRequests();

const MAIL = {
  from: '"Acme, Help" <helpdesk@acme.test>',
  to: ['dana@customer.test'],
  cc: ['kim@visitor.test'],
  subject: 'Your order',
  plainBody: 'Which size?\n> M or L\n',
  htmlBody: null,
  messageIdHeader: '<1@acme.test>',
  receivedAt: '2026-03-02T13:05:00.000Z',
};

const TEXTS: readonly [Quoting, string][] = [
  ['none', 'M.'],
  [
    'gmail',
    'M.\n\nOn Mon, Mar 2, 2026 at 1:05 PM Acme, Help <helpdesk@acme.test> wrote:\n\n> Which size?\n>> M or L\n',
  ],
  [
    'outlook',
    'M.\n\n________________________________\nFrom: Acme, Help <helpdesk@acme.test>\nSent: Monday, March 2, 2026 1:05 PM\nTo: <dana@customer.test>\nCc: <kim@visitor.test>\nSubject: Your order\n\nWhich size?\n> M or L\n\n',
  ],
  [
    'apple-mail',
    'M.\n\n> On Mar 2, 2026, at 1:05 PM, Acme, Help <helpdesk@acme.test> wrote:\n> \n> Which size?\n>> M or L\n',
  ],
  ['thunderbird', 'M.\n\nOn 3/2/26 1:05 PM, Acme, Help wrote:\n> Which size?\n>> M or L\n'],
];

test.each(TEXTS)('a quote in the style %s stands below the answer', (quoting, text) => {
  expect(quoteBelow(quoting, { plainBody: 'M.', htmlBody: null }, MAIL).plainBody).toBe(text);
});

const MARKS: readonly [Quoting, RegExp][] = [
  ['gmail', /^<p>M<\/p><br><div class="gmail_quote .*<blockquote class="gmail_quote" .*&lt;helpdesk@acme\.test&gt;|./],
  ['outlook', /<div id="divRplyFwdMsg"/],
  ['apple-mail', /<blockquote type="cite"><div>On Mar 2/],
  ['thunderbird', /<div class="moz-cite-prefix">.*<blockquote type="cite" cite="mid:1@acme\.test">/],
];

test.each(MARKS)('the HTML of the style %s has the marks of this client', (quoting, marks) => {
  const { htmlBody } = quoteBelow(
    quoting,
    { plainBody: 'M', htmlBody: '<p>M</p>' },
    { ...MAIL, htmlBody: '<b>Size?</b>' },
  );
  expect(htmlBody).toMatch(/^<p>M<\/p>/);
  expect(htmlBody).toMatch(marks);
  expect(htmlBody).toContain('<b>Size?</b>');
});

test.each([
  ['00:05', '12:05 AM'],
  ['11:59', '11:59 AM'],
  ['12:30', '12:30 PM'],
])('a quote shows the time %s as %s', (time, shown) => {
  const mail = { ...MAIL, receivedAt: `2026-03-02T${time}:00.000Z` };
  expect(quoteBelow('thunderbird', { plainBody: 'M.', htmlBody: null }, mail).plainBody).toContain(` ${shown}, `);
});

test('what a plain text has of HTML is escaped in a quote', () => {
  const mail = { ...MAIL, plainBody: '<script>', from: '"<img>" <a@acme.test>' };
  for (const quoting of ['gmail', 'outlook', 'apple-mail', 'thunderbird'] as const) {
    const { htmlBody } = quoteBelow(quoting, { plainBody: '<i>', htmlBody: null }, mail);
    expect(htmlBody).not.toMatch(/<script>|<img>|<i>/);
  }
});

everywhere('a person can quote the mail as their client does', async (service) => {
  service.mailbox.clock.freeze(START);
  await addCorrespondent(service, { address: 'dana@customer.test', replies: ['M.'], quoting: 'gmail', after: '1h' });
  await write(service, 'dana@customer.test');
  await service.mailbox.clock.advance('1h');
  expect(arrived(service)).toMatchObject([
    {
      plainBody: 'M.\n\nOn Mon, Mar 2, 2026 at 9:00 AM Acme Helpdesk <helpdesk@acme.test> wrote:\n\n> Which size?\n',
      htmlBody: expect.stringContaining('gmail_quote'),
    },
  ]);
});
