import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createReceiver, type ReceiverAnswer } from 'agent-mailbox-mock/receiver';
import type { Page } from 'playwright-core';
import { type TestContext, test } from 'vitest';
import type { MailboxServer } from '../../../../src/server/start-server.ts';
import type { Delivery } from '../../../../src/service/delivery/delivery.ts';
import { findViolations, openAll } from '../../find-violations.ts';
import { answerNext, useInspector } from '../../open-inspector.ts';

const open = useInspector();

const HELPDESK = 'helpdesk@acme.test';

/** Creates a webhook of Acme. */
async function createWebhook({ url, mailbox }: MailboxServer, target: string) {
  const reply = await fetch(`${url}/v1/webhooks`, {
    method: 'POST',
    headers: { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: target, events: ['message.received'] }),
  });
  return (await reply.json()) as { id: string; secret: string };
}

/** Starts a receiver with these answers, and a webhook that leads to it. */
async function startReceiver({ onTestFinished }: TestContext, server: MailboxServer, ...answers: ReceiverAnswer[]) {
  const receiver = createReceiver({ answers });
  onTestFinished(() => receiver.close());
  const webhook = await createWebhook(server, `${await receiver.listen()}/hook`);
  return { ...webhook, receiver };
}

/** Pastes what a receiver has of the first attempt into the form that checks a signature. */
async function pasteAttempt(page: Page, delivery: Delivery | undefined, secret: string) {
  const { requestHeaders = {}, requestBody = '' } = delivery?.attempts[0] ?? {};
  const headers = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}`);
  await page.getByLabel('Headers, as your code prints them').fill(headers.join('\n'));
  await page.getByLabel('Body, as your code verifies it').fill(requestBody);
  await page.getByLabel('Secret of the webhook').fill(secret);
}

const receiveMail = ({ mailbox }: MailboxServer, subject: string) =>
  mailbox.receiveMessage({ from: 'dana@customer.test', to: HELPDESK, subject });

const rows = (page: Page) => page.locator('.list .row');
const detail = (page: Page) => page.getByRole('region', { name: 'Open delivery' });

test('a failing delivery appears at once, and the page says why it fails', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks' });
  await page.getByText('There is no delivery yet: all 3 webhooks are off. Turn one on under Endpoints.').waitFor();
  server.mailbox.clock.freeze();
  const { receiver } = await startReceiver(context, server);
  receiver.secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX';
  await receiveMail(server, 'Order 1042');

  await expect.poll(() => rows(page).first().textContent()).toMatch(/The receiver answered 401\..*Failing 401/);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const reason = detail(page).getByRole('status');
  await expect
    .poll(() => reason.textContent())
    .toMatch(/The signature of this attempt is correct\. So the receiver may have another secret/);
  await expect
    .poll(() =>
      detail(page)
        .getByText(/^Attempt 2 is due in .+, at \d/)
        .count(),
    )
    .toBe(1);
});

test('the page says how earlier attempts failed in another way', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  const failure = { status: 500, body: "KeyError: 'subject'\n  in handle" };
  await startReceiver(context, server, failure, failure, 503, 404);
  server.mailbox.clock.freeze();
  await receiveMail(server, 'Order 1042');
  await server.mailbox.settled({ timeout: '20s' });
  const id = String(server.mailbox.deliveries()[0]?.id);
  for (let count = 2; count <= 4; count += 1) {
    server.mailbox.redeliver(id);
    await server.mailbox.settled({ timeout: '20s' });
  }
  await page.goto(`${server.control}/#/webhooks/${id}`);

  const reason = detail(page).getByRole('status');
  await expect
    .poll(() => reason.textContent())
    .toContain("Earlier: attempts 1 and 2 were answered 500: KeyError: 'subject' in handle");
  expect(await reason.textContent()).toContain('Earlier: attempt 3 was answered 503');
  expect(await reason.textContent()).not.toContain('attempt 4');
  expect(await detail(page).getByRole('heading', { level: 3 }).allTextContents()).toEqual([
    'Answer of the receiver',
    'Request',
    expect.stringMatching(/^Body/),
  ]);
});

