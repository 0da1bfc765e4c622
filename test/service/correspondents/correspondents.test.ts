import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { control } from '../../support/control.ts';
import {
  addCorrespondent,
  arrived,
  askForCorrespondent,
  listCorrespondents,
  reply,
  START,
  write,
} from '../../support/correspondents.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const DANA = { address: 'Dana Reyes <dana@customer.test>', replies: ['Size M.', 'Thanks!'], after: '2h' };

everywhere('a person answers each mail with the next reply, after the time that was set', async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(START);
  const dana = await addCorrespondent(service, DANA);
  const sent = await write(service, 'dana@customer.test');
  await mailbox.clock.advance('119m');
  expect(arrived(service)).toEqual([]);
  await mailbox.clock.advance('1m');
  const [first] = arrived(service);
  expect(first).toMatchObject({
    from: DANA.address,
    to: ['Acme Helpdesk <helpdesk@acme.test>'],
    subject: 'Re: Your order',
    plainBody: 'Size M.',
    htmlBody: null,
    receivedAt: '2026-03-02T11:00:00.000Z',
    threadId: sent.threadId,
    inReplyTo: expect.stringContaining('@acme.test>'),
    messageIdHeader: expect.stringMatching(/^<[0-9a-f-]{36}@customer\.test>$/),
  });
  expect(first?.headers.references).toBe(first?.inReplyTo);

  for (const text of ['It is on its way.', 'Anything else?']) {
    await reply(service, arrived(service).at(-1) ?? { id: '' }, text);
    await mailbox.clock.advance('2h');
  }
  expect(arrived(service).map(({ plainBody }) => plainBody)).toEqual(['Size M.', 'Thanks!']);
  expect(new Set(arrived(service).map(({ threadId }) => threadId))).toEqual(new Set([sent.threadId]));
  expect(await listCorrespondents(service)).toEqual([{ ...dana, received: 3 }]);
});

everywhere('an answer that is due is listed with its time, who gets it, and what it answers', async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(START);
  const dana = await addCorrespondent(service, DANA);
  expect(dana.due).toEqual([]);
  await write(service, 'dana@customer.test');
  await mailbox.clock.advance('30m');
  await write(service, 'dana@customer.test', 'Once more');
  const shared = { to: 'helpdesk@acme.test', tenantId: IDS.acme.tenant };
  const due = [
    { ...shared, subject: 'Your order', at: '2026-03-02T11:00:00.000Z' },
    { ...shared, subject: 'Once more', at: '2026-03-02T11:30:00.000Z' },
  ];
  expect(await listCorrespondents(service)).toEqual([{ ...dana, received: 2, due }]);
  await mailbox.clock.advance('2h');
  expect(await listCorrespondents(service)).toEqual([{ ...dana, received: 2, due: [] }]);
});

everywhere('one advance plays the whole correspondence in the order of time', async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(START);
  await addCorrespondent(service, { ...DANA, after: '26h' });
  await addCorrespondent(service, { address: 'kim@visitor.test', replies: ['Soon.'], after: '30m' });
  await addCorrespondent(service, { address: 'lee@visitor.test', kind: 'out-of-office' });
  await write(service, ['dana@customer.test', 'kim@visitor.test', 'lee@visitor.test']);
  await mailbox.settled();
  expect(arrived(service).map(({ from }) => from)).toEqual(['lee@visitor.test']);
  await mailbox.clock.advance('3d');
  expect(arrived(service).map(({ from, receivedAt }) => [from, receivedAt])).toEqual([
    ['lee@visitor.test', START],
    ['kim@visitor.test', '2026-03-02T09:30:00.000Z'],
    [DANA.address, '2026-03-03T11:00:00.000Z'],
  ]);
});

