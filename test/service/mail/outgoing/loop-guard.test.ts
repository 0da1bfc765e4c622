import { createMailbox, type Mailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { isInProcess, sendControl } from '../../../support/control.ts';
import { arrived, reply, START, write } from '../../../support/correspondents.ts';
import { everywhere, interceptRequests, type Service } from '../../../support/everywhere.ts';
import { IDS } from '../../../support/ids.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';

interceptRequests();

const { helpdesk } = IDS.acme.inboxes;
const { info } = IDS.globex.inboxes;

/** Makes an inbox answer each mail that arrives, until a mail does not arrive. Returns how many mails arrived. */
async function answerEachOther({ mailbox, send }: Service, atMost = 200): Promise<number> {
  const keys: Record<string, string> = { [helpdesk]: mailbox.keys.acme.tenant, [info]: mailbox.keys.globex.tenant };
  const json = { to: 'info@globex.test', subject: 'Hello', plainBody: 'Hello', verified: true };
  await send('POST', `/v1/inboxes/${helpdesk}/send`, { key: mailbox.keys.acme.tenant, json });
  let since: string | undefined;
  for (let count = 0; ; count += 1) {
    const [mail] = mailbox.messages({ direction: 'inbound', since });
    if (!mail || count === atMost) return count;
    since = mail.id;
    const key = keys[mail.inboxId] ?? '';
    await send('POST', `/v1/inboxes/${mail.inboxId}/reply/${mail.id}`, { key, json: { plainBody: 'Thanks!' } });
  }
}

const HI = { to: 'dana@customer.test', subject: 'Hi', plainBody: 'Hi', verified: true };

/** Returns a function that calls the service for Acme's helpdesk. */
function callAsHelpdesk({ keys, fetch: fetchInProcess, baseUrl }: Mailbox, url: string) {
  const send = url === baseUrl ? fetchInProcess : fetch;
  return (path: string, json: object) =>
    send(
      new Request(`${url}/v1/inboxes/${helpdesk}/${path}`, {
        method: 'POST',
        headers: { 'X-API-Key': keys.acme.tenant, 'Content-Type': 'application/json' },
        body: JSON.stringify(json),
      }),
    );
}

async function settle({ mailbox, url, ...rest }: Service) {
  if (isInProcess({ mailbox, url, ...rest })) return mailbox.settled();
  return (await sendControl(`${url}/__mock/settle`, 'POST', { json: {} })).json;
}

const REASON =
  'helpdesk@acme.test and info@globex.test exchanged more than 50 mails within a minute, so "Re: Hello" from helpdesk@acme.test is held. If this is not a loop, set a higher loopLimit.';

everywhere('two inboxes that answer each mail stop after 50 mails, and settled says why', async (service) => {
  const { mailbox } = service;
  expect(await answerEachOther(service)).toBe(50);
  expect((await settle(service)).held).toEqual([
    {
      tenantId: IDS.acme.tenant,
      from: 'helpdesk@acme.test',
      to: 'info@globex.test',
      subject: 'Re: Hello',
      messageIdHeader: expect.stringMatching(/^<.+@acme\.test>$/),
      heldAt: expect.any(String),
      reason: REASON,
    },
  ]);
  expect(mailbox.messages({ direction: 'outbound' })).toHaveLength(51);
  mailbox.reset();
  expect(await settle(service)).not.toHaveProperty('held');
});

everywhere('the number is a setting', { loopLimit: 7 }, async (service) => {
  expect(await answerEachOther(service)).toBe(7);
});

everywhere('one mail may be the limit', { loopLimit: 1 }, async (service) => {
  expect(await answerEachOther(service)).toBe(1);
});

everywhere('a correspondence that takes longer than a minute is no loop', { loopLimit: 4 }, async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(START);
  mailbox.addCorrespondent({ address: 'dana@customer.test', replies: () => 'And?', after: '31s' });
  await write(service, 'dana@customer.test');
  for (let count = 1; count <= 20; count += 1) {
    await mailbox.clock.advance('31s');
    expect(arrived(service)).toHaveLength(count);
    await reply(service, arrived(service).at(-1) ?? { id: '' });
  }
  expect(await settle(service)).not.toHaveProperty('held');
});

everywhere('mail in one direction is no loop, and other addresses go on', { loopLimit: 5 }, async (service) => {
  const { mailbox } = service;
  for (let count = 0; count < 30; count += 1) await write(service, 'info@globex.test');
  expect(mailbox.messages({ to: 'info@globex.test', direction: 'inbound' })).toHaveLength(30);
  expect(await settle(service)).not.toHaveProperty('held');
  await answerEachOther(service);
  await write(service, 'billing@acme.test');
  expect(mailbox.messages({ to: 'billing@acme.test', direction: 'inbound' })).toHaveLength(1);
});

everywhere('after the clock was set back, mail of the later time is no loop', { loopLimit: 6 }, async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(new Date(Date.parse(START) + 86_400_000));
  expect(await answerEachOther(service)).toBe(6);
  mailbox.clock.freeze(START);
  await write(service, 'info@globex.test', 'A day before');
  const subjects = mailbox.messages({ to: 'info@globex.test', direction: 'inbound' }).map(({ subject }) => subject);
  expect(subjects).toContain('A day before');
});