test('the timeline shows the exact request, the answer, and the signature step by step', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  server.mailbox.clock.freeze();
  await startReceiver(context, server, 500);
  await receiveMail(server, '<b>Größe</b>');
  await server.mailbox.settled({ timeout: '20s' });
  const [delivery] = server.mailbox.deliveries();
  const [attempt] = delivery?.attempts ?? [];
  await page.goto(`${server.control}/#/webhooks/${delivery?.id}`);

  const sent = () => detail(page).getByRole('region', { name: 'Body of attempt 1' }).locator('pre').textContent();
  const body = String(attempt?.requestBody);
  await expect.poll(sent).toBe(JSON.stringify(JSON.parse(body), null, 2));
  await detail(page)
    .getByRole('heading', { name: `Body, ${Buffer.byteLength(body)} bytes` })
    .waitFor();
  const request = detail(page).getByRole('region', { name: 'Request of attempt 1' });
  expect(await request.textContent()).toContain(`webhook-signature: ${attempt?.requestHeaders['webhook-signature']}`);
  expect(await detail(page).getByRole('region', { name: 'Answer to attempt 1' }).textContent()).toMatch(/^500\n/);
  await detail(page).getByText('The signature, step by step').click();
  const steps = detail(page).getByRole('region', { name: 'Signature by Standard Webhooks' });
  await expect.poll(() => steps.textContent()).toContain('verifies');
  expect(await steps.getByRole('listitem').count()).toBe(6);
});

test('the clock is advanced to the next attempt, and a delivery is sent again', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  const { receiver } = await startReceiver(context, server, 500, 200, 200);
  server.mailbox.clock.freeze();
  await receiveMail(server, 'Order 1042');
  await server.mailbox.settled({ timeout: '20s' });
  await page.goto(`${server.control}/#/webhooks/${server.mailbox.deliveries()[0]?.id}`);
  await page.getByText('by a clock that is frozen').waitFor();
  await page.getByRole('button', { name: 'Advance the clock to it' }).click();
  await expect.poll(() => detail(page).locator('.head .chip', { hasText: 'Delivered' }).count()).toBe(1);
  await page.getByRole('button', { name: 'Send again' }).click();
  await receiver.received(3);
  await expect.poll(() => detail(page).getByText('Attempt 3').count()).toBe(1);
});

test('held deliveries are released', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks' });
  const { receiver } = await startReceiver(context, server);
  server.mailbox.addFault({ on: 'delivery', kind: 'hold', times: 2 });
  await receiveMail(server, 'One');
  await receiveMail(server, 'Two');
  await page.getByRole('button', { name: 'Release 2 held' }).click();
  await receiver.received(2);
  await expect
    .poll(() => rows(page).allTextContents())
    .toEqual([expect.stringContaining('Delivered'), expect.stringContaining('Delivered')]);
});

test('a released delivery is not shown as held while its receiver has not answered', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks' });
  let answer = (_reply: ReceiverAnswer) => {};
  const waiting = new Promise<ReceiverAnswer>((resolve) => {
    answer = resolve;
  });
  const receiver = createServer((_request, response) => void waiting.then(() => response.end()));
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  context.onTestFinished(() => {
    answer(200);
    receiver.closeAllConnections();
    receiver.close();
  });
  await createWebhook(server, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
  server.mailbox.addFault({ on: 'delivery', kind: 'hold' });
  await receiveMail(server, 'Order 1042');
  await rows(page).getByText('Held', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Release 1 held' }).click();
  await rows(page).getByText('Pending', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: /^Release/ }).count()).toBe(0);
});

const endpoint = (page: Page, url: string) => page.getByRole('listitem').filter({ hasText: url });

