import { describe, test } from 'vitest';
import { findViolations } from '../../find-violations.ts';
import { answerNext, useInspector } from '../../open-inspector.ts';

const open = useInspector();

const DANA = 'Dana Reyes <dana@customer.test>';

describe('the view of the mail', () => {
  test('shows the inboxes with their unread mail, and the mail of the one that is chosen', async (context) => {
    const { expect } = context;
    const { page } = await open(context);
    const tree = page.getByRole('navigation', { name: 'Inboxes' });
    await tree.getByRole('link', { name: 'helpdesk 1 unread' }).click();
    expect(await tree.getByTitle(/, 0 unread/).count()).toBeGreaterThan(0);
    expect(await tree.getByRole('link', { name: '0 unread' }).count()).toBe(0);
    await expect.poll(() => page.locator('.row').count()).toBe(3);
    expect(await page.getByText('Choose a mail.').count()).toBe(1);
    await page.locator('.row').first().click();

    await expect.poll(() => page.getByRole('heading', { level: 1 }).allTextContents()).toContain('Re: Cannot log in');
    await expect.poll(() => page.getByText('3 messages in this thread').count()).toBe(1);
    expect(await page.getByText('Choose a mail.').count()).toBe(0);
  });

  test('keeps the names of sandboxes and their numbers apart, however long a name is', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const name = 'a sandbox of a test with a name that is much longer than the tree is wide';
    const sandbox = server.mailbox.createSandbox({ name });
    await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: DANA, subject: 'One' });
    const summary = page.locator('summary.sandbox', { hasText: name });
    await summary.getByText(/unread/).waitFor({ state: 'attached' });
    const [nameBox, countBox] = await Promise.all(
      ['bdi', 'strong'].map((each) => summary.locator(each).evaluate((one) => one.getBoundingClientRect().toJSON())),
    );
    expect(nameBox.right).toBeLessThanOrEqual(countBox.left);
    expect(await page.getByRole('link', { name: 'helpdesk' }).first().textContent()).toMatch(/^helpdesk \d/);
  });

  test('shows mail as soon as it arrives, without making it read', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const [message] = await server.mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: DANA,
      subject: 'Brand new',
      htmlBody: '<h1>Hello</h1><a href="https://shop.test/reset?code=1&amp;x=2">Reset</a>',
    });
    await page.locator('.row', { hasText: 'Brand new' }).click();

    await expect.poll(() => page.frameLocator('iframe.mail-html').getByRole('heading').textContent()).toBe('Hello');
    expect(await page.getByRole('link', { name: 'https://shop.test/reset?code=1&x=2' }).count()).toBe(1);
    expect(page.url()).toBe(`${server.control}/#/mail/${message?.id}`);
    expect(server.mailbox.mail(String(message?.id)).isRead).toBe(false);
  });

  test('delivers the same mail several times', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/mail?compose=true' });
    await page.getByLabel('To (an inbox)').fill('helpdesk@acme.test');
    await page.getByLabel('Subject').fill('Again and again');
    await page.getByLabel('How many times').fill('4');
    await page.getByRole('button', { name: 'Deliver', exact: true }).click();
    await expect.poll(() => server.mailbox.messages({ subject: 'Again and again' }).length).toBe(4);
  });

  test('finds mail by a text, and lists a folder', async (context) => {
    const { expect } = context;
    const { page } = await open(context);
    await page.locator('.row').first().waitFor();
    await page.keyboard.press('/');
    for (const text of ['in', 'voi', 'ce']) {
      await page.keyboard.type(text);
      await expect.poll(() => page.url()).toMatch(new RegExp(`search=\\w*${text}$`));
    }
    expect(await page.getByRole('searchbox').inputValue()).toBe('invoice');
    await expect.poll(() => page.locator('.row').count()).toBe(1);
    await page.getByRole('searchbox').fill('');
    await page.getByLabel('Folder').selectOption('sent');
    await expect.poll(() => page.locator('.row').allTextContents()).toHaveLength(2);
    await expect.poll(async () => (await page.locator('.row').allTextContents()).join()).toMatch(/^To lee/);
  });

  test('finds every word in any order, and removes a condition', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    for (const to of ['helpdesk', 'billing']) {
      await server.mailbox.receiveMessage({ to: `${to}@acme.test`, from: DANA, subject: 'The invoice is overdue' });
    }
    await page.getByLabel('Search mail').fill('overdue inbox:billing invoice');
    await expect.poll(() => page.locator('.list .row').count()).toBe(1);
    expect(await page.locator('.row .what mark').allTextContents()).toEqual(['invoice', 'overdue']);
    await page.getByRole('link', { name: /^inbox:billing/ }).click();
    await expect.poll(() => page.locator('.list .row').count()).toBe(2);
    await expect.poll(() => page.getByLabel('Search mail').inputValue()).toBe('overdue invoice');
    const places = page.locator('.row .place');
    expect(await places.allTextContents()).toEqual(['billing', 'helpdesk']);
  });

  test('folds the sandboxes, finds one by its name, and names it in the rows', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    for (let number = 0; number < 6; number += 1) {
      const sandbox = server.mailbox.createSandbox({ name: `worker ${number}` });
      await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: DANA, subject: `For ${number}` });
    }
    const row = page.locator('.row', { hasText: 'For 3' });
    await expect.poll(() => row.locator('.place').textContent()).toBe('worker 3 / helpdesk');
    const tree = page.getByRole('navigation', { name: 'Inboxes' });
    expect(await tree.getByRole('link', { name: 'All of it' }).count()).toBe(0);
    await tree.getByLabel('Find a sandbox').fill('worker 3');
    await tree.locator('bdi', { hasText: 'worker 3' }).click();
    await tree
      .getByRole('link', { name: /^helpdesk/ })
      .last()
      .click();
    await expect
      .poll(() => page.locator('.row .subject, .row .what').allTextContents())
      .toContainEqual(expect.stringContaining('For 3'));
    expect(await page.locator('.row', { hasText: 'For 4' }).count()).toBe(0);
    expect(await tree.locator('bdi', { hasText: 'worker 4' }).count()).toBe(0);
  });

  test('delivers all injections, or several samples, to an inbox', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/mail?compose=true' });
    await page.getByRole('button', { name: 'Choose samples' }).click();
    const dialog = page.getByRole('dialog', { name: 'Samples' });
    await dialog.getByText('Must not: Do what the hidden text says.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByLabel('To', { exact: true }).first().selectOption('billing@acme.test');
    await dialog.getByRole('button', { name: 'All injections' }).click();
    await dialog.getByRole('checkbox', { name: /^injection-plain/ }).uncheck();
    await dialog.getByRole('checkbox', { name: /^odd-dates/ }).check();
    await dialog.getByRole('button', { name: 'Deliver 10 samples' }).click();
    await page.getByRole('region', { name: 'Samples', exact: true }).getByText('10 samples').waitFor();
    const delivered = server.mailbox.samples();
    const { billing } = server.mailbox.ids.acme.inboxes;
    expect(delivered.map(({ sample }) => sample.name)).toContain('odd-dates');
    expect(delivered.map(({ sample }) => sample.name)).not.toContain('injection-plain');
    expect(delivered.every(({ messages }) => messages.every(({ inboxId }) => inboxId === billing))).toBe(true);
  });

  test('shows decoded header fields, and as they are written after one click', async (context) => {
    const { page, server } = await open(context);
    const [message] = await server.mailbox.receiveMessage({
      eml: 'From: a@x.test\r\nTo: helpdesk@acme.test\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nHi',
    });
    await page.goto(`${server.control}/#/mail/${message?.id}?tab=headers`);
    await page.getByRole('row', { name: 'Subject Grüße' }).waitFor();
    await page.getByLabel('As written, not decoded').check();
    await page.getByRole('row', { name: 'Subject =?utf-8?q?Gr=C3=BC=C3=9Fe?=' }).waitFor();
  });

  test('shows the text, headers, source, files and JSON of a mail', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const { messages } = server.mailbox.searchMail({ search: 'Invoice 1042' });
    await page.goto(`${server.control}/#/mail/${messages[0]?.id}`);
    const tabs = page.getByRole('navigation', { name: 'Parts of the mail' });
    await tabs.getByRole('link', { name: 'Headers' }).click();
    await expect.poll(() => page.getByRole('row', { name: 'Subject Invoice 1042' }).count()).toBe(1);
    await tabs.getByRole('link', { name: 'Source' }).click();
    await expect.poll(() => page.getByRole('region', { name: 'Source' }).textContent()).toMatch(/^From: /);
    await tabs.getByRole('link', { name: 'JSON' }).click();
    await expect.poll(() => page.getByText('"plainBody"').count()).toBe(1);
    await tabs.getByRole('link', { name: 'Files' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect((await download).suggestedFilename()).toBe(server.mailbox.mail(String(messages[0]?.id)).files[0]?.filename);
  });

  test('marks the fields that the emulator put before a mail, in the order of the source', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const [message] = await server.mailbox.receiveMessage({
      eml: 'Authentication-Results: mx.evil.test; spf=pass\r\nTo: helpdesk@acme.test\r\nFrom: a@x.test\r\n\r\nHi',
      auth: { spf: 'fail' },
    });
    await page.goto(`${server.control}/#/mail/${message?.id}?tab=headers`);
    const fields = page.getByRole('row');
    await expect.poll(() => fields.allTextContents()).toHaveLength(6);
    const shown = await fields.allTextContents();
    expect(shown.map((text) => text.includes('Added on receipt'))).toEqual([true, true, true, false, false, false]);
    expect(shown[1]).toMatch(/^Authentication-Resultsmailbox\.test \(agent-mailbox-mock\); spf=fail/);
    expect(shown[3]).toMatch(/^Authentication-Resultsmx\.evil\.test/);
    await page.getByRole('link', { name: 'Source' }).click();
    await expect
      .poll(() => page.getByRole('region', { name: 'Source' }).textContent())
      .toBe(new TextDecoder().decode(server.mailbox.mailSource(String(message?.id))));
  });

  test('shows the images that a mail contains', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
    const [message] = await server.mailbox.receiveMessage({
      eml: [
        'From: a@x.test\r\nTo: helpdesk@acme.test\r\nContent-Type: multipart/related; boundary=b\r\n\r\n',
        '--b\r\nContent-Type: text/html\r\n\r\n<img src="cid:logo%40x" alt="one"> <img src=cid:none alt="two">\r\n',
        '--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\nContent-ID: <logo@x>\r\n\r\n',
        `${pixel}\r\n--b--\r\n`,
      ].join(''),
    });
    await page.goto(`${server.control}/#/mail/${message?.id}`);
    const widthOf = (name: string) =>
      page
        .frameLocator('iframe.mail-html')
        .getByAltText(name)
        .evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await expect.poll(() => widthOf('one')).toBe(1);
    expect(await widthOf('two')).toBe(0);
  });

  test('shows HTML as high as its content, also at the width of a phone', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const text = 'Some words that need more lines in a narrow frame. '.repeat(60);
    const mail = { to: 'helpdesk@acme.test', from: DANA, htmlBody: `<p>${text}</p><p>End</p>` };
    const [message] = await server.mailbox.receiveMessage(mail);
    await page.goto(`${server.control}/#/mail/${message?.id}`);
    await page.frameLocator('iframe.mail-html').getByText('End').waitFor();
    const roomBelow = () =>
      page.locator('iframe.mail-html').evaluate((frame) => {
        const last = (frame as HTMLIFrameElement).contentDocument?.querySelector('p:last-child');
        return frame.clientHeight - (last?.getBoundingClientRect().bottom ?? 0);
      });
    await expect.poll(roomBelow).toBeGreaterThanOrEqual(0);
    expect(await roomBelow()).toBeLessThan(60);
    await page.getByRole('button', { name: 'Phone width' }).click();
    await expect
      .poll(() => page.locator('iframe.mail-html').evaluate(({ clientWidth }) => clientWidth))
      .toBeLessThan(391);
    await expect.poll(roomBelow).toBeGreaterThanOrEqual(0);
    expect(await roomBelow()).toBeLessThan(60);
  });

  test('says what was checked on receipt, and which link shows another address', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const [message] = await server.mailbox.receiveMessage({
      eml: [
        'Authentication-Results: mx.evil.test; dmarc=pass\r\nTo: helpdesk@acme.test\r\nFrom: a@x.test\r\n',
        'Content-Type: text/html\r\n\r\n<a href="https://evil.test/x">https://acme.test</a> ',
        '<a href="https://acme.test/y">here</a>',
      ].join(''),
      auth: { spf: 'pass', dkim: 'fail' },
    });
    await page.goto(`${server.control}/#/mail/${message?.id}`);
    const chips = page.locator('article header .chip');
    await expect
      .poll(async () => (await chips.allTextContents()).map((text) => text.trim()))
      .toEqual(['Unread', 'SPF pass', 'DKIM fail', 'DMARC not checked', '1 link shows another address']);
    expect(await page.locator('.links li', { hasText: 'shown as' }).allTextContents()).toEqual([
      expect.stringMatching(/^https:\/\/evil\.test\/x.*shown as https:\/\/acme\.test/),
    ]);
  });

  test('has the open mail of a long thread on the screen', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    const ids: string[] = [];
    for (let number = 1; number <= 200; number += 1) {
      const mail = { to: 'helpdesk@acme.test', from: DANA, subject: 'Long', messageId: `<${number}@customer.test>` };
      const [message] = await server.mailbox.receiveMessage({
        ...mail,
        inReplyTo: number > 1 ? '<1@customer.test>' : null,
      });
      ids.push(String(message?.id));
    }
    await page.goto(`${server.control}/#/mail/${ids[99]}`);
    await page.getByText('200 messages in this thread').waitFor();
    const tabs = await page.getByRole('navigation', { name: 'Parts of the mail' }).boundingBox();
    expect(tabs?.y).toBeLessThan(500);
    const list = await page.locator('.thread').boundingBox();
    const line = await page.locator('.thread [aria-current]').boundingBox();
    expect(line?.y).toBeGreaterThan(list?.y ?? 0);
    expect(line?.y).toBeLessThan((list?.y ?? 0) + (list?.height ?? 0));
  });

  test('delivers a new mail from outside', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/mail?compose=true' });
    await page.getByLabel('To (an inbox)').fill('billing@acme.test');
    await page.getByLabel('Subject').fill('Written here');
    await page.getByLabel('Text', { exact: true }).fill('With some text.');
    await page.getByLabel('Files').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('abc') });
    await page.getByRole('button', { name: 'Deliver' }).click();

    await expect.poll(() => page.getByRole('heading', { name: 'Written here' }).count()).toBe(1);
    const [mail] = server.mailbox.messages({ to: 'billing@acme.test' });
    expect(mail).toMatchObject({ from: DANA, plainBody: 'With some text.' });
    expect(mail?.attachments).toMatchObject([{ filename: 'a.txt', content: btoa('abc') }]);
  });

  test('answers a sent mail as its recipient, in the same thread', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const { messages } = server.mailbox.searchMail({ search: 'Shall we talk?' });
    const [sent] = messages;
    await page.goto(`${server.control}/#/mail/${sent?.id}`);
    await page.getByRole('button', { name: 'Answer as lee@prospect.test' }).click();
    await page.getByRole('button', { name: 'Deliver' }).click();

    await expect.poll(() => server.mailbox.messages({ direction: 'inbound' }).length).toBe(1);
    expect(server.mailbox.messages()).toMatchObject([
      { from: 'lee@prospect.test', subject: 'Re: Shall we talk?', threadId: sent?.threadId },
    ]);
  });

  test('offers every recipient of a sent mail, and goes back to the mail', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const inbox = server.mailbox.ids.acme.inboxes.helpdesk;
    const to = Array.from({ length: 9 }, (_, number) => `p${number}@customer.test`);
    const sent = await fetch(`${server.url}/v1/inboxes/${inbox}/send`, {
      method: 'POST',
      headers: { 'X-API-Key': server.mailbox.keys.acme.tenant, 'Content-Type': 'application/json' },
      body: JSON.stringify({ to, subject: 'To nine', plainBody: 'Hello', verified: true }),
    });
    expect(sent.status).toBeLessThan(300);
    await page.locator('.row', { hasText: 'To nine' }).click();
    await page.getByRole('button', { name: 'Answer as p8@customer.test' }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await expect.poll(() => page.getByRole('button', { name: /^Answer as/ }).count()).toBe(9);

    const [without] = await server.mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      eml: 'Subject: No sender\r\n\r\nHi',
    });
    await page.goto(`${server.control}/#/mail/${without?.id}`);
    await page.getByRole('heading', { name: 'No sender' }).waitFor();
    expect(await page.getByRole('button', { name: /^New mail from/ }).count()).toBe(0);
  });

  test('delivers to an inbox at a domain of a sandbox, and notes that the sandbox is closed', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const sandbox = server.mailbox.createSandbox({ name: 'lion' });
    const headers = { 'X-API-Key': sandbox.keys.tenant, 'Content-Type': 'application/json' };
    const post = (path: string, body: object) =>
      fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    await post('/v1/domains', { domain: 'custom.test' });
    await fetch(`${server.url}/v1/domains/custom.test/verify`, { headers });
    expect((await post('/v1/inboxes', { username: 'bot', domain: 'custom.test' })).status).toBe(201);
    await page.getByRole('link', { name: /^bot/ }).click();
    await page.getByRole('link', { name: 'New mail' }).click();
    await expect.poll(() => page.getByLabel('To (an inbox)').inputValue()).toBe('bot@custom.test');
    await page.getByLabel('Subject').fill('Into the sandbox');
    await page.getByRole('button', { name: 'Deliver' }).click();
    await page.getByRole('heading', { name: 'Into the sandbox' }).waitFor();
    await page.getByRole('button', { name: 'New mail from' }).click();
    await page.getByRole('button', { name: 'Deliver' }).click();
    await expect.poll(() => sandbox.messages({ to: 'bot@custom.test' }).length).toBe(2);

    await page.getByRole('link', { name: 'All of it' }).click();
    await expect.poll(() => page.locator('.row').count()).toBeGreaterThan(2);
    sandbox.close();
    await expect.poll(() => page.getByRole('link', { name: 'lion' }).count()).toBe(0);
    await expect.poll(() => page.locator('.row').count()).toBe(0);
  });

  test('goes on from a linked mail that is far down the list', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    const ids: string[] = [];
    for (let number = 0; number < 300; number += 1) {
      const mail = { to: 'helpdesk@acme.test', from: DANA, subject: `Mail ${number}.` };
      const [message] = await server.mailbox.receiveMessage(mail);
      ids.unshift(String(message?.id));
    }
    await page.goto(`${server.control}/#/mail/${ids[250]}`);
    await page.locator('.row[aria-current]', { hasText: 'Mail 49.' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'Mail 48.' }).waitFor();
    expect(page.url()).toContain(String(ids[251]));
  });

  test('asks for each part of a long list once', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    for (let number = 0; number < 250; number += 1) {
      await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA, subject: `Mail ${number}.` });
    }
    const offsets: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/messages/search') && searchParams.get('limit') === '100') {
        offsets.push(searchParams.get('offset'));
      }
    });
    await page.goto(`${server.control}/?anew#/mail`);
    const list = page.getByLabel(/^Mail, \d+ messages$/);
    await page.locator('.row', { hasText: 'Mail 249.' }).waitFor();
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.locator('.row', { hasText: 'Mail 0.' }).waitFor();
    await list.evaluate((element) => element.scrollTo(0, 0));
    await page.locator('.row', { hasText: 'Mail 249.' }).waitFor();
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.locator('.row', { hasText: 'Mail 0.' }).waitFor();
    expect(offsets.slice(0, 1)).toEqual(['0']);
    expect(new Set(offsets).size).toBe(offsets.length);
  });

  test('deletes a mail, or all that an inbox shows, and brings it back', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const countMail = () => server.mailbox.searchMail({ tenant: server.mailbox.ids.acme.tenant }).total;
    const before = countMail();
    await page.locator('.row', { hasText: 'Opening hours' }).click();
    const asked = answerNext(page, true);
    await page.getByRole('button', { name: 'Delete' }).click();
    expect(await asked).toMatch(/^Delete the mail “Opening hours”\? .*lost for good\.$/);
    await page.getByText('Choose a mail.').waitFor();
    await page.locator('.row', { hasText: 'Opening hours' }).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.row', { hasText: 'Opening hours' }).waitFor();

    await page.getByRole('link', { name: /^helpdesk/ }).click();
    const askedAgain = answerNext(page, true);
    await page.getByRole('button', { name: 'Delete 3 messages' }).click();
    await askedAgain;
    await page.getByText('No mail here.').waitFor();
    expect(countMail()).toBe(before - 3);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(countMail).toBe(before);
  });

  test('deletes a mail of a sandbox, and brings it back without closing the sandbox', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    let isHeld = true;
    // The page does not know the sandbox, because the list that it loads after the creation does not arrive.
    await page.route(/\/__mock\/tenants/, (route) => (isHeld ? undefined : route.continue()));
    const sandbox = server.mailbox.createSandbox({ name: 'lion' });
    const before = sandbox.searchMail().total;
    await page.goto(`${server.control}/#/mail/${sandbox.searchMail().messages[0]?.id}`);
    const asked = answerNext(page, true);
    await page.getByRole('button', { name: 'Delete' }).waitFor();
    isHeld = false;
    await page.getByRole('button', { name: 'Delete' }).click();
    await asked;
    await expect.poll(() => sandbox.searchMail().total).toBe(before - 1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => sandbox.searchMail().total).toBe(before);
  });

  test('delivers an .eml file that is dropped on an inbox', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    const transfer = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(['From: eve@outside.test\r\nTo: x@y.test\r\nSubject: Dropped\r\n\r\nHi'], 'mail.eml'));
      return data;
    });
    const inbox = page.getByRole('link', { name: /^outreach/ });
    await inbox.dispatchEvent('drop', { dataTransfer: transfer });

    await expect.poll(() => page.getByRole('heading', { name: 'Dropped' }).count()).toBe(1);
    expect(server.mailbox.messages({ to: 'outreach@acme.test' })).toHaveLength(1);
  });

  test('shows why a mail was refused', async (context) => {
    const { expect } = context;
    const { page } = await open(context, { hash: '#/mail?compose=true' });
    await page.getByLabel('To (an inbox)').fill('nobody@nowhere.test');
    await page.getByRole('button', { name: 'Deliver' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/nobody@nowhere\.test/);
  });
});

