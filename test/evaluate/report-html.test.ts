import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Locator } from 'playwright-core';
import { type TestContext, test, vi } from 'vitest';
import { type EvaluatedAgents, evaluate, type Scenario } from '../../src/evaluate/index.ts';
import { trialKey, writeEvaluationPage } from '../../src/evaluate/report-html.ts';
import { findViolations } from '../inspector/find-violations.ts';
import { useBrowser } from '../support/browser.ts';
import { makeFolder } from '../support/folder.ts';
import { replier } from './guilty-agents.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Returns whether an element has the focus of the keyboard. */
function isFocused(element: Locator): Promise<boolean> {
  return element.evaluate((each) => each.matches(':focus'));
}

const openProfile = useBrowser();

const SCENARIOS: Scenario[] = [
  {
    name: 'Answers </script><b id="planted">once</b>',
    steps: [{ deliver: { from: 'dana@customer.test', subject: 'Order 7 </script>', plainBody: 'Where is it?' } }],
    expect: [{ sent: { to: 'dana@customer.test', times: 1 } }],
  },
  {
    name: 'Is impossible',
    description: 'Nobody can pass it.',
    steps: [{ deliver: { from: 'kim@visitor.test', subject: 'Size L', plainBody: 'Which?' } }],
    expect: [{ sent: { to: 'nobody@customer.test' } }],
  },
];

/** A mail that was sent although it never may. */
const TWICE: Omit<Scenario, 'name'> = {
  steps: [{ deliver: { from: 'dana@customer.test', subject: 'Order 8', plainBody: 'Where is it?' } }],
  expect: [{ answered: 'first' }, { never: { sent: { to: 'dana@customer.test' } } }],
};

/** Runs scenarios, and opens a page in which their report can be loaded. Only first trials have a run. */
async function openReport(
  context: TestContext,
  width: number,
  {
    scenarios = SCENARIOS,
    repeat = 2,
    agent = replier,
  }: { scenarios?: Scenario[]; repeat?: number; agent?: EvaluatedAgents } = {},
) {
  const traces = new Map<string, string>();
  const evaluation = await evaluate(agent, scenarios, {
    repeat,
    quietMs: 300,
    onTrial({ agent, scenario, trial, trace }) {
      traces.set(JSON.stringify([agent, scenario, trial.number]), trace);
    },
  });
  const file = join(await makeFolder(context), 'report.html');
  const byKey = new Map(
    evaluation.scenarios.map((each, index) => [
      trialKey(index, 1),
      traces.get(JSON.stringify([each.agent, each.name, 1])),
    ]),
  );
  await writeFile(file, [...(await writeEvaluationPage(evaluation, (key) => byKey.get(key)))].join(''));
  const profile = await openProfile(context);
  const page = await profile.newPage();
  await page.setViewportSize({ width, height: 900 });
  const requested: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  return { page, url: String(pathToFileURL(file)), requested, problems };
}

/** Counts the lines of the text of each element, by the boxes that the browser has made for it. */
function countLines(elements: Element[]): number[] {
  return elements.map((element) => {
    const range = element.ownerDocument.createRange();
    range.selectNodeContents(element);
    const tops = [...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 6));
    return new Set(tops).size;
  });
}

test.for([1440, 1024, 390])(
  'one HTML file shows the trials and opens the run of one, at %i pixels',
  async (width, context) => {
    const { page, url, requested, problems } = await openReport(context, width);
    const { expect } = context;
    await page.goto(url);
    // The worst is first.
    const names = await page.locator('tbody .title bdi').allInnerTexts();
    expect(names).toEqual(['Is impossible', 'Answers </script><b id="planted">once</b>']);
    expect(await page.locator('#planted').count()).toBe(0);
    await page.getByText('Is impossible', { exact: true }).first().click();
    await page.getByText('Nobody can pass it.').waitFor();
    // The second trials have no trace here, so their dots open nothing.
    expect(await page.locator('tbody a.dot').count()).toBe(2);
    expect(await page.locator('tbody span.dot').count()).toBe(2);
    expect(await page.locator('.dot.failed').count()).toBe(2);
    expect(await page.locator('.dot.failed').first().getAttribute('title')).toBe(
      'Trial 1: failed. Not so: sent {"to":"nobody@customer.test"}',
    );
    // No head and no number of the table is broken over lines; on a phone, one line has the numbers.
    const texts = page.locator(width < 600 ? '.line' : 'thead th, tbody td');
    const lines = await texts.evaluateAll(countLines);
    expect(lines.length).toBeGreaterThan(width < 600 ? 1 : 10);
    expect(new Set(lines), String(lines)).toEqual(new Set([1]));
    expect(await page.evaluate('document.fonts.check("14px \\"Inter Variable\\"")')).toBe(true);

    await page.getByRole('switch', { name: 'Only failures' }).check();
    expect(await page.locator('tbody tr:visible .title bdi').allInnerTexts()).toEqual(['Is impossible']);
    await page.getByRole('heading', { name: 'Failed trials (2)' }).waitFor();
    await page.locator('.group > summary').click();
    await page.getByText('Is impossible, trial 1').click();
    await page.getByText('Expected at least 1 sent mail with:').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await findViolations(page)).toEqual([]);

    await page.goto(url);
    await page.getByRole('link', { name: 'Trial 1: passed, open its run' }).click();
    await page.getByText('Trace, read only').waitFor();
    await page.locator('.timeline').getByText('Order 7 </script>').first().waitFor();
    expect(await page.locator('#report').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await findViolations(page)).toEqual([]);

    // Back to the report, at the link of the trial: by the link, and by a key.
    const back = page.getByRole('link', { name: 'All trials' });
    for (let presses = 0; presses < 20 && !(await isFocused(back)); presses += 1) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Evaluation' }).waitFor();
    expect(await page.locator(':target').getAttribute('aria-label')).toBe('Trial 1: passed, open its run');
    await page.getByRole('link', { name: 'Trial 1: failed, open its run' }).click();
    await back.waitFor();
    await page.keyboard.press('0');
    await page.getByRole('heading', { name: 'Evaluation' }).waitFor();
    expect(await page.locator(':target').getAttribute('aria-label')).toMatch(
      /^Trial 1: failed, open its run\. Not so: /,
    );
    expect(requested.filter((url) => !/^(?:file|data):/.test(url))).toEqual([]);
    expect(problems).toEqual([]);
  },
);