everywhere('a reply has HTML, a subject, header fields and files', async (service) => {
  const attachments = [{ filename: 'order.txt', contentType: 'text/plain', text: 'One chair' }];
  const parts = {
    plainBody: 'See the file.',
    htmlBody: '<p>See the file.</p>',
    subject: 'My order',
    headers: { 'X-Shop': '7' },
  };
  await addCorrespondent(service, { address: 'dana@customer.test', replies: [{ ...parts, attachments }] });
  await write(service, 'dana@customer.test');
  await service.mailbox.settled();
  const [mail] = arrived(service);
  expect(mail).toMatchObject({
    subject: 'My order',
    plainBody: 'See the file.',
    htmlBody: '<p>See the file.</p>',
    headers: { 'x-shop': '7' },
    attachments: [{ filename: 'order.txt', contentType: 'text/plain', sizeBytes: 9, content: btoa('One chair') }],
  });
  const [listed] = await listCorrespondents(service);
  expect(listed?.replies?.[0]?.attachments[0]).toEqual({
    filename: 'order.txt',
    contentType: 'text/plain',
    content: btoa('One chair'),
  });
});

everywhere('an answer goes to Reply-To, and not to the sender', async (service) => {
  await addCorrespondent(service, { ...DANA, after: 0 });
  await write(service, 'dana@customer.test', 'Invoice', { replyTo: 'billing@acme.test' });
  await service.mailbox.settled();
  expect(arrived(service)).toEqual([]);
  expect(arrived(service, 'billing@acme.test')).toMatchObject([{ subject: 'Re: Invoice', plainBody: 'Size M.' }]);
});

everywhere('mail to a correspondent at a domain of the emulator does not bounce', async (service) => {
  const { mailbox } = service;
  await addCorrespondent(service, { address: 'boss@acme.test', replies: ['Approved.'] });
  await write(service, 'boss@acme.test', 'Refund?');
  await mailbox.settled();
  expect(arrived(service)).toMatchObject([{ from: 'boss@acme.test', plainBody: 'Approved.' }]);
  const [sent] = mailbox.messages({ to: 'boss@acme.test', direction: 'outbound' });
  const acme = mailbox.snapshot().tenants.find(({ id }) => id === IDS.acme.tenant);
  expect(acme?.messages.find(({ id }) => id === sent?.id)?.bouncedAt).toBeNull();
});

everywhere('a correspondent of one tenant answers no other, and comes before one of any tenant', async (service) => {
  const { mailbox, send } = service;
  await addCorrespondent(service, { ...DANA, after: 0, replies: ['any'] });
  await addCorrespondent(service, { ...DANA, after: 0, replies: ['globex'], tenant: IDS.globex.tenant.toUpperCase() });
  await send('POST', `/v1/inboxes/${IDS.globex.inboxes.info}/send`, {
    key: mailbox.keys.globex.tenant,
    json: { to: 'dana@customer.test', subject: 'Hi', plainBody: 'Hi', verified: true },
  });
  await write(service, 'dana@customer.test');
  await mailbox.settled();
  expect(arrived(service, 'info@globex.test').map(({ plainBody }) => plainBody)).toEqual(['globex']);
  expect(arrived(service).map(({ plainBody }) => plainBody)).toEqual(['any']);
});

everywhere('a removed correspondent does not answer any more', async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(START);
  const dana = await addCorrespondent(service, DANA);
  const kim = await addCorrespondent(service, { ...DANA, address: 'kim@visitor.test' });
  await write(service, ['dana@customer.test', 'kim@visitor.test']);
  const removed = await control(service, `DELETE /correspondents/${dana.id.toUpperCase()}`, undefined, () =>
    mailbox.removeCorrespondent(dana.id.toUpperCase()),
  );
  expect([removed.status, removed.json]).toEqual([200, { ...dana, received: 1 }]);
  await mailbox.clock.advance('3h');
  expect(arrived(service)).toMatchObject([{ from: 'kim@visitor.test' }]);
  expect(await listCorrespondents(service)).toEqual([{ ...kim, received: 1 }]);
  const again = await control(service, `DELETE /correspondents/${dana.id}`, undefined, () =>
    mailbox.removeCorrespondent(dana.id),
  );
  expect([again.status, again.json.error]).toEqual([404, 'There is no correspondent with this id.']);
  await control(service, 'DELETE /correspondents', undefined, () => mailbox.clearCorrespondents());
  expect(await listCorrespondents(service)).toEqual([]);
});