describe('the drafts', () => {
  test('are changed, approved and sent with the key of their inbox; a refusal is shown as it is', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/mail?folder=drafts' });
    const { mailbox } = server;
    const inbox = mailbox.ids.acme.inboxes.billing;
    const written = await fetch(`${server.url}/v1/inboxes/${inbox}/drafts`, {
      method: 'POST',
      headers: { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' },
      body: JSON.stringify({ to: 'lee@prospect.test', subject: 'Offer', plainBody: 'It costs 10.', cc: 'a@b.test' }),
    });
    expect(written.status).toBe(201);
    await page.locator('.row', { hasText: 'Offer' }).click();
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('It costs 12.');
    await page.getByLabel('Cc', { exact: true }).fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    const draft = () => mailbox.drafts({ inbox }).drafts[0];
    await expect.poll(() => draft()?.plainBody).toBe('It costs 12.');
    expect(draft()).toMatchObject({ to: ['lee@prospect.test'], cc: [], subject: 'Offer', htmlBody: null });

    mailbox.addFault({ on: 'request', operation: 'sendDraft', status: 503, times: 1 });
    await page.getByLabel('Subject').fill('Our offer');
    await page.getByRole('button', { name: 'Approve and send' }).click();
    await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/^503 /);
    await page.getByRole('button', { name: 'Approve and send' }).click();
    await page.locator('article header .chip', { hasText: 'Sent' }).waitFor();
    await expect.poll(() => page.title()).toBe('Our offer · Mail · Inspector');
    expect(mailbox.messages({ direction: 'outbound' })).toMatchObject([
      { to: ['lee@prospect.test'], cc: [], subject: 'Our offer', plainBody: 'It costs 12.' },
    ]);
    const sent = mailbox.requests({ operation: 'sendDraft' });
    expect(sent.map(({ status, principal }) => [status, principal?.tier])).toEqual([
      [503, 'inbox'],
      [200, 'inbox'],
    ]);
    expect(draft()).toBeUndefined();
  });

  test('show what a client changes meanwhile, and that one is gone', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/mail?folder=drafts' });
    await page.locator('.row').first().click();
    const { id, inboxId } = server.mailbox.drafts().drafts[0] ?? { id: '', inboxId: '' };
    const call = (method: string) =>
      fetch(`${server.url}/v1/inboxes/${inboxId}/drafts/${id}`, {
        method,
        headers: { 'X-API-Key': server.mailbox.keys.acme.tenant, 'Content-Type': 'application/json' },
        ...(method === 'PATCH' && { body: JSON.stringify({ subject: 'By the agent' }) }),
      });
    await call('PATCH');
    await expect.poll(() => page.getByLabel('Subject').inputValue()).toBe('By the agent');
    await call('DELETE');
    await page.getByText('This draft is gone').waitFor();
  });
});