test.for([1440, 1024, 390])(
  'the page of several agents has a bar and a column for each, at %i pixels',
  async (width, context) => {
    const agent = { careful: replier, 'says-nothing': () => undefined };
    const { page, url, problems } = await openReport(context, width, { agent });
    const { expect } = context;
    await page.goto(url);
    await page.getByRole('heading', { name: '2 agents' }).waitFor();
    expect(await page.locator('.agents .title').allInnerTexts()).toEqual(['careful', 'says-nothing']);
    expect(await page.locator('.agents .share:visible').count()).toBe(2);
    const rows = page.locator('.by-agent tbody tr');
    // The worst is first: nobody can pass it.
    expect(await rows.locator('.title bdi').allInnerTexts()).toEqual([
      'Is impossible',
      'Answers </script><b id="planted">once</b>',
    ]);
    expect(await rows.nth(1).locator('.dot').count()).toBe(4);
    expect(await rows.nth(1).locator('.bad').innerText()).toContain('0/2');
    // Which column belongs to whom is seen at every width.
    const names = page.locator(width < 600 ? '.by-agent td .agent:visible' : '.by-agent thead th:visible');
    expect((await names.allInnerTexts()).slice(width < 600 ? 0 : 1)).toContain('says-nothing');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await page
      .getByRole('link', { name: /^says-nothing, trial 1: failed, open its run/ })
      .first()
      .click();
    await page.getByText('Trace, read only').waitFor();
    await page.getByText('says-nothing: ').first().waitFor();
    expect(problems).toEqual([]);
  },
);

test('the run of a trial says above it whether and why it failed, and marks the mail that decided', async (context) => {
  const { page, url } = await openReport(context, 1280, {
    scenarios: [...SCENARIOS, { ...TWICE, name: 'Sends nothing to Dana' }],
    repeat: 1,
  });
  const { expect } = context;
  await page.goto(`${url}?trial=3-1`);
  const head = page.getByRole('region', { name: 'failed, trial 1 of 1' });
  await head.getByText('Sends nothing to Dana').waitFor();
  await head.getByText('Not so: never sent {"to":"dana@customer.test"}').waitFor();
  await head.getByText('Expected no sent mail with:').waitFor();
  await head.getByText('answered first').waitFor();
  // The mail is marked, and so is the end of the run.
  const marked = page.locator('.bubble.place');
  await marked.getByText('→ dana@customer.test').waitFor();
  await marked.getByText('Why this trial did not pass. Not so: never sent {"to":"dana@customer.test"}').waitFor();
  expect(await marked.count()).toBe(1);
  await page.getByText('The trial ended here. Not so: never sent').waitFor();
  // Every time is a time of day, with the time since the start of the run.
  const times = await page.locator('.timeline time').allTextContents();
  expect(times.length).toBeGreaterThan(1);
  for (const time of times) expect(time).toMatch(/^09:00:00 \+0:\d\d$/);
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.locator('.row time, tr time').first().waitFor();
  expect(await page.getByText(/\bago\b/).count()).toBe(0);

  await page.keyboard.press('p');
  await page.getByRole('region', { name: 'failed, trial 1 of 1' }).getByText('Is impossible').waitFor();
  expect(await page.locator('.bubble.place').count()).toBe(0);
  await page.getByText('The trial ended here. Not so: sent').waitFor();
  await page.getByRole('link', { name: 'Next failure' }).click();
  await head.getByText('Sends nothing to Dana').waitFor();
  await page.goto(`${url}?trial=1-1`);
  await page.getByRole('region', { name: 'passed, trial 1 of 1' }).waitFor();
  expect(await page.getByText('The trial ended here.').count()).toBe(0);
  expect(await findViolations(page)).toEqual([]);
});

test('a print of a report shows every trial, also what is closed on the screen', async (context) => {
  const { page, url } = await openReport(context, 1440);
  await page.goto(url);
  await page.emulateMedia({ media: 'print' });
  const { expect } = context;
  await page.getByText('Expected at least 1 sent mail with:').first().waitFor();
  expect(await page.getByText('Nobody can pass it.').isVisible()).toBe(true);
  expect(await page.evaluate('getComputedStyle(document.body).overflow')).toBe('visible');
  expect(await page.evaluate('document.body.scrollHeight <= document.body.clientHeight')).toBe(true);
});