test('an endpoint shows its events, owner and results; the one that fails comes first', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks' });
  server.mailbox.clock.freeze();
  await startReceiver(context, server);
  const { id } = await startReceiver(context, server, 500, 200, 200);
  for (const subject of ['One', 'Two', 'Three']) await receiveMail(server, subject);
  await server.mailbox.settled({ timeout: '20s' });
  await page.getByRole('link', { name: 'Endpoints' }).click();
  const failing = server.mailbox.webhooks().find((webhook) => webhook.id === id);
  const first = page.getByRole('list', { name: 'Endpoints, 5' }).getByRole('listitem').first();
  await first.getByText('20 %').or(first.getByText('33 %')).waitFor();
  await first.getByText('1 of 3 attempts failed').waitFor();
  await first.getByText('The receiver answered 500.').waitFor();
  expect(await first.getByText(String(failing?.secret)).count()).toBe(0);
  await first.getByRole('button', { name: 'Show the secret' }).click();
  await first.getByText(String(failing?.secret)).waitFor();
  for (const text of [String(failing?.url), 'message.received', 'Acme, all workspaces', 'On']) {
    await first.getByText(text, { exact: true }).first().waitFor();
  }
  await expect.poll(() => first.locator('.results i.good').count()).toBe(2);
  await first.getByRole('link', { name: '1 of the last 3 failed' }).click();
  await expect.poll(() => rows(page).count()).toBe(3);
});

test('failures are one line for each cause, and are sent again at once', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks' });
  server.mailbox.clock.freeze();
  const broken = await startReceiver(context, server, 500, 500, 500);
  const refusing = await startReceiver(context, server, 401, 401, 401);
  for (const subject of ['One', 'Two', 'Three']) await receiveMail(server, subject);
  await server.mailbox.settled({ timeout: '20s' });
  const causes = page.locator('.causes');
  await causes.getByText('6 attempts, 2 causes').waitFor();
  const lines = causes.getByRole('listitem');
  const port = new URL(await broken.receiver.listen()).port;
  const line = lines.filter({ hasText: '500' });
  expect(await line.textContent()).toMatch(new RegExp(`^ ?500from :${port}/hook3 attempts · first .*, last `));
  expect(await rows(page).first().textContent()).toMatch(/next in .* · The receiver answered/);
  await line.getByRole('link').click();
  await expect.poll(() => rows(page).count()).toBe(3);
  await page.getByRole('button', { name: 'Send 3 failed again' }).click();
  await expect.poll(() => broken.receiver.requests.length).toBe(6);
  expect(refusing.receiver.requests.length).toBe(3);
  await expect.poll(() => rows(page).getByText('Delivered 200').count()).toBe(3);
});

test('an endpoint is added, paused and deleted as a client would do it', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks?tab=endpoints' });
  const url = 'http://127.0.0.1:9/added';
  const find = () => server.mailbox.webhooks().find((each) => each.url === url);
  await page.getByText('Add an endpoint').click();
  await page.getByLabel('URL').fill(url);
  await page.getByLabel('message.sent').check();
  await page.getByLabel('Owner').selectOption('Acme, workspace Sales');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await endpoint(page, url).getByText('Acme, workspace Sales').waitFor();
  expect(find()).toMatchObject({ events: ['message.received', 'message.sent'], isActive: true });
  await endpoint(page, url).getByRole('button', { name: 'Pause' }).click();
  await endpoint(page, url).getByText('Off: it gets no events').waitFor();
  expect(find()?.isActive).toBe(false);
  expect(await findViolations(page)).toEqual([]);
  await endpoint(page, url).getByRole('button', { name: 'Delete' }).click();
  expect(await answerNext(page, true)).toContain(`Delete the webhook ${url}? Its deliveries end.`);
  await expect.poll(() => endpoint(page, url).count()).toBe(0);
  expect(find()).toBeUndefined();
});

