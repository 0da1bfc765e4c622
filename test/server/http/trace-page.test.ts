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

test('a file that is no trace makes no page', async (test) => {
  const file = join(await makeFolder(test), 'no-trace.txt');
  await writeFile(file, 'Hello');
  const { code, err } = await runHere(['show', file, '--html', `${file}.html`], {}, { interrupted: NEVER });
  test.expect([code, err]).toEqual([1, test.expect.stringContaining('line 1 is not JSON.')]);
  await test.expect(readFile(`${file}.html`)).rejects.toThrow('ENOENT');
});
