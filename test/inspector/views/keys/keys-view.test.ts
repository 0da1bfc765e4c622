import { test } from 'vitest';
import { openSocket } from '../../../support/stream-client.ts';
import { answerNext, useInspector } from '../../open-inspector.ts';

const open = useInspector();

test('a key is rotated on the page, which shows that its stream closes', async (context) => {
  const { expect } = context;
  const { page, server } = await open(context, { hash: '#/run' });
  const { helpdesk } = server.mailbox.keys.acme.inboxes;
  await using _ = await openSocket(`${server.url}/v1/ws`, { 'X-API-Key': helpdesk });
  await page.getByText('opened with').waitFor();

  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('link', { name: 'helpdesk@acme.test' }).click();
  await page.getByText('Inbox key · Acme · in code: keys.acme.inboxes.helpdesk').waitFor();
  await page.getByText('1 inbox', { exact: true }).waitFor();
  const warning = answerNext(page, true);
  await page.getByRole('button', { name: 'Rotate' }).click();
  expect(await warning).toContain('which is refused from then on');
  const heading = page.getByRole('region', { name: 'Open key' }).getByRole('heading', { level: 1 });
  await expect.poll(() => heading.textContent()).not.toBe(helpdesk);
  const key = await heading.textContent();
  expect(server.mailbox.exposure(String(key))).toMatchObject({ tier: 'inbox' });
  expect(() => server.mailbox.exposure(helpdesk)).toThrow('There is no valid key');
  await page.getByRole('link', { name: 'Run' }).click();
  await page.getByText('closed with').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'hidden' });
  expect(server.mailbox.exposure(helpdesk)).toMatchObject({ handle: expect.any(String) });
});