test('the webhooks, their deliveries and what is released are those of the chosen tenant', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  const { mailbox } = server;
  const sandbox = mailbox.createSandbox({ name: 'worker' });
  const options = { url: 'http://127.0.0.1:9/sandbox', workspaceOf: `helpdesk@${sandbox.domain}` };
  await sandbox.addWebhook(options);
  await createWebhook(server, 'http://127.0.0.1:9/acme');
  mailbox.addFault({ on: 'delivery', kind: 'hold', times: 2 });
  await receiveMail(server, 'For Acme');
  await sandbox.receiveMessage({ to: options.workspaceOf, from: 'dana@customer.test' });
  await page.goto(`${server.control}/#/webhooks?tenant=${sandbox.id}`);
  await page.getByRole('region', { name: 'Deliveries, 1 of 1' }).waitFor();
  await page.getByRole('button', { name: 'Release 1 held' }).click();
  await expect.poll(() => mailbox.deliveries({ state: 'held' }).length).toBe(1);
  expect(mailbox.deliveries({ state: 'held' })[0]?.tenantId).toBe(mailbox.ids.acme.tenant);
  await page.getByRole('link', { name: 'Endpoints' }).click();
  await endpoint(page, options.url).getByText('worker, workspace Support').waitFor();
  expect(await endpoint(page, 'http://127.0.0.1:9/acme').count()).toBe(0);
});

test('an edited copy of a delivery is sent to the same webhook', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  const { receiver } = await startReceiver(context, server);
  await receiveMail(server, 'Order 1042');
  await receiver.received(1);
  await server.mailbox.settled({ timeout: '20s' });
  await page.goto(`${server.control}/#/webhooks/${server.mailbox.deliveries()[0]?.id}`);
  await page.getByRole('link', { name: 'Send an edited copy' }).click();
  const payload = page.getByLabel('Fields of the payload');
  await payload.fill('no JSON');
  await page.getByRole('button', { name: 'Trigger', exact: true }).click();
  await expect.poll(() => page.getByRole('alert').textContent()).toMatch(/^The payload is not JSON/);
  await payload.fill('{ "subject": "Order 7", "extra": [1] }');
  await page.getByRole('button', { name: 'Trigger', exact: true }).click();
  const [, copy] = await receiver.received(2);
  expect(copy?.json).toMatchObject({ event: 'message.received', subject: 'Order 7', extra: [1] });
  await expect.poll(() => page.url()).toContain(server.mailbox.deliveries()[1]?.id);
});

test('a delivery that was signed by the clock of the mailbox names the behaviour that decided so', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  server.mailbox.changeBehaviours({ 'deliveries.timestamp': 'clock' });
  await server.mailbox.clock.advance('2h');
  const { receiver, secret } = await startReceiver(context, server);
  receiver.secret = secret;
  await receiveMail(server, 'Order 1042');
  await server.mailbox.settled({ timeout: '20s' });
  const [delivery] = server.mailbox.deliveries();
  await page.goto(`${server.control}/#/webhooks/${delivery?.id}`);
  const problem = /signed by the clock of the mailbox, which was 2 hours ahead of real time, .*deliveries\.timestamp/;
  await expect.poll(() => detail(page).getByRole('status').textContent()).toMatch(problem);
  await detail(page).getByRole('link', { name: 'Check its signature' }).click();
  await pasteAttempt(page, delivery, secret);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  const result = page.getByRole('region', { name: 'Signature by Standard Webhooks' });
  await expect.poll(() => result.textContent()).toMatch(problem);
});

