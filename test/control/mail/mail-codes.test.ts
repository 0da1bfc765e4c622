import { expect, test } from 'vitest';
import { codeOf, linkOf } from '../../../src/control/mail/mail-codes.ts';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';

interceptRequests();

const codeIn = (plainBody: string, subject = '') => codeOf({ subject, plainBody, htmlBody: null });

test.for([
  ['Your verification code is 493817.', '493817'],
  ['Your verification code, requested on 5 January 2026, is 493817.', '493817'],
  ['493 817 is your code. It expires in 10 minutes.', '493817'],
  ['Use this one-time password:\r\n\r\n  7421\r\n\r\nIt is for order 104233.', '7421'],
  ['Enter the code WDJB-MJHT on https://shop.test/device?user=123456', 'WDJB-MJHT'],
  ['Ihr Code lautet: G-204811', 'G-204811'],
  ['Su código es 55123', '55123'],
  ['Your PIN: A1B2C3', 'A1B2C3'],
  ['Your login token is k3j9x2f', 'k3j9x2f'],
  ['Hello Dana,\n\n*204811*\n\nAcme, 12345 Berlin', '204811'],
  ['Order 104233 of 2026-01-05 costs 1299 EUR. Call +49 30 123456.', undefined],
  ['Our zip code 90210 and the error code 5002', undefined],
  ['See https://shop.test/code/123456 and code@1234567.test', undefined],
  ['The decoder 123456 has no codebase', undefined],
  ['', undefined],
] as const)('the code in %j is %s', ([text, code]) => {
  expect(codeIn(text)).toBe(code ?? null);
});

test('a code is found in the subject and in HTML, too', () => {
  expect(codeIn('Hello', '730114 is your Acme code')).toBe('730114');
  const htmlBody =
    '<style>.code { width: 600px }</style><p>Your code:</p><table><tr><td><b>730114</b></td></tr></table>';
  expect(codeOf({ subject: '', plainBody: '', htmlBody })).toBe('730114');
});

test('the link is the one that does something, and not that of a logo or for unsubscribing', () => {
  const htmlBody =
    '<a href="https://shop.test/"><img src="x"></a><a href="https://shop.test/unsubscribe?token=1">No more</a>' +
    '<a href="https://shop.test/verify-email?t=abc&amp;u=1">Confirm</a>';
  expect(linkOf({ subject: '', plainBody: '', htmlBody })).toBe('https://shop.test/verify-email?t=abc&u=1');
  const plainBody = 'https://shop.test/privacy and https://shop.test/orders/7.';
  expect(linkOf({ subject: '', plainBody, htmlBody: null })).toBe('https://shop.test/orders/7');
  expect(linkOf({ subject: '', plainBody: 'https://shop.test/privacy', htmlBody: null })).toContain('privacy');
  expect(linkOf({ subject: '', plainBody: 'none', htmlBody: null })).toBeNull();
});

everywhere('who waits for a mail gets its code and its link', async (service) => {
  const { mailbox } = service;
  const wait = async () =>
    (
      await control(service, 'GET /messages/wait?to=helpdesk%40acme.test', undefined, () =>
        mailbox.waitForMessage({ to: 'helpdesk@acme.test' }),
      )
    ).json;
  const mail = { to: 'helpdesk@acme.test', from: 'login@shop.test' };
  const waiting = wait();
  await mailbox.receiveMessage({ ...mail, plainBody: 'Your code: 204811, or https://shop.test/login?t=1' });
  expect(await waiting).toMatchObject({ code: '204811', link: 'https://shop.test/login?t=1' });
  await mailbox.receiveMessage({ ...mail, plainBody: 'Welcome.' });
  expect(await wait()).toMatchObject({ plainBody: 'Welcome.', code: null, link: null });
});