everywhere('held mail goes on after a minute', { loopLimit: 6 }, async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(START);
  expect(await answerEachOther(service)).toBe(6);
  await write(service, 'info@globex.test', 'Still held');
  await mailbox.clock.advance('61s');
  await write(service, 'info@globex.test', 'Later');
  const subjects = mailbox.messages({ to: 'info@globex.test', direction: 'inbound' }).map(({ subject }) => subject);
  expect([subjects.includes('Still held'), subjects.at(-1)]).toEqual([false, 'Later']);
});

test('of the mail that is held, the latest 100 are listed', async () => {
  const mailbox = createMailbox({ loopLimit: 1 });
  mailbox.clock.freeze(START);
  const write = async (from: 'acme' | 'globex', inbox: string, to: string, subject: string) => {
    const headers = { 'X-API-Key': mailbox.keys[from].tenant, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ to, subject, plainBody: 'Hi', verified: true });
    await mailbox.fetch(`${mailbox.baseUrl}/v1/inboxes/${inbox}/send`, { method: 'POST', headers, body });
  };
  await write('acme', helpdesk, 'info@globex.test', 'First');
  for (let number = 1; number <= 102; number += 1) await write('globex', info, 'helpdesk@acme.test', `${number}`);
  const { held = [] } = await mailbox.settled({ timeout: PATIENCE_MS });
  expect(held.map(({ subject }) => Number(subject))).toEqual(Array.from({ length: 100 }, (_, index) => index + 3));
});

test('two correspondents, and an agent that forwards the mail of one to the other, stop', async () => {
  const mailbox = createMailbox();
  for (const address of ['dana@customer.test', 'kim@visitor.test']) {
    mailbox.addCorrespondent({ address, replies: () => 'Please ask the other.' });
  }
  const call = callAsHelpdesk(mailbox, mailbox.baseUrl);
  const start = { to: 'dana@customer.test', subject: 'Chairs', plainBody: 'Who knows?', verified: true };
  await call('send', start);
  await mailbox.settled();
  const inbound = () => mailbox.messages({ to: 'helpdesk@acme.test', direction: 'inbound' });
  let count = 0;
  for (; inbound().length > count && count < 300; count += 1) {
    const { id = '', from = '' } = inbound()[count] ?? {};
    await call(`forward/${id}`, {
      to: from === 'dana@customer.test' ? 'kim@visitor.test' : 'dana@customer.test',
      verified: true,
    });
    await mailbox.settled();
  }
  expect(count).toBeLessThan(100);
  const { held = [] } = await mailbox.settled();
  expect(held.map(({ reason }) => reason)).toEqual([expect.stringContaining('exchanged more than 50 mails')]);
});

test('an inbox that answers itself stops', async () => {
  const mailbox = createMailbox({ loopLimit: 10 });
  const call = callAsHelpdesk(mailbox, mailbox.baseUrl);
  await call('send', { to: 'helpdesk@acme.test', subject: 'Note', plainBody: 'Note', verified: true });
  const inbound = () => mailbox.messages({ to: 'helpdesk@acme.test', direction: 'inbound' });
  for (let count = 0; inbound().length > count && count < 100; count += 1) {
    await call(`reply/${inbound()[count]?.id}`, { plainBody: 'Thanks!' });
  }
  expect(inbound()).toHaveLength(10);
});

test('the log and the feed say why a mail is held', async () => {
  const lines: string[] = [];
  await using server = await startServer({ port: 0, loopLimit: 2, log: (line) => lines.push(line) });
  const { mailbox, url } = server;
  const feed = mailbox.feed()[Symbol.asyncIterator]();
  mailbox.addCorrespondent({ address: 'dana@customer.test', replies: () => 'And?' });
  const call = callAsHelpdesk(mailbox, url);
  await call('send', HI);
  await mailbox.settled();
  await call('send', HI);
  const reason =
    'helpdesk@acme.test and dana@customer.test exchanged more than 2 mails within a minute, so "Hi" from helpdesk@acme.test is held. If this is not a loop, set a higher loopLimit.';
  expect(lines).toContainEqual(expect.stringContaining(`mail               !   held: ${reason}`));
  for (;;) {
    const { value } = await feed.next();
    if (value?.kind !== 'mail-held') continue;
    const data = { tenantId: IDS.acme.tenant, to: 'dana@customer.test', subject: 'Hi', reason };
    expect(value).toMatchObject({ tenantId: IDS.acme.tenant, data });
    break;
  }
});

everywhere('the loop of a sandbox is held in this sandbox only', { loopLimit: 3 }, async ({ mailbox, url }) => {
  const [one, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
  one.addCorrespondent({ address: 'dana@customer.test', replies: () => 'And?' });
  for (let count = 0; count < 4; count += 1) {
    await fetch(`${url}/v1/inboxes/${one.ids.inboxes.helpdesk}/send`, {
      method: 'POST',
      headers: { 'X-API-Key': one.keys.tenant, 'Content-Type': 'application/json' },
      body: JSON.stringify(HI),
    });
    await one.settled();
  }
  const held = await Promise.all([one, other, mailbox].map(async (each) => (await each.settled()).held?.length));
  expect(held).toEqual([3, undefined, undefined]);
  one.reset();
  expect(await one.settled()).not.toHaveProperty('held');
});

test.each([0, -1, 1.5, 1_000_001, '10' as never])('the loop limit cannot be %s', (loopLimit) => {
  expect(() => createMailbox({ loopLimit })).toThrow(
    new RangeError(`The option loopLimit must be a whole number from 1 to 1000000, not ${JSON.stringify(loopLimit)}.`),
  );
});