test('the box finds out why a signature does not verify', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  const { secret } = await startReceiver(context, server);
  await receiveMail(server, 'Order 1042');
  await server.mailbox.settled({ timeout: '20s' });
  const [delivery] = server.mailbox.deliveries();
  await page.goto(`${server.control}/#/webhooks/${delivery?.id}`);
  await detail(page).getByRole('link', { name: 'Check its signature' }).click();
  for (const label of ['Headers, as your code', 'Body, as your code', 'Secret of the webhook']) {
    expect(await page.getByLabel(label).inputValue(), label).toBe('');
  }
  await pasteAttempt(page, delivery, secret);
  const check = page.getByRole('button', { name: 'Check', exact: true });
  const result = page.getByRole('region', { name: 'Signature by Standard Webhooks' });
  await check.click();
  await expect.poll(() => result.getByRole('heading').textContent()).toMatch(/: verifies$/);

  await page.getByLabel('Signature that your code computed').fill('v1,AAAA');
  await check.click();
  await page.getByText('No single mistake that this page knows leads to the signature').waitFor();
  const changes: [label: string, value: string, problem: string][] = [
    ['Body, as your code', JSON.stringify(delivery?.payload, null, 2), 'The body was parsed and written again'],
    ['Body, as your code', '{"other":1}', 'The body was changed, from character 3'],
    ['Secret', 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX', 'The secret is wrong: it is not that of the webhook.'],
  ];
  for (const [label, value, problem] of changes) {
    const field = page.getByLabel(label);
    const before = await field.inputValue();
    await field.fill(value);
    await check.click();
    await expect.poll(() => result.textContent()).toContain(problem);
    await field.fill(before);
  }
});

test('deliveries are found by a text, a state and a webhook', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks' });
  const { id } = await startReceiver(context, server);
  await createWebhook(server, 'http://127.0.0.1:9/none');
  await receiveMail(server, 'Order 1042');
  await receiveMail(server, 'Invoice 7');
  await expect.poll(() => rows(page).count()).toBe(4);
  await page.keyboard.press('/');
  await page.keyboard.type('invoice');
  await expect.poll(() => rows(page).count()).toBe(2);
  await page.getByLabel('State').selectOption('Delivered');
  await expect.poll(() => rows(page).count()).toBe(1);
  await page.getByRole('searchbox').fill('');
  await page.getByLabel('State').selectOption('Every state');
  await page.getByLabel('Webhook', { exact: true }).selectOption(id);
  await expect
    .poll(() => rows(page).allTextContents())
    .toEqual([expect.stringContaining('Delivered'), expect.stringContaining('Delivered')]);
});

test('a failing delivery is found by the word of its mark, and by what the receiver answered', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks' });
  server.mailbox.clock.freeze();
  await startReceiver(context, server, { status: 500, body: "KeyError: 'subject'" });
  await receiveMail(server, 'Order 1042');
  await server.mailbox.settled({ timeout: '20s' });
  server.mailbox.addFault({ on: 'delivery', kind: 'hold' });
  await receiveMail(server, 'Invoice 7');
  await expect.poll(() => rows(page).count()).toBe(2);
  for (const text of ['failing', 'answered 500', 'keyerror']) {
    await page.getByRole('searchbox').fill(text);
    await expect.poll(() => rows(page).allTextContents()).toEqual([expect.stringContaining('Failing')]);
  }
  await page.getByRole('searchbox').fill('');
  await expect.poll(() => rows(page).count()).toBe(2);
  await page.getByLabel('State').selectOption('Failing');
  await expect.poll(() => rows(page).allTextContents()).toEqual([expect.stringContaining('Failing')]);
  await page.getByLabel('State').selectOption('Pending');
  await page.getByText('No delivery matches').waitFor();
});