everywhere('a reset removes every correspondent and every answer that is due', async (service) => {
  const { mailbox } = service;
  await addCorrespondent(service, DANA);
  await write(service, 'dana@customer.test');
  mailbox.reset();
  await mailbox.clock.advance('3d');
  expect([arrived(service), await listCorrespondents(service)]).toEqual([[], []]);
});

everywhere('a checkpoint has the correspondents, and the answers that are due', async (service) => {
  const { mailbox } = service;
  mailbox.clock.freeze(START);
  const dana = await addCorrespondent(service, DANA);
  await write(service, 'dana@customer.test');
  mailbox.checkpoint('asked');
  mailbox.clearCorrespondents();
  await addCorrespondent(service, { address: 'kim@visitor.test', kind: 'out-of-office' });
  const diff = mailbox.diff('asked', 'now');
  expect(Object.keys(diff.removed.correspondents ?? {})).toEqual([dana.id]);
  expect(Object.values(diff.added.correspondents ?? {})).toMatchObject([{ address: 'kim@visitor.test' }]);
  for (const _ of [1, 2]) {
    mailbox.restore('asked');
    const due = [{ subject: 'Your order', at: '2026-03-02T11:00:00.000Z' }];
    expect(await listCorrespondents(service)).toMatchObject([{ ...dana, received: 1, due }]);
    await mailbox.clock.advance('2h');
    expect(arrived(service).map(({ plainBody }) => plainBody)).toEqual(['Size M.']);
  }
});

everywhere('options that are not valid are refused with the place of each problem', async (service) => {
  const refuse = async (options: unknown) => {
    const { status, json } = await askForCorrespondent(service, options);
    return [status, json.error];
  };
  const address = 'dana@customer.test';
  const start = 'The correspondent is not valid:';
  const replies = 'replies must be a list of 1 to 1000 replies, or in code a function';
  expect(await refuse({ replies: ['Hi'] })).toEqual([400, `${start} address is required.`]);
  expect(await refuse({ address })).toEqual([400, `${start} ${replies}.`]);
  expect(await refuse({ address, replies: [] })).toEqual([400, `${start} ${replies}.`]);
  expect(await refuse({ address, replies: 'Hi' })).toEqual([400, `${start} ${replies}.`]);
  expect(await refuse({ address, replies: ['Hi', 7] })).toEqual([
    400,
    `${start} replies[1] must be a text, or an object with plainBody, htmlBody, subject, headers or attachments.`,
  ]);
  expect(await refuse({ address, replies: [{ txt: 'Hi' }] })).toEqual([
    400,
    `${start} replies[0] has unknown fields: "txt".`,
  ]);
  expect(await refuse({ address, kind: 'robot' })).toEqual([
    400,
    `${start} kind must be one of person, out-of-office, autoresponder, ticket-system, mailing-list, bounces.`,
  ]);
  expect(await refuse({ address, kind: 'bounces', replies: ['Hi'] })).toEqual([
    400,
    `${start} has unknown fields: "replies".`,
  ]);
  expect(await refuse({ address, kind: 'bounces', status: '4.2.2' })).toEqual([
    400,
    `${start} status must be a status code of RFC 3463 that begins with 5.`,
  ]);
  expect(await refuse({ address, replies: ['Hi'], quoting: 'pine' })).toEqual([
    400,
    `${start} quoting must be one of none, gmail, outlook, apple-mail, thunderbird.`,
  ]);
  expect(await refuse({ address: 'success@simulator.test', replies: ['Hi'] })).toEqual([
    400,
    `${start} address must not be at simulator.test.`,
  ]);
  expect(await refuse({ address, replies: ['Hi'], tenant: IDS.nobody })).toEqual([
    404,
    'There is no tenant with this id.',
  ]);
  expect(await refuse({ address: 'helpdesk+1@acme.test', replies: ['Hi'] })).toEqual([
    409,
    'An inbox has the address helpdesk+1@acme.test.',
  ]);
  await addCorrespondent(service, DANA);
  expect(await refuse({ address: 'DANA@customer.test', kind: 'bounces' })).toEqual([
    409,
    'A correspondent already has the address dana@customer.test; remove it first.',
  ]);
});

