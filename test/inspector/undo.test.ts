import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'vitest';
import { findViolations } from './find-violations.ts';
import { useInspector } from './open-inspector.ts';

const open = useInspector();

describe('a change that removes something', () => {
  test('is asked about in a dialog that the keyboard cancels and confirms, and that gives the focus back', async (context) => {
    const { expect } = context;
    const { page, server } = await open(context, { hash: '#/state' });
    await server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test' });
    const button = page.getByRole('main').getByRole('button', { name: 'Reset all data' });
    const question = page.getByRole('alertdialog', { name: 'Reset all data?' });
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    for (const cancel of ['Escape', 'Enter']) {
      await button.focus();
      await page.keyboard.press('Enter');
      await question.waitFor();
      expect(await focused()).toBe('Cancel');
      expect(await findViolations(page)).toEqual([]);
      await page.keyboard.press(cancel);
      await question.waitFor({ state: 'detached' });
      expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
      expect(server.mailbox.messages()).toHaveLength(1);
    }
    await page.keyboard.press('Enter');
    await question.waitFor();
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Reset all data');
    await page.keyboard.press('Enter');
    await expect.poll(() => server.mailbox.messages()).toHaveLength(0);
    await question.waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Undo' }).waitFor();
  });

  test('is never asked about in a dialog of the browser', ({ expect }) => {
    const folder = 'src/inspector';
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file));
    const calls = files.filter((file) =>
      /\b(?:confirm|alert|prompt)\(/.test(readFileSync(`${folder}/${file}`, 'utf8')),
    );
    expect(files.length).toBeGreaterThan(40);
    expect(calls).toEqual([]);
  });
});