test('of a list of 1,000 deliveries, only the visible rows are rendered', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context);
  const { id } = await createWebhook(server, 'http://127.0.0.1:9/none');
  server.mailbox.addFault({ on: 'delivery', kind: 'hold', times: 1_000 });
  for (let count = 0; count < 1_000; count += 1) server.mailbox.trigger('message.received', { webhookId: id });
  await page.goto(`${server.control}/#/webhooks`);
  await page.getByRole('region', { name: 'Deliveries, 1000 of 1000' }).waitFor();
  const { rendered, longest } = await page.locator('.list').evaluate(async (list) => {
    const frames: number[] = [];
    let rendered = 0;
    let before = performance.now();
    for (let step = 0; step < 60; step += 1) {
      list.scrollTop += list.scrollHeight / 60;
      const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      frames.push(now - before);
      rendered = Math.max(rendered, list.querySelectorAll('.row').length);
      before = now;
    }
    return { rendered, longest: Math.max(...frames.slice(1)) };
  });
  context.annotate(`The longest frame took ${longest.toFixed(1)} ms.`);
  expect(rendered).toBeLessThan(60);
});

const SCREENS = [
  { width: 1280, dark: false },
  { width: 400, dark: true },
];

test.for(SCREENS)('the view is accessible and fits at $width px, dark: $dark', async ({ width, dark }, context) => {
  const { expect } = context;
  const { page, server } = await open(context, { width, dark });
  server.mailbox.clock.freeze();
  await startReceiver(context, server, 401, 500);
  server.mailbox.addFault({ on: 'delivery', kind: 'wrong-secret' });
  await receiveMail(server, 'Order 1042');
  await server.mailbox.settled({ timeout: '20s' });
  const [delivery] = server.mailbox.deliveries();
  const checks = [
    { hash: '', text: 'At (UTC)' },
    { hash: `/${delivery?.id}`, text: 'applied to this attempt, so' },
    { hash: `?open=event&from=${delivery?.id}`, text: 'Fields of the payload' },
    { hash: `?open=signature&from=${delivery?.id}`, text: 'Nothing is sent' },
  ];
  for (const { hash, text } of checks) {
    await page.goto(`${server.control}/#/webhooks${hash}`);
    await page.getByText(text).first().waitFor();
    await openAll(page);
    for (const check of await page.getByRole('button', { name: 'Check', exact: true }).all()) await check.click();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  }
  server.mailbox.redeliver(String(delivery?.id));
  await server.mailbox.settled({ timeout: '20s' });
  await page.goto(`${server.control}/#/webhooks/${delivery?.id}`);
  await page.locator('.attempts > li').nth(1).waitFor();
  const signatures = page.getByRole('region', { name: /^Signature .* attempt [12]$/ });
  // Each event of the feed may render the attempts once more.
  await expect.poll(() => openAll(page).then(() => signatures.count())).toBe(2);
  expect(await findViolations(page)).toEqual([]);
});

test('a keyboard alone reaches everything', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/webhooks' });
  // On a busy machine, the retry after 5 seconds would come before the keys.
  server.mailbox.clock.freeze();
  const { receiver } = await startReceiver(context, server, 500, 500);
  await receiveMail(server, 'One');
  await receiveMail(server, 'Two');
  await receiver.received(2);
  await expect.poll(() => rows(page).count()).toBe(2);
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toContain(server.mailbox.deliveries()[1]?.id);
  await detail(page).getByRole('heading', { name: 'message.received' }).waitFor();
  await page.keyboard.press('j');
  await expect.poll(() => page.url()).toContain(server.mailbox.deliveries()[0]?.id);
  await page.keyboard.press('k');
  await expect.poll(() => page.url()).toContain(server.mailbox.deliveries()[1]?.id);
  await tabTo(page, 'Send now');
  await page.keyboard.press('Enter');
  await receiver.received(3);
  await expect.poll(() => detail(page).getByText('Attempt 2').count()).toBeGreaterThan(0);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.url()).toMatch(/#\/webhooks$/);
});

/** Presses the tab key until an element with this text has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let count = 0; count < 60; count += 1) {
    await page.keyboard.press('Tab');
    if ((await page.evaluate(() => document.activeElement?.textContent)) === text) return;
  }
  throw new Error(`The tab key does not lead to ${text}.`);
}
