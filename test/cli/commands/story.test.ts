import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import { NEVER, runHere } from '../../support/command.ts';

test('tells what became of a mail of a running emulator, also in a sandbox', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  const { mailbox, url } = server;
  const run = (...words: readonly string[]) => runHere(['story', '--url', url, ...words], {}, { interrupted: NEVER });
  const sandbox = mailbox.createSandbox();
  sandbox.clock.freeze();
  sandbox.connect(() => new Response('busy', { status: 503 }), { inbox: `helpdesk@${sandbox.domain}` });
  const [mail] = await sandbox.receiveMessage({ to: `helpdesk@${sandbox.domain}`, from: 'dana@customer.test' });
  await sandbox.settled();
  const { code, out } = await run(String(mail?.id), '--sandbox', sandbox.id);
  expect([code, out]).toEqual([0, sandbox.explain(String(mail?.id)).lines]);
  expect(out.join('\n')).toContain('503');
  const { out: json } = await run(String(mail?.id), '--json');
  expect(JSON.parse(json.join(''))).toMatchObject({ messageId: mail?.id, lines: out });

  expect(await run('00000000-0000-4000-8000-000000000000')).toMatchObject({ code: 1, out: [] });
  expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining('<mail>') });
  expect(await run('..')).toMatchObject({ code: 1, out: [] });
});
