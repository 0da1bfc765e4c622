import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { type TestContext, test, vi } from 'vitest';
import { createMailbox } from '../../../src/mailbox/index.ts';
import { findViolations } from '../../inspector/find-violations.ts';
import { useBrowser } from '../../support/browser.ts';
import { NEVER, runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';
import { COMMAND, run } from '../../support/processes.ts';

vi.setConfig({ testTimeout: 120_000 });
const openProfile = useBrowser();

/** Writes the trace of a mail that nobody could read, and of a request that was refused. */
async function writeTrace(test: TestContext): Promise<string> {
  const mailbox = createMailbox();
  const subject = 'Order 1042 </script><!-- <script>document.title = "run"</script>';
  await mailbox.receiveMessage({
    to: 'helpdesk@acme.test',
    from: 'Dana <dana@customer.test>',
    subject,
    plainBody: 'Hi.',
  });
  const url = `${mailbox.baseUrl}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}/messages`;
  await mailbox.fetch(url, { headers: { 'X-API-Key': mailbox.keys.acme.inboxes.billing } });
  const file = join(await makeFolder(test), 'trace.jsonl');
  await writeFile(file, mailbox.trace());
  return file;
}

/** Opens a page, and returns it with the URLs of everything that it requests. */
async function openPage(test: TestContext, url: string): Promise<{ page: Page; requested: string[] }> {
  const page = await (await openProfile(test)).newPage();
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(url);
  await page.getByText('Trace, read only').waitFor();
  return { page, requested };
}

test('one HTML file shows a trace in the views, read only, and requests nothing', async (test) => {
  const file = await writeTrace(test);
  const target = `${file}.html`;
  const { code, out, err } = await runHere(['show', file, '--html', target], {}, { interrupted: NEVER });
  test.expect([code, out, err]).toEqual([0, [`The page is in ${target}.`], '']);

  const { page, requested } = await openPage(test, `${pathToFileURL(target)}#/run`);
  await page.getByRole('link', { name: /^Order 1042 <\/script><!-- <script>/ }).click();
  await page.getByRole('region', { name: 'Open mail' }).getByText('Hi.', { exact: true }).waitFor();
  test.expect(await page.title()).toMatch(/^Order 1042 .* · Mail · Inspector$/);
  test.expect(await page.getByRole('button', { name: /Delete|Save|New mail from/ }).count()).toBe(0);
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.getByRole('link', { name: /listMessages/ }).click();
  await page.getByText(/^Why: Inbox key of /).waitFor();
  test.expect(await page.getByRole('button', { name: /Send again|Clear/ }).count()).toBe(0);
  test.expect(await findViolations(page)).toEqual([]);
  test.expect(await page.getByRole('link', { name: /Keys|State|Time/ }).count()).toBe(0);
  test.expect(requested.filter((url) => !/^(?:file|data):/.test(url))).toEqual([]);
});

test('in a trace, the command palette goes to what the trace has, and does nothing', async (test) => {
  const file = await writeTrace(test);
  await runHere(['show', file, '--html', `${file}.html`], {}, { interrupted: NEVER });
  const { page } = await openPage(test, `${pathToFileURL(`${file}.html`)}#/run`);
  const options = page.getByRole('listbox', { name: 'Matches' }).getByRole('option');
  await page.keyboard.press('Control+k');
  const views = ['RunView', 'MailView', 'WebhooksView', 'RequestsView'];
  await test.expect.poll(() => options.allTextContents()).toEqual(views);
  await page.keyboard.type('sample');
  await page.getByText('Nothing has all of these words.').waitFor();
  await page.getByRole('combobox', { name: 'Go to, or do something' }).fill('404 list');
  await page.getByText(/^1 match/).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText(/^Why: Inbox key of /).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('1042 order');
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Open mail' }).getByText('Hi.', { exact: true }).waitFor();
});

test('show --open serves the page of a trace on loopback until it is interrupted', async (test) => {
  const file = await writeTrace(test);
  const env = { BROWSER: 'true' };
  const running = run(test, [...COMMAND, 'show', file, '--open'], { env });
  const [, url = ''] = /(http:\S+)/.exec(await running.untilStdout(/The trace is at \S+/)) ?? [];
  test.expect(new URL(url).hostname).toBe('127.0.0.1');
  const { page } = await openPage(test, `${url}#/mail`);
  await page.getByRole('link', { name: /Order 1042/ }).waitFor();
  const foreign = await page.request.get(url, { headers: { host: 'attacker.example' } });
  test.expect([foreign.status(), await foreign.text()]).toEqual([403, '']);
  running.child.kill('SIGINT');
  test.expect((await running.ended).signal ?? (await running.ended).code).not.toBe(1);
  await test.expect(page.request.get(url)).rejects.toThrow();
});

test('a trace shows what became of samples, and its mail is found by inbox, sandbox and sample', async (test) => {
  const mailbox = createMailbox();
  await mailbox.receiveMessage({ sample: 'injection-in-quote', to: 'helpdesk@acme.test' });
  const { subject = '' } = mailbox.messages().at(-1) ?? {};
  const [invoice] = await mailbox.receiveMessage({
    to: 'billing@acme.test',
    from: 'kim@visitor.test',
    subject: 'Invoice 7',
  });
  const { billing } = mailbox.ids.acme.inboxes;
  const agent = mailbox.client(mailbox.keys.acme.inboxes.billing);
  await agent.updateMessage(billing, String(invoice?.id), { isRead: true });
  const sandbox = mailbox.createSandbox({ name: 'checkout' });
  await sandbox.receiveMessage({
    to: `helpdesk@${sandbox.domain}`,
    from: 'kim@visitor.test',
    subject: 'In the sandbox',
  });
  const file = join(await makeFolder(test), 'trace.jsonl');
  await writeFile(file, mailbox.trace());
  await runHere(['show', file, '--html', `${file}.html`], {}, { interrupted: NEVER });
  const { page } = await openPage(test, `${pathToFileURL(`${file}.html`)}#/run`);
  await page.getByRole('region', { name: 'Samples', exact: true }).getByText('1 sample').waitFor();
  await page.getByRole('region', { name: 'Sample injection-in-quote' }).getByText('not seen by the agent').waitFor();

  const find = async (search: string) => {
    await page.goto(`${pathToFileURL(`${file}.html`)}#/mail?search=${encodeURIComponent(search)}`);
    await page.getByRole('listitem').filter({ hasText: search }).waitFor();
  };
  const expectOnly = async (search: string, subject: string) => {
    await find(search);
    await page.getByRole('region', { name: 'Mail, 1 messages' }).getByText(subject).waitFor();
  };
  await expectOnly('is:sample', subject);
  await page.locator('.row').getByText('not seen').waitFor();
  await expectOnly('inbox:billing', 'Invoice 7');
  await expectOnly('sandbox:check', 'In the sandbox');
  await find('is:unread');
  await page.getByRole('region', { name: 'Mail, 2 messages' }).getByText('In the sandbox').waitFor();
  test.expect(await page.getByRole('option').allInnerTexts()).toContain('Sandbox checkout');
});

test('a page says which line of a long trace cannot be read', async (test) => {
  const mailbox = createMailbox();
  // Only the start of a trace is checked before its page is opened.
  const mail = { to: 'helpdesk@acme.test', from: 'dana@customer.test', plainBody: 'x'.repeat(490_000) };
  for (let count = 0; count < 4; count += 1) await mailbox.receiveMessage(mail);
  const file = join(await makeFolder(test), 'trace.jsonl');
  const trace = mailbox.trace();
  await writeFile(file, `${trace}{"type":"entry"`);
  const running = run(test, [...COMMAND, 'show', file, '--open'], { env: { BROWSER: 'true' } });
  const [, url = ''] = /(http:\S+)/.exec(await running.untilStdout(/The trace is at \S+/)) ?? [];
  const { page } = await openPage(test, `${url}#/run`);
  const number = trace.split('\n').length;
  await page.getByText(`This trace cannot be shown: its line ${number} is not JSON.`).waitFor();
});

test('a file that is no trace makes no page', async (test) => {
  const file = join(await makeFolder(test), 'no-trace.txt');
  await writeFile(file, 'Hello');
  const { code, err } = await runHere(['show', file, '--html', `${file}.html`], {}, { interrupted: NEVER });
  test.expect([code, err]).toEqual([1, test.expect.stringContaining('line 1 is not JSON.')]);
  await test.expect(readFile(`${file}.html`)).rejects.toThrow('ENOENT');
});