everywhere('a correspondent of a sandbox answers in this sandbox only', async (service) => {
  const { mailbox, url } = service;
  const [one, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
  const answer = await control(service, `POST /correspondents?sandbox=${one.id}`, { ...DANA, after: '1h' }, () =>
    one.addCorrespondent({ ...DANA, after: '1h' }),
  );
  expect(answer.json).toMatchObject({ tenantId: one.id });
  expect([one, other, mailbox].map((each) => each.correspondents().length)).toEqual([1, 0, 1]);
  for (const { ids, keys } of [one, other]) {
    await fetch(`${url}/v1/inboxes/${ids.inboxes.helpdesk}/send`, {
      method: 'POST',
      headers: { 'X-API-Key': keys.tenant, 'Content-Type': 'application/json' },
      body: JSON.stringify({ to: 'dana@customer.test', subject: 'Hi', plainBody: 'Hi', verified: true }),
    });
  }
  await Promise.all([one.clock.advance('1h'), other.clock.advance('1h')]);
  const texts = [one, other].map((each) => each.messages({ direction: 'inbound' }).map(({ plainBody }) => plainBody));
  expect(texts).toEqual([['Size M.'], []]);
  one.reset();
  expect(one.correspondents()).toEqual([]);
});

test('a sandbox that is closed takes its correspondents with it', () => {
  const mailbox = createMailbox();
  const sandbox = mailbox.createSandbox();
  sandbox.addCorrespondent(DANA);
  sandbox.close();
  expect(mailbox.correspondents()).toEqual([]);
});

test('each tenant and each sandbox has its own limit of correspondents, as has the mailbox', () => {
  const mailbox = createMailbox();
  const [one, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
  const kind = 'autoresponder';
  const fill = (owner: Pick<typeof one, 'addCorrespondent'>, count: number) => {
    for (let number = 0; number < count; number += 1)
      owner.addCorrespondent({ address: `c${number}@customer.test`, kind });
  };
  const add = (owner: Pick<typeof one, 'addCorrespondent'>, options = {}) =>
    owner.addCorrespondent({ address: 'one-more@customer.test', kind, ...options });
  fill(one, 1_000);
  expect(() => add(one)).toThrow('The tenant or sandbox has 1000 correspondents; remove one before you add another.');
  expect(add(other).tenantId).toBe(other.id);
  expect(add(mailbox, { tenant: IDS.globex.tenant }).tenantId).toBe(IDS.globex.tenant);
  fill(mailbox, 1_000);
  expect(() => add(mailbox)).toThrow('The mailbox has 1000 correspondents; remove one before you add another.');
  one.removeCorrespondent(String(one.correspondents()[0]?.id));
  expect(add(one).tenantId).toBe(one.id);
});

test('correspondents are listed in the order in which they were added, also after a checkpoint', () => {
  const mailbox = createMailbox();
  const sandbox = mailbox.createSandbox();
  const add = (owner: Pick<typeof sandbox, 'addCorrespondent'>, name: string) =>
    owner.addCorrespondent({ address: `${name}@customer.test`, kind: 'autoresponder' });
  add(mailbox, 'a');
  add(sandbox, 'b');
  add(mailbox, 'c');
  const listed = () => mailbox.correspondents().map(({ address }) => address[0]);
  expect(listed()).toEqual(['a', 'b', 'c']);
  mailbox.checkpoint('two');
  mailbox.restore('two');
  mailbox.addCorrespondent({ address: 'd@customer.test', kind: 'autoresponder', tenant: IDS.acme.tenant });
  add(mailbox, 'e');
  expect(listed()).toEqual(['a', 'c', 'd', 'e']);
});