describe('the page of one mail', () => {
  test('shows the latest mail to an address, whose links can be followed', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context);
    await server.mailbox.receiveMessage({
      to: 'helpdesk@acme.test',
      from: DANA,
      htmlBody: `<a href="${server.url}/health">Check</a>`,
    });
    await page.goto(`${server.control}/messages/latest.html?to=helpdesk@acme.test`);
    await page.getByRole('link', { name: 'Check' }).click();
    await expect.poll(() => page.textContent('body')).toContain('ok');
  });

  test('says of each webhook of the tenant why it was not called for a mail', async (context) => {
    const { page, server } = await open(context);
    const { mailbox } = server;
    await mailbox.addWebhook({
      url: 'http://127.0.0.1:9/sent',
      workspaceOf: 'helpdesk@acme.test',
      events: ['message.sent'],
    });
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: DANA, subject: 'Why not called' });
    await page.locator('.row', { hasText: 'Why not called' }).click();
    const webhooks = page.getByRole('list', { name: 'Webhooks of the tenant' });
    const webhook = webhooks.getByRole('listitem').filter({ hasText: 'http://127.0.0.1:9/sent' });
    await webhook.getByText('not called', { exact: true }).waitFor();
    await webhook.getByText('it listens only to message.sent').waitFor();
  });
});
