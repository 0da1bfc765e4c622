import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startServer } from 'agent-mailbox-mock/server';
import { type TestContext, test } from 'vitest';
import { findBrowser, HOW_TO_GET_ONE } from '../../support/browser.ts';
import { makeFolder } from '../../support/folder.ts';
import { ROOT } from '../../support/root.ts';

const execute = promisify(execFile);

/** Runs the specs by Playwright and returns its output, in which each test has passed. */
async function runSpecs({ skip }: TestContext, env: Record<string, string> = {}): Promise<string> {
  const path = findBrowser();
  if (path === undefined && !process.env.CI) return skip(HOW_TO_GET_ONE);
  const args = [
    'node_modules/@playwright/test/cli.js',
    'test',
    '-c',
    'test/testing/playwright/specs/playwright.config.ts',
  ];
  const options = { cwd: ROOT, env: { ...process.env, CHROMIUM_PATH: path, ...env } };
  return (await execute(process.execPath, args, options)).stdout;
}

test.sequential('the requests of a page are intercepted, and each test has a sandbox', async (context) => {
  context.expect(await runSpecs(context)).toMatch(/3 passed/);
});

test.sequential('with AGENT_MAILBOX_URL, the tests use a running server, and close their sandboxes', async (context) => {
  await using server = await startServer({
    port: 0,
    corsOrigins: ['http://app.test'],
    controlToken: 'a-token-of-sixteen',
  });
  const env = { AGENT_MAILBOX_URL: `${server.url}/`, AGENT_MAILBOX_TOKEN: 'a-token-of-sixteen' };
  context.expect(await runSpecs(context, env)).toMatch(/3 passed/);
  context.expect(server.mailbox.sandboxes()).toEqual([]);
});

test.sequential('a failed test has a trace of its sandbox attached, and no dump of JSON', async (context) => {
  const { expect } = context;
  const file = join(await makeFolder(context), 'report.json');
  const { stdout } = await runSpecs(context, { FAILING: '1', PLAYWRIGHT_JSON_OUTPUT_NAME: file }).catch(
    (error) => error,
  );
  expect(stdout).toContain('No mail to dana@customer.test arrived within 1 ms; what came instead:');
  expect(stdout).toMatch(/What happened:\n\s*\S+ "Hello" from dana@customer\.test arrived at helpdesk@/);
  expect(stdout).not.toMatch(/"plainBody"|"messageIdHeader"/);
  const report = JSON.parse(await readFile(file, 'utf8'));
  const [failed] = report.suites.flatMap(({ specs }: { specs: { title: string; tests: unknown[] }[] }) =>
    specs.filter(({ title }) => title === 'fails').flatMap(({ tests }) => tests),
  );
  const [attachment] = failed.results[0].attachments;
  expect(attachment).toMatchObject({ name: 'mailbox-trace.jsonl', contentType: 'application/jsonl' });
  const lines = Buffer.from(attachment.body, 'base64').toString().trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).type)).toEqual([
    ...['trace', 'tenant', 'webhook', 'webhook', 'entry', 'mail', 'story'],
  ]);
});
