import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Locator } from 'playwright-core';
import { test, vi } from 'vitest';
import { evaluate, type Scenario } from '../../src/evaluate/index.ts';
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

test.for([1440, 390])(
  'one HTML file shows the trials and opens the run of one, at %i pixels',
  async (width, context) => {
    const traces = new Map<string, string>();
    const evaluation = await evaluate(replier, SCENARIOS, {
      repeat: 2,
      quietMs: 300,
      onTrial({ scenario, trial, trace }) {
        const index = SCENARIOS.findIndex(({ name }) => name === scenario);
        if (trial.number === 1) traces.set(trialKey(index, trial.number), trace);
      },
    });
    const file = join(await makeFolder(context), 'report.html');
    await writeFile(file, [...(await writeEvaluationPage(evaluation, (key) => traces.get(key)))].join(''));

    const profile = await openProfile(context);
    const page = await profile.newPage();
    await page.setViewportSize({ width, height: 900 });
    const requested: string[] = [];
    const problems: string[] = [];
    page.on('request', (request) => requested.push(request.url()));
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(String(pathToFileURL(file)));
    const { expect } = context;
    const names = await page.locator('tbody th').allInnerTexts();
    expect(names[0]).toBe('Answers </script><b id="planted">once</b>');
    expect(names[1]).toContain('Nobody can pass it.');
    expect(await page.locator('#planted').count()).toBe(0);
    // The second trials have no trace here, so their dots open nothing.
    expect(await page.locator('tbody a.dot').count()).toBe(2);
    expect(await page.locator('tbody span.dot').count()).toBe(2);
    expect(await page.locator('.dot.failed').count()).toBe(2);
    // The heads and the numbers of the table are not broken over lines.
    const heights = await page.locator('thead th').evaluateAll((cells) => cells.map((cell) => cell.clientHeight));
    expect(new Set(heights).size, String(heights)).toBe(1);
    expect(heights[0]).toBeLessThan(60);
    await page.getByText('Is impossible, trial 1, failed').click();
    await page.getByText('Not so: sent {"to":"nobody@customer.test"}').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await findViolations(page)).toEqual([]);

    await page.getByRole('link', { name: 'Trial 1: passed, open its run' }).click();
    await page.getByText('Trace, read only').waitFor();
    await page.getByText('Order 7 </script>').first().waitFor();
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
    expect(await page.locator(':target').getAttribute('aria-label')).toBe('Trial 1: failed, open its run');
    expect(requested.filter((url) => !/^(?:file|data):/.test(url))).toEqual([]);
    expect(problems).toEqual([]);
  },
);
