import { createMailbox } from 'agent-mailbox-mock';
import { describe, expect, test } from 'vitest';
import { linksOf, misleadingLinksOf } from '../../../src/control/mail/mail-links.ts';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { helpdesk, outreach } = IDS.acme.inboxes;
const DANA = 'Dana Reyes <dana@customer.test>';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('the inspection of mail', () => {
  everywhere('lists tenants and sandboxes with the numbers of their messages', async (service) => {
    const { mailbox } = service;
    const sandbox = mailbox.createSandbox();
    await mailbox.receiveMessage({ to: 'outreach@acme.test', from: DANA });
    const { json } = await control(service, 'GET /tenants', undefined, () => ({ tenants: mailbox.tenants() }));
    expect(json.tenants.map(({ name, isSandbox }: { name: string; isSandbox: boolean }) => [name, isSandbox])).toEqual([
      ['Acme', false],
      ['Globex', false],
      ['Acme', true],
    ]);
    expect(json.tenants[0].workspaces[1]).toMatchObject({
      name: 'Sales',
      inboxes: [{ id: outreach, address: 'outreach@acme.test', messages: 2, unread: 1 }],
    });
    expect(sandbox.tenants()).toMatchObject([{ id: sandbox.id, isSandbox: true, workspaces: [{}, {}] }]);
  });

  everywhere('searches mail, newest first, in pages', async (service) => {
    const { mailbox } = service;
    const search = async (query: string, options: Parameters<typeof mailbox.searchMail>[0]) => {
      const { json } = await control(service, `GET /messages/search?${query}`, undefined, () =>
        mailbox.searchMail(options),
      );
      return { total: json.total, subjects: json.messages.map(({ subject }: { subject: string }) => subject) };
    };
    expect(await search('limit=2', { limit: 2 })).toEqual({ total: 6, subjects: ['Opening hours', 'Shall we talk?'] });
    expect(await search('limit=2&offset=5', { limit: 2, offset: 5 })).toEqual({
      total: 6,
      subjects: ['Cannot log in'],
    });
    const inbox = { inbox: helpdesk, threads: true };
    expect(await search(`inbox=${helpdesk}&threads=true`, inbox)).toEqual({
      total: 1,
      subjects: ['Re: Cannot log in'],
    });
    expect((await search('folder=sent', { folder: 'sent' })).subjects).toEqual(['Shall we talk?', 'Re: Cannot log in']);
    expect((await search('search=INVOICE', { search: 'INVOICE' })).subjects).toEqual(['Invoice 1042']);
    expect((await search(`workspace=${UNKNOWN}`, { workspace: UNKNOWN })).total).toBe(0);
    expect((await search(`tenant=${IDS.globex.tenant}`, { tenant: IDS.globex.tenant })).total).toBe(1);
  });

  everywhere('finds mail by ids, in any folder', async (service) => {
    const { mailbox } = service;
    const [first, second] = mailbox.searchMail({ inbox: helpdesk }).messages;
    const ids = [first?.id ?? '', second?.id ?? '', UNKNOWN];
    const key = mailbox.keys.acme?.inboxes.helpdesk;
    await service.send('DELETE', `/v1/inboxes/${helpdesk}/messages/${first?.id}`, { key });
    const search = async (query: string, options: Parameters<typeof mailbox.searchMail>[0]) => {
      const { json } = await control(service, `GET /messages/search?${query}`, undefined, () =>
        mailbox.searchMail(options),
      );
      return json.messages.map(({ id }: { id: string }) => id);
    };
    expect(await search(`ids=${ids.join()}`, { ids })).toEqual([first?.id, second?.id]);
    expect(await search(`ids=${ids.join()}&folder=sent`, { ids, folder: 'sent' })).toHaveLength(2);
    expect(await search(`ids=${ids.join()}&inbox=${UNKNOWN}`, { ids, inbox: UNKNOWN })).toEqual([]);
    expect(() => mailbox.searchMail({ ids: ['x'] })).toThrow('must be the id of a message');
  });

  everywhere('searches mail by the fields that the text of a search names', async (service) => {
    const { mailbox } = service;
    const receive = (mail: object) => mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA, ...mail });
    await receive({ subject: 'Order 1042', attachments: [{ filename: 'a.txt', text: 'abc' }] });
    await receive({ subject: 'Re: the order', plainBody: 'from: the shop, 1042', cc: ['Eva <eva@shop.test>'] });
    await mailbox.receiveMessage({ to: 'billing@acme.test', from: 'Eva <eva@shop.test>', subject: 'Order "1042"' });
    const search = async (text: string) => {
      const path = `/messages/search?search=${encodeURIComponent(text)}` as const;
      const { json } = await control(service, `GET ${path}`, undefined, () => mailbox.searchMail({ search: text }));
      return { subjects: json.messages.map(({ subject }: { subject: string }) => subject), words: json.words };
    };
    const [one, two, three] = ['Order 1042', 'Re: the order', 'Order "1042"'];
    const subjectsOf = async (text: string) =>
      (await search(text)).subjects.filter((each: string) => /order/i.test(each));
    expect(await subjectsOf('from:dana')).toEqual([two, one]);
    expect(await subjectsOf('FROM:"dana reyes" order')).toEqual([two, one]);
    expect(await subjectsOf('to:eva@shop.test')).toEqual([two]);
    expect(await subjectsOf('subject:"order 1042"')).toEqual([one]);
    expect(await subjectsOf('subject:order from:eva')).toEqual([three]);
    expect(await subjectsOf('has:attachment is:unread order')).toEqual([one]);
    expect((await search('is:unread 1042 from:eva')).words).toEqual(['1042', 'eva']);
    expect((await search('from:"dana')).words).toEqual(['dana']);
    expect(await subjectsOf('"order 1042"')).toEqual([one]);
    expect(await subjectsOf('1042 ORDER dana')).toEqual([two, one]);
    expect(await subjectsOf('order 1042 nowhere')).toEqual([]);
    expect((await search('from: the  shop the')).words).toEqual(['from:', 'the', 'shop']);
    expect((await search('shop from: the')).subjects).toEqual([two]);
    expect((await search('inbox:billing 1042')).subjects).toEqual([three, 'Invoice 1042']);
    expect((await search('inbox:billing is:unread')).words).toEqual([]);
    expect((await search('has:photos')).subjects).toEqual([]);
    expect((await search('')).subjects).toHaveLength(9);
  });

  everywhere('finds the mail of a sandbox by its name, and the mail of samples', async (service) => {
    const { mailbox } = service;
    const sandbox = mailbox.createSandbox({ name: 'Worker 3' });
    const other = mailbox.createSandbox({ name: 'Worker 4' });
    await other.receiveMessage({ sample: 'no-reply', to: `helpdesk@${other.domain}` });
    await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: DANA, subject: 'Zebra 7' });
    await mailbox.receiveMessage({ sample: 'injection-plain', to: 'helpdesk@acme.test' });
    const search = async (text: string) => {
      const path = `/messages/search?search=${encodeURIComponent(text)}` as const;
      const { json } = await control(service, `GET ${path}`, undefined, () => mailbox.searchMail({ search: text }));
      return json.messages.map(({ tenantId }: { tenantId: string }) => tenantId);
    };
    const [acme] = mailbox.tenants();
    expect(await search('sandbox:"worker 3" zebra')).toEqual([sandbox.id]);
    expect(await search(`sandbox:${sandbox.domain} zebra`)).toEqual([sandbox.id]);
    expect(await search('sandbox:worker is:sample')).toHaveLength(1);
    expect(await search('is:sample inbox:helpdesk@acme.test')).toEqual([acme?.id]);
    expect(sandbox.searchMail({ search: 'is:sample' }).total).toBe(0);
  });

  everywhere('shows a mail with everything, which does not become read', async (service) => {
    const { mailbox } = service;
    const [message] = await mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: DANA,
      subject: 'Hi',
      htmlBody: '<a href="https://shop.test/a?x=1&amp;y=2">Go</a>',
      headers: { 'X-Ticket': '7' },
      attachments: [{ filename: 'grün.txt', text: 'abc' }],
    });
    const id = String(message?.id);
    const { json } = await control(service, `GET /messages/${id}`, undefined, () => mailbox.mail(id));
    expect(json).toMatchObject({
      inbox: 'helpdesk@acme.test',
      isRead: false,
      links: ['https://shop.test/a?x=1&y=2'],
      files: [{ filename: 'grün.txt', sizeBytes: 3 }],
      thread: [{ id }],
      api: { id, isRead: false, attachments: [{ filename: 'grün.txt' }] },
    });
    expect(json.headers).toContainEqual({ name: 'X-Ticket', value: '7', isTrace: false });
    expect(mailbox.mail(id).isRead).toBe(false);
  });

  everywhere('refuses what it does not know', async (service) => {
    const { mailbox } = service;
    const unknown = await control(service, `GET /messages/${UNKNOWN}`, undefined, () => mailbox.mail(UNKNOWN));
    expect([unknown.status, unknown.json.error]).toEqual([404, 'There is no message with this id.']);
    const folder = await control(service, 'GET /messages/search?folder=drafts', undefined, () =>
      mailbox.searchMail({ folder: 'drafts' as 'sent' }),
    );
    expect(folder.status).toBe(400);
    expect(folder.json.error).toMatch(/folder must be one of all, inbox, sent, starred, archived, trash/);
  });

  everywhere('gives the source and the files of a mail', async ({ mailbox, url }) => {
    const eml = 'From: a@x.test\r\nTo: helpdesk@acme.test\r\nSubject: \xe9\r\n\r\nHi\r\n';
    const bytes = Buffer.from(eml, 'latin1');
    const [message] = await mailbox.receiveMessage({ eml: bytes });
    const id = String(message?.id);
    expect(Buffer.from(mailbox.mailSource(id)).equals(bytes)).toBe(true);
    expect(() => mailbox.mailFile(id, UNKNOWN)).toThrow('The message has no file with this id.');
    if (url === mailbox.baseUrl) return;
    const source = await fetch(`${url}/__mock/messages/${id}/source`);
    expect(Buffer.from(await source.arrayBuffer()).equals(bytes)).toBe(true);
    expect(source.headers.get('content-disposition')).toBe(`attachment; filename="${id}.eml"`);
    expect((await fetch(`${url}/__mock/messages/${id}/files/${UNKNOWN}`)).status).toBe(404);
  });

  for (const trace of ['shown', 'hidden'] as const) {
    const options = { behaviours: { 'messages.raw.trace': trace } } as const;
    everywhere(
      `gives the fields and the source of a mail as /raw does, its trace ${trace}`,
      options,
      async (service) => {
        const { mailbox, send } = service;
        const forged = 'Authentication-Results: mx.evil.test; spf=pass\r\n';
        const mails = [
          { eml: `${forged}From: a@x.test\r\nTo: helpdesk@acme.test\r\n\r\nHi\r\n`, auth: { spf: 'fail' } },
          { to: 'helpdesk@acme.test', from: DANA, subject: 'Hi', htmlBody: '<p>Hi</p>', headers: { 'X-Ticket': '7' } },
        ] as const;
        for (const mail of mails) {
          const [message] = await mailbox.receiveMessage(mail);
          const id = String(message?.id);
          const path = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages/${id}/raw`;
          const raw = await send('GET', path, { key: mailbox.keys.acme.tenant });
          expect(Buffer.from(mailbox.mailSource(id)).equals(Buffer.from(raw.bytes))).toBe(true);
          const { headers } = mailbox.mail(id);
          const names = [
            ...raw.text
              .split('\r\n\r\n', 1)
              .join()
              .matchAll(/^([\w-]+):/gm),
          ].map(([, name]) => name);
          expect(headers.map(({ name }) => name)).toEqual(names);
          const added = trace === 'shown' ? ['Return-Path', 'Authentication-Results', 'Received'] : [];
          expect(headers.filter(({ isTrace }) => isTrace).map(({ name }) => name)).toEqual(added);
          expect(names.slice(0, added.length)).toEqual(added);
        }
      },
    );
  }

  test('rotates a key: the old one is invalid, and the new one does the same', () => {
    const mailbox = createMailbox();
    const { billing } = mailbox.keys.acme.inboxes;
    const before = mailbox.exposure(billing);
    const { id, key } = mailbox.rotateKey(String(before.id));
    expect(mailbox.exposure(key)).toEqual({ ...before, id, key: `${key.slice(0, 9)}…`, text: key, handle: null });
    expect(() => mailbox.exposure(billing)).toThrow('There is no valid key with this text.');
    expect(() => mailbox.rotateKey(String(before.id))).toThrow(
      'There is no key of a tenant, workspace or inbox with this id.',
    );
  });

  test('lists mail in the order in which it really arrived, also if the clocks of tenants differ', async () => {
    const mailbox = createMailbox();
    const sandbox = mailbox.createSandbox();
    sandbox.clock.advance('26h');
    for (const to of [`helpdesk@${sandbox.domain}`, 'helpdesk@acme.test', `helpdesk@${sandbox.domain}`]) {
      await mailbox.receiveMessage({ to, from: DANA, subject: 'In turn' });
    }
    const { messages } = mailbox.searchMail({ search: 'subject:"in turn"' });
    expect(messages.map(({ tenantId }) => tenantId === sandbox.id)).toEqual([true, false, true]);
  });
});

test.for([
  [
    { htmlBody: '<a href="https://a.test/">x</a><A HREF=https://b.test/x>', plainBody: '' },
    ['https://a.test/', 'https://b.test/x'],
  ],
  [{ htmlBody: `<a href='http://a.test/?a=1&amp;b=2'>`, plainBody: '' }, ['http://a.test/?a=1&b=2']],
  [{ htmlBody: '<a href="javascript:alert(1)"><a href="/relative"><a href="mailto:a@b.test">', plainBody: '' }, []],
  [
    { htmlBody: null, plainBody: 'See https://a.test/x, or (http://b.test/y).' },
    ['https://a.test/x', 'http://b.test/y'],
  ],
  [{ htmlBody: '<a href="https://a.test/x">', plainBody: 'https://a.test/x' }, ['https://a.test/x']],
] as const)('the links of %j are %j', ([mail, links], { expect }) => {
  expect(linksOf(mail)).toEqual(links);
});

test.for([
  ['https://login.evil.test/x', '<b>https://login.acme.test</b>', true],
  ['https://evil.test/', ' ACME.test ', true],
  ['https://xn--80ak6aa92e.test/', 'apple.test/login', true],
  ['https://acme.test/reset?to=1', 'https://www.acme.test/reset', false],
  ['https://click.acme.test/1', 'acme.test', false],
  ['https://files.test/1', 'report.pdf', false],
  ['https://evil.test/', 'Log in at acme.test', false],
  ['mailto:a@evil.test', 'https://acme.test', false],
] as const)('whether a link to %s with the text %j is misleading is %j', ([url, text, isMisleading], { expect }) => {
  const shown = { url, text: text.replace(/<[^>]*>/g, '').trim() };
  const htmlBody = `<p>a</p><a class=x href="${url}">${text}</a><a name=y>z</a>`;
  expect(misleadingLinksOf({ htmlBody })).toEqual(isMisleading ? [shown] : []);
});
