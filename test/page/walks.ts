import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import type { SampleName } from '../../src/control/samples/sample-names.ts';
import type { MailboxServer, ServerOptions } from '../../src/server/start-server.ts';
import type { Receiver } from '../../src/testing/receiver/index.ts';
import { DIST } from '../support/dist.ts';

/** What a walk gets: a new emulator with its page, and a receiver of webhooks. */
export interface Walker {
  readonly server: MailboxServer;
  readonly receiver: Receiver;
  readonly page: Page;
  /** Opens the page at a view, such as `#/mail`, and waits until it is live. Clicks are counted from then on. */
  open(hash: string): Promise<void>;
  /** Clicks, and counts the click. */
  click(locator: Locator): Promise<void>;
}

/** A task of a person, and how the page helps with it. It rejects if it does not. */
interface Walk {
  readonly letter: string;
  readonly what: string;
  readonly maxClicks?: number;
  /** The width of the window, in pixels. */
  readonly width?: number;
  readonly options?: ServerOptions;
  walk(walker: Walker): Promise<void>;
}

const HELPDESK = 'helpdesk@acme.test';

function expectThat(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(otherwise);
}

/** Calls the service with the key of the helpdesk, or another one. */
async function call({ server }: Walker, method: string, path: string, body?: unknown, key?: string): Promise<Response> {
  return fetch(server.url + path, {
    method,
    headers: { 'X-API-Key': key ?? server.mailbox.keys.acme.inboxes.helpdesk, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const inboxPath = ({ server }: Walker) => `/v1/inboxes/${server.mailbox.ids.acme.inboxes.helpdesk}`;

const sendMail = (walker: Walker, subject: string) =>
  call(walker, 'POST', `${inboxPath(walker)}/send`, { to: 'dana@customer.test', subject, plainBody: 'Hello' });

const receive = ({ server }: Walker, subject: string, more: object = {}) =>
  server.mailbox.receiveMessage({ to: HELPDESK, from: 'Dana Reyes <dana@customer.test>', subject, ...more });

/** Creates a webhook to the receiver, and lets one mail arrive. */
async function deliver(walker: Walker, url?: string): Promise<{ readonly secret: string }> {
  const target = url ?? (await walker.receiver.listen());
  const tenant = walker.server.mailbox.keys.acme.tenant;
  const created = await call(walker, 'POST', '/v1/webhooks', { url: target, events: ['message.received'] }, tenant);
  await receive(walker, 'A new order');
  await walker.server.mailbox.settled();
  return (await created.json()) as { secret: string };
}

const row = (page: Page, text: string) => page.locator('.row', { hasText: text }).first();

async function expectToFit(page: Page): Promise<void> {
  const [all, shown] = await page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return [scrollWidth, clientWidth] as const;
  });
  expectThat(all <= shown, `The page is ${all} pixels wide in a window of ${shown}.`);
}

export const WALKS: readonly Walk[] = [
  {
    letter: 'a',
    what: 'why a request got 404',
    maxClicks: 2,
    async walk(walker) {
      const { page, open, click } = walker;
      await call(walker, 'GET', '/v1/inboxes/3f2a0000-0000-4000-8000-00000000ffff/messages');
      await open('');
      await page.getByText('There is no inbox with this id in any tenant.').waitFor();
      await click(page.getByRole('link', { name: 'listMessages' }));
      await page.getByText('The reply says only').waitFor();
    },
  },
  {
    letter: 'b',
    what: 'why a signature fails',
    async walk(walker) {
      const { page, receiver, open, click } = walker;
      const url = await receiver.listen();
      receiver.answer(401);
      await deliver(walker, url);
      await open('#/webhooks');
      await click(row(page, 'message.received'));
      await click(page.getByRole('link', { name: 'Find out why your code does not verify it' }));
      await page.getByLabel('Secret of the webhook').fill(`whsec_${btoa('another secret of 24 bytes')}`);
      await click(page.getByRole('button', { name: 'Check', exact: true }));
      await page.getByText('does not verify').first().waitFor();
      await page.getByText('secret').first().waitFor();
    },
  },
  {
    letter: 'c',
    what: 'a delivery again, to another URL',
    async walk(walker) {
      const { page, receiver, open, click } = walker;
      await deliver(walker, 'http://127.0.0.1:9/');
      const url = await receiver.listen();
      await open('#/webhooks');
      await click(row(page, 'message.received'));
      await click(page.getByRole('button', { name: 'To another URL' }));
      await page.getByLabel('URL, only for this time').fill(url);
      await click(page.getByRole('button', { name: 'Send now' }));
      await receiver.received(1, 20_000);
    },
  },
  {
    letter: 'd',
    what: 'answer as the other side',
    async walk(walker) {
      const { page, server, open, click } = walker;
      await sendMail(walker, 'A question for you');
      await open('#/mail');
      await click(row(page, 'A question for you'));
      await click(page.getByRole('button', { name: 'Answer as dana@customer.test' }));
      await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Here is the answer.');
      await click(page.getByRole('button', { name: 'Deliver' }));
      await page.getByRole('heading', { name: 'Re: A question for you' }).waitFor();
      const last = server.mailbox.messages().at(-1);
      expectThat(last?.direction === 'inbound' && last.inReplyTo !== null, 'The answer is not part of the thread.');
    },
  },
  {
    letter: 'e',
    what: 'one of 20,000 mails',
    async walk(walker) {
      const { page, server, open, click } = walker;
      for (let number = 0; number < 20_000; number += 1) {
        await receive(walker, `Order ${number}`, number === 777 ? { from: 'zoe@rare.test' } : {});
      }
      await open('#/mail');
      await page.getByLabel('Search mail').fill('from:zoe subject:order is:unread');
      await row(page, 'zoe@rare.test').waitFor();
      await click(row(page, 'Order 777'));
      await page.getByRole('heading', { name: 'Order 777' }).waitFor();
      expectThat((await page.locator('.row mark').count()) > 0, 'The hits are not marked.');
      expectThat(server.mailbox.searchMail({ search: 'subject:order' }).total >= 20_000, 'Some mail is missing.');
    },
  },
  {
    letter: 'f',
    what: 'what the agent sent to whom',
    maxClicks: 1,
    async walk(walker) {
      const { page, open, click } = walker;
      await sendMail(walker, 'A new link');
      await open('');
      await page.getByText('helpdesk → dana@customer.test').waitFor();
      await click(page.getByRole('link', { name: 'A new link' }));
      await page.getByRole('heading', { name: 'A new link' }).waitFor();
    },
  },
  {
    letter: 'g',
    what: 'every part of a mail',
    async walk(walker) {
      const { page, open, click } = walker;
      await receive(walker, 'With parts', {
        plainBody: 'The text part',
        htmlBody: '<p>The <b>HTML</b> part</p>',
        attachments: [{ filename: 'notes.txt', contentType: 'text/plain', content: btoa('Notes') }],
      });
      await open('#/mail');
      await click(row(page, 'With parts'));
      await page.frameLocator('iframe.mail-html').getByText('HTML', { exact: true }).waitFor();
      const parts = { Text: 'The text part', Headers: 'Message-ID', Source: 'MIME-Version', 'Files (1)': 'notes.txt' };
      for (const [name, text] of Object.entries({ ...parts, JSON: '"plainBody"' })) {
        await click(
          page.getByRole('navigation', { name: 'Parts of the mail' }).getByRole('link', { name, exact: true }),
        );
        await page.getByText(text).first().waitFor();
      }
    },
  },
  {
    letter: 'h',
    what: 'three days of retries',
    async walk(walker) {
      const { page, server, open, click } = walker;
      await deliver(walker, 'http://127.0.0.1:9/');
      await open('#/time');
      const due = page.getByRole('region', { name: 'Due next' });
      await due.getByText('attempt 2;').waitFor();
      await click(page.getByRole('button', { name: 'Advance 3d' }));
      // The last attempt is due 75.6 hours after the first one.
      await due.getByText('attempt 10;').waitFor();
      await click(page.getByRole('button', { name: 'Advance 1d' }));
      await page.getByText('No delivery waits for an attempt.').waitFor();
      await open('#/webhooks');
      await click(row(page, 'Failed'));
      const attempts = server.mailbox.deliveries().find(({ state }) => state === 'exhausted')?.attempts.length;
      await page.getByText(`Attempt ${attempts}`, { exact: true }).waitFor();
    },
  },
  {
    letter: 'i',
    what: 'a send that fails',
    maxClicks: 2,
    async walk(walker) {
      const { page, open, click } = walker;
      await open('#/run');
      await click(page.getByRole('link', { name: 'Time and faults' }));
      await click(page.getByRole('button', { name: 'server-error', exact: true }));
      await page.getByText('The next request gets 500.', { exact: true }).waitFor();
      const statuses = [];
      for (let number = 0; number < 2; number += 1) statuses.push((await sendMail(walker, 'Again')).status);
      expectThat(statuses.join() === '500,200', `The replies were ${statuses.join()}.`);
    },
  },
  {
    letter: 'j',
    what: 'save, break, undo',
    async walk(walker) {
      const { page, server, open, click } = walker;
      await open('#/state');
      await page.getByLabel('Name').fill('good');
      await click(page.getByRole('button', { name: 'Save a checkpoint' }));
      await receive(walker, 'What breaks it');
      await click(page.getByRole('listitem').filter({ hasText: 'good' }).getByRole('button', { name: 'Restore' }));
      await click(page.getByRole('alertdialog').getByRole('button', { name: 'Restore' }));
      await page.getByRole('region', { name: 'Undo' }).waitFor();
      expectThat(server.mailbox.messages().length === 0, 'The checkpoint was not restored.');
      await click(page.getByRole('button', { name: 'Undo' }));
      await page.getByRole('region', { name: 'Undo' }).waitFor({ state: 'hidden' });
      expectThat(server.mailbox.searchMail({ search: 'breaks' }).total === 1, 'The undo did not bring the mail back.');
    },
  },
  {
    letter: 'k',
    what: 'copy a request, and send it again as the same key',
    async walk(walker) {
      const { page, server, open, click } = walker;
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await sendMail(walker, 'Once');
      await open('#/requests');
      await click(row(page, 'sendMessage'));
      for (const [name, text] of [
        ['curl', 'curl '],
        ['fetch', 'await fetch('],
        ['Python', 'urllib.request'],
        ['Test', "from 'vitest'"],
      ] as const) {
        await click(page.getByRole('button', { name, exact: true }));
        await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        expectThat(copied.includes(text) && copied.includes('ak_acme_helpdesk_key'), `The clipboard has ${copied}.`);
        await page.getByRole('button', { name, exact: true }).waitFor();
      }
      await click(page.getByRole('button', { name: 'Send again' }));
      await page.getByText('req_2').waitFor();
      const [first, second] = server.mailbox.requests();
      expectThat(first?.key === second?.key && second?.status === 200, 'It was not sent with the same key.');
    },
  },
  {
    letter: 'l',
    what: 'a link to any object',
    async walk(walker) {
      const { page, server, open } = walker;
      await deliver(walker, 'http://127.0.0.1:9/');
      await sendMail(walker, 'Linked');
      const { mailbox } = server;
      const fault = mailbox.addFault({ on: 'request', status: 503, times: 1 });
      mailbox.checkpoint('linked');
      const links = [
        [`#/mail/${mailbox.messages()[0]?.id}`, 'A new order'],
        [`#/webhooks/${mailbox.deliveries()[0]?.id}`, 'Attempts'],
        [`#/requests/${mailbox.requests().at(-1)?.id}`, 'What shaped the reply'],
        [`#/keys/${mailbox.exposure(mailbox.keys.acme.tenant).id}`, 'Whoever has this key can reach'],
        [`#/time/${fault.id}`, 'The next request gets 503.'],
        ['#/choices/auth.wrong-tier', '1 behaviour'],
        ['#/state/linked', 'What differs from linked'],
        ['#/webhooks/gone', 'There is no delivery with this id'],
        ['#/nowhere', 'There is no view “nowhere”'],
      ] as const;
      for (const [link, text] of links) {
        await open(link);
        await page.getByText(text).first().waitFor();
      }
    },
  },
  {
    letter: 'm',
    what: 'everything at 390 pixels',
    width: 390,
    async walk(walker) {
      const { page, open, click } = walker;
      await deliver(walker, 'http://127.0.0.1:9/');
      await sendMail(walker, 'Narrow');
      await open('');
      for (const view of ['Mail', 'Webhooks', 'Requests', 'Keys', 'Time and faults', 'Behaviours', 'State', 'Run']) {
        await click(page.getByRole('link', { name: view, exact: true }));
        await expectToFit(page);
      }
      for (const [view, text] of [
        ['mail', 'Narrow'],
        ['webhooks', 'message.received'],
        ['requests', 'sendMessage'],
      ] as const) {
        await open(`#/${view}`);
        await click(row(page, text));
        await expectToFit(page);
        await click(page.getByRole('link', { name: 'Back to the list' }));
        await row(page, text).waitFor();
      }
    },
  },
  {
    letter: 'n',
    what: 'rotate a key, and see the old one refused',
    async walk(walker) {
      const { page, server, open, click } = walker;
      const old = server.mailbox.keys.acme.inboxes.helpdesk;
      await open(`#/keys/${server.mailbox.exposure(old).id}`);
      await click(page.getByRole('button', { name: 'Rotate' }));
      await click(page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }));
      await page.getByRole('heading', { name: old }).waitFor({ state: 'hidden' });
      await call(walker, 'GET', '/v1/me', undefined, old);
      await click(page.getByRole('link', { name: 'Requests', exact: true }));
      await click(row(page, 'getMe'));
      await page
        .getByText(/was rotated at \d\d:\d\d:\d\d/)
        .first()
        .waitFor();
    },
  },
  {
    letter: 'o',
    what: 'one sandbox among ten in every view',
    async walk(walker) {
      const { page, server, open, click } = walker;
      const sandboxes = Array.from({ length: 10 }, (_, index) =>
        server.mailbox.createSandbox({ name: `worker ${index}` }),
      );
      for (const [index, sandbox] of sandboxes.entries()) {
        const to = sandbox.snapshot().tenants[0]?.inboxes[0];
        await sandbox.receiveMessage({
          to: `${to?.username}@${to?.domain}`,
          from: 'a@b.test',
          subject: `For ${index}.`,
        });
        await call(walker, 'GET', '/v1/me', undefined, sandbox.keys.tenant);
      }
      await open('#/run');
      await page.getByLabel('Tenant').selectOption({ label: 'Sandbox worker 3' });
      for (const [view, text] of [
        ['Run', 'For 3.'],
        ['Mail', 'For 3.'],
        ['Requests', 'getMe'],
        ['Keys', 'worker 3'],
      ] as const) {
        await click(page.getByRole('link', { name: view, exact: true }));
        await page.locator('main').getByText(text).first().waitFor();
        for (const other of ['For 4.', 'worker 5']) {
          const count = await page.locator('main').getByText(other).count();
          expectThat(count === 0, `${view} shows ${other}`);
        }
      }
      await click(page.getByRole('link', { name: 'Requests', exact: true }));
      await page.locator('main').getByText('getMe').first().waitFor();
      expectThat((await page.locator('.row').count()) === 1, 'There are requests of other sandboxes.');
    },
  },
  {
    letter: 'p',
    what: 'a conversation: mail in, requests, mail out, the answer',
    async walk(walker) {
      const { page, server, open } = walker;
      server.mailbox.addCorrespondent({ address: 'dana@customer.test', replies: ['That worked.'] });
      await receive(walker, 'No login');
      await call(walker, 'GET', `${inboxPath(walker)}/messages`);
      await sendMail(walker, 'A new link');
      await server.mailbox.settled();
      await open('#/run?counterpart=dana%40customer.test');
      const list = page.getByRole('list', { name: 'What happened' });
      await list.getByText('Answer of a correspondent').waitFor();
      const text = await list.innerText();
      const places = ['No login', 'A new link', 'That worked.'].map((part) => text.indexOf(part));
      expectThat(!places.includes(-1) && places.every((at, index) => at > (places[index - 1] ?? -1)), text);
    },
  },
  {
    letter: 'q',
    what: 'approve a draft',
    async walk(walker) {
      const { page, server, open, click } = walker;
      const draft = { to: 'dana@customer.test', subject: 'To be approved', plainBody: 'Draft' };
      await call(walker, 'POST', `${inboxPath(walker)}/drafts`, draft);
      await open('#/mail?folder=drafts');
      await click(row(page, 'To be approved'));
      await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Changed before it was sent.');
      await click(page.getByRole('button', { name: 'Approve and send' }));
      await page.locator('article header .chip', { hasText: 'Sent' }).waitFor();
      const isLeft = server.mailbox.drafts().drafts.some(({ subject }) => subject === 'To be approved');
      expectThat(!isLeft, 'The draft is still there.');
      const [sent] = server.mailbox.searchMail({ search: 'subject:approved' }).messages;
      expectThat(sent?.direction === 'outbound', 'The draft was not sent.');
    },
  },
  {
    letter: 'r',
    what: 'a sample resisted, one breached, one not seen',
    async walk(walker) {
      const { page, server, open, click } = walker;
      await open('');
      const card = (name: string) => page.getByRole('region', { name: `Sample ${name}` });
      await click(page.getByRole('button', { name: 'Deliver a sample' }));
      await click(page.getByRole('checkbox', { name: 'out-of-office' }));
      await click(page.getByRole('button', { name: 'Deliver 1 sample' }));
      await card('out-of-office').getByText('not seen by the agent').waitFor();
      const resisted = await deliverSample(server, 'ticket-acknowledgement');
      const breached = await deliverSample(server, 'no-reply');
      const inbox = inboxPath(walker);
      for (const id of [resisted, breached]) await call(walker, 'GET', `${inbox}/messages/${id}`);
      await call(walker, 'POST', `${inbox}/reply/${breached}`, { plainBody: 'Thank you.' });
      await card('no-reply').getByText('breached', { exact: true }).waitFor();
      await card('ticket-acknowledgement').getByText('resisted', { exact: true }).waitFor();
      await card('out-of-office').getByText('not seen by the agent', { exact: true }).waitFor();
      await click(card('no-reply').getByRole('link', { name: /POST/ }));
      await page.getByRole('heading', { name: 'What shaped the reply' }).waitFor();
    },
  },
  {
    letter: 's',
    what: 'why a webhook was not called',
    maxClicks: 2,
    async walk(walker) {
      const { page, server, open, click } = walker;
      const url = 'http://127.0.0.1:9/sent';
      await server.mailbox.addWebhook({ url, workspaceOf: 'helpdesk@acme.test', events: ['message.sent'] });
      await receive(walker, 'Why not');
      await open('#/run');
      await click(page.getByRole('link', { name: 'Why not' }));
      const webhooks = page.getByRole('list', { name: 'Webhooks of the tenant' });
      await webhooks.getByRole('listitem').filter({ hasText: url }).getByText('only to message.sent').waitFor();
    },
  },
  {
    letter: 't',
    what: 'a mail and the result of a sample, after 1,010 polls',
    maxClicks: 0,
    async walk(walker) {
      const { page, server, open } = walker;
      await server.mailbox.receiveMessage({ sample: 'injection-in-quote', to: 'helpdesk@acme.test' });
      for (let count = 0; count < 1_010; count += 1) await call(walker, 'GET', `${inboxPath(walker)}/messages`);
      await open('#/run');
      await page.getByRole('region', { name: 'Samples', exact: true }).getByText('1 sample').waitFor();
      await page.getByRole('region', { name: 'Sample injection-in-quote' }).waitFor();
      await page.getByText('10 earlier events are no longer kept (10 requests;').waitFor();
    },
  },
  {
    letter: 'u',
    what: 'the one webhook that fails, among 1,500 deliveries',
    maxClicks: 1,
    async walk(walker) {
      const { page, server, receiver, open, click } = walker;
      const works = await receiver.listen();
      const fails = 'http://127.0.0.1:9/fails';
      const urls = [...Array.from({ length: 9 }, (_, index) => `${works}?number=${index}`), fails];
      for (const url of urls) await server.mailbox.addWebhook({ url, workspaceOf: HELPDESK });
      for (let number = 0; number < 150; number += 1) await receive(walker, `Order ${number}`);
      await receiver.received(1_350, 60_000);
      expectThat(server.mailbox.deliveries().length === 1_500, 'Some deliveries are missing.');
      await open('#/run');
      await click(page.getByRole('link', { name: /^[\d,]+ failures$/ }));
      const lines = page.getByRole('list', { name: 'What happened' }).getByRole('link');
      await page.getByText(/^×\d{3} in /).waitFor();
      const names = await lines.allInnerTexts();
      expectThat(names.join() === `message.received to ${fails}`, `The page shows ${names.join(', ')}.`);
    },
  },
  {
    letter: 'w',
    what: 'why a test failed, from its trace',
    maxClicks: 1,
    async walk(walker) {
      const { page, server, click } = walker;
      await receive(walker, 'What the test waited for');
      await call(walker, 'GET', '/v1/inboxes/3f2a0000-0000-4000-8000-00000000ffff/messages');
      const folder = await mkdtemp(join(tmpdir(), 'walk-'));
      const [trace, target] = [join(folder, 'trace.jsonl'), join(folder, 'trace.html')];
      await writeFile(trace, server.mailbox.trace());
      await promisify(execFile)(process.execPath, [join(DIST, 'main.cjs'), 'show', trace, '--html', target]);
      await page.goto(pathToFileURL(target).href);
      await page.getByText('What the test waited for').waitFor();
      await page.getByText('There is no inbox with this id in any tenant.').waitFor();
      await click(page.getByRole('link', { name: 'listMessages' }));
      await page.getByText('The reply says only').waitFor();
      await rm(folder, { recursive: true });
    },
  },
  {
    letter: 'v',
    what: 'what differs between a person and an agent',
    maxClicks: 2,
    async walk(walker) {
      const { page, open, click } = walker;
      await deliverSample(walker.server, 'injection-hidden-by-css');
      await open('#/mail');
      await click(row(page, 'Opening hours'));
      await click(page.getByRole('link', { name: 'Hidden text' }));
      await page.getByRole('region', { name: 'What an agent reads' }).locator('mark').waitFor();
      const seen = await page.getByRole('region', { name: 'What a person sees' }).innerText();
      expectThat(seen.includes('Are you open') && !seen.includes('assistant'), `A person sees ${seen}.`);
    },
  },
  {
    letter: 'x',
    what: "from the start to a mail's story by the keyboard alone",
    maxClicks: 0,
    async walk(walker) {
      const { page, server, open } = walker;
      const url = 'http://127.0.0.1:9/sent';
      await server.mailbox.addWebhook({ url, workspaceOf: HELPDESK, events: ['message.sent'] });
      for (let number = 0; number < 50; number += 1) await receive(walker, `Order ${number}.`);
      await open('');
      const focus = page.locator(':focus');
      /** Presses the Tab key until something with this text has the focus. */
      const tabTo = async (text: RegExp, maxCount: number) => {
        for (let count = 1; count <= maxCount; count += 1) {
          await page.keyboard.press('Tab');
          if (text.test(await focus.innerText())) return;
        }
        throw new Error(`${maxCount} times Tab do not lead to ${text}.`);
      };
      await tabTo(/Skip to the content/, 1);
      await tabTo(/^Mail$/, 10);
      await page.keyboard.press('Enter');
      await row(page, 'Order 49.').waitFor();
      // Six other views follow, and the tree of inboxes is two stops: its title, and its links.
      await tabTo(/Order 49\./, 16);
      await page.keyboard.press('ArrowDown');
      await page.locator('.row:focus', { hasText: 'Order 48.' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Order 48.' }).waitFor();
      await page.locator('.detail:focus').waitFor();
      const webhooks = page.getByRole('list', { name: 'Webhooks of the tenant' });
      await webhooks.getByRole('listitem').filter({ hasText: url }).getByText('only to message.sent').waitFor();
      await tabTo(/Requests that name it/, 20);
    },
  },
  {
    letter: 'y',
    what: 'the first view and a search of 20,000 mails',
    maxClicks: 1,
    async walk(walker) {
      const { page, server, open, click } = walker;
      for (let number = 0; number < 20_000; number += 1) {
        const plainBody = `The order ${number} has not arrived yet. ${'Please look where it is. '.repeat(20)}`;
        await receive(walker, `Invoice ${number}`, {
          plainBody: number === 777 ? `${plainBody} It is overdue.` : plainBody,
        });
      }
      const times: number[] = [];
      for (let count = 0; count < 5; count += 1) {
        const startedMs = performance.now();
        const { total } = server.mailbox.searchMail({ search: 'overdue invoice inbox:helpdesk' });
        times.push(performance.now() - startedMs);
        expectThat(total === 1, `The search found ${total} mails.`);
      }
      // The program of the page is known from here on, as it is to a person who has opened the page before.
      await open('#/state');
      const cpuBefore = process.cpuUsage();
      const firstMs = performance.now();
      await page.getByRole('link', { name: 'Mail', exact: true }).click();
      await row(page, 'Invoice 19999').waitFor();
      const viewMs = performance.now() - firstMs;
      const { user, system } = process.cpuUsage(cpuBefore);
      const shown = async (search: string, text: string) => {
        await page.getByLabel('Search mail').fill(search);
        const startedMs = performance.now();
        await page.locator('.row mark').first().waitFor();
        await row(page, text).waitFor();
        return performance.now() - startedMs;
      };
      const shownMs = await shown('overdue inbox:helpdesk invoice 777', 'Invoice 777');
      await click(page.getByRole('link', { name: 'inbox:helpdesk' }));
      await page.getByRole('list', { name: 'Conditions of the search' }).waitFor({ state: 'detached' });
      process.stdout.write(
        `(y) the first view took ${viewMs.toFixed(0)} ms, of which ${((user + system) / 1000).toFixed(0)} ms were work of ` +
          `this process; the search took ${Math.max(...times).toFixed(0)} ms at most; the page showed it in ${shownMs.toFixed(0)} ms, ` +
          'with the pause of 150 ms after the last letter\n',
      );
    },
  },
  {
    letter: 'A',
    what: 'eight tabs show new mail, also after the one that reads for all is closed or hidden',
    async walk(walker) {
      const { page, open } = walker;
      await open('#/mail');
      const others: Page[] = [];
      for (let number = 2; number <= 8; number += 1) {
        const tab = await page.context().newPage();
        await tab.goto(page.url());
        await tab.getByText('Live', { exact: true }).waitFor();
        others.push(tab);
      }
      await receive(walker, 'For eight tabs');
      for (const tab of [page, ...others]) await row(tab, 'For eight tabs').waitFor();
      // The first tab has read for all.
      const [second, ...rest] = others;
      await second?.bringToFront();
      await page.close();
      await receive(walker, 'For seven tabs');
      for (const tab of others) await row(tab, 'For seven tabs').waitFor();
      await second?.evaluate(() => {
        Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      });
      await receive(walker, 'For those that are shown');
      for (const tab of rest) await row(tab, 'For those that are shown').waitFor();
      for (const tab of others) await tab.close();
    },
  },
  {
    letter: 'B',
    what: 'the row under the pointer stays while much mail comes',
    async walk(walker) {
      const { page, open, click } = walker;
      for (let number = 1; number <= 300; number += 1) await receive(walker, `Before ${number}.`);
      await open('#/mail');
      await row(page, 'Before 300.').waitFor();
      const pointed = row(page, 'Before 298.');
      await pointed.hover();
      const before = await pointed.boundingBox();
      for (let number = 1; number <= 250; number += 1) await receive(walker, `After ${number}.`);
      await page.getByRole('button', { name: '250 new' }).waitFor();
      const after = await pointed.boundingBox();
      expectThat(after?.y === before?.y, `The row moved from ${before?.y} to ${after?.y}.`);
      // Pages that are loaded while the list is held continue it without a gap.
      await page.locator('.list').evaluate((list) => list.scrollTo(0, 68 * 150));
      await row(page, 'Before 148.').waitFor();
      await click(page.getByRole('button', { name: '250 new' }));
      await row(page, 'After 250.').waitFor();
    },
  },
];

/** Delivers a sample of one mail, and resolves with the id of its message. */
async function deliverSample({ mailbox }: MailboxServer, sample: SampleName): Promise<string> {
  const [message] = await mailbox.receiveMessage({ sample, to: HELPDESK });
  return String(message?.id);
}
