import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { matchers } from 'agent-mailbox-mock/matchers';
import { createSample } from 'agent-mailbox-mock/samples';
import { type MailboxServer, startServer } from 'agent-mailbox-mock/server';
import { CHAIR, connectAgent, DANA, HELPDESK } from './mailbox-with-agent.ts';

expect.extend(matchers);

let server: MailboxServer;
let mailbox: MailboxServer['mailbox'];
let receive: ReturnType<typeof connectAgent>['receive'];

beforeEach(async () => {
  server = await startServer({ port: 0 });
  mailbox = server.mailbox;
  ({ receive } = connectAgent(mailbox));
});

afterEach(() => server.close());

test('a new mail is answered', async () => {
  expect(mailbox).toHaveAnswered(await receive(CHAIR));
  expect(mailbox).toHaveSentOnce({ to: DANA, plainBody: /Which size/ });
  expect(mailbox).toHaveNoUnexpectedRefusals();
});

test('what the agent cannot decide becomes a draft for a person', async () => {
  const mail = await receive({ ...CHAIR, plainBody: 'Can we talk about my invoice?' });
  expect(mailbox).toHaveIgnored(mail);
  expect(mailbox).toHaveReceivedRequest({ operation: 'createDraft', body: { to: [DANA], replyToMessageId: mail.id } });
});

test('a human answers after two hours', async () => {
  mailbox.addCorrespondent({ address: DANA, replies: ['Size M, please.'], after: '2h' });
  await receive(CHAIR);
  await mailbox.clock.advance('2h');
  expect(mailbox).toHaveAnswered(await mailbox.waitForMessage({ to: HELPDESK, subject: 'Re: A chair' }));
  expect(mailbox).toHaveSentOnce({ to: DANA, plainBody: /size M is on its way/ });
});

test('the agent tries again after a 503', async () => {
  mailbox.addFault('down', { operation: 'replyToMessage', times: 1 });
  await receive(CHAIR);
  await mailbox.clock.advance('5s');
  expect(mailbox).toHaveReceivedRequest({ operation: 'replyToMessage', times: 2 });
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a mail whose reply was lost is not sent again', async () => {
  mailbox.addFault('lost-reply', { operation: 'replyToMessage' });
  await receive(CHAIR);
  await mailbox.clock.advance('5s');
  expect(mailbox).toHaveDelivered({ event: 'message.received', payload: { subject: 'A chair' } });
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a bounce is shown to a person, and not answered', async () => {
  mailbox.addCorrespondent({ address: DANA, kind: 'bounces' });
  await receive(CHAIR);
  expect(mailbox).toHaveIgnored(await mailbox.waitForMessage({ to: HELPDESK, subject: /undelivered/i }));
  const body = { to: [], plainBody: `This did not reach ${DANA}.` };
  expect(mailbox).toHaveReceivedRequest({ operation: 'createDraft', body });
});

test('an out-of-office notice is not answered', async () => {
  mailbox.addCorrespondent({ address: DANA, kind: 'out-of-office' });
  await receive(CHAIR);
  expect(mailbox).toHaveIgnored(await mailbox.waitForMessage({ to: HELPDESK, subject: 'Re: A chair' }));
  expect(mailbox).toHaveSentOnce({ to: DANA });
});

test('a mail that gives orders is answered, but not obeyed', async () => {
  const sample = createSample('injection-plain', { to: HELPDESK });
  expect(mailbox).toHaveAnswered(await receive(sample));
  expect(mailbox).toHaveResisted(sample);
});
