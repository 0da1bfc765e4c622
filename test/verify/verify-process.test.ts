import { EventEmitter, once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, type TestContext, test } from 'vitest';
import { linesOf } from '../support/command.ts';
import { runCommand } from '../support/processes.ts';
import { serve } from '../support/serve.ts';
import { BROKEN_SERVERS, OLD_LEAK } from './broken-servers.ts';
import { keysOf, startBroken } from './proxy.ts';

/** A server of the table of broken servers. */
function brokenServer(name: string): Parameters<typeof startBroken>[2] {
  const found = BROKEN_SERVERS.find((server) => server.name === name);
  if (!found) throw new Error(`There is no broken server with the name ${name}.`);
  return { broken: found.create() };
}

/** Broken servers, with the statements that the command must name and a part of what it must print. */
const ROWS: readonly (readonly [
  name: string,
  broken: Parameters<typeof startBroken>[2],
  ids: string[],
  text: RegExp,
])[] = [
  [
    'lists what the other tenant had before the run',
    brokenServer(`${OLD_LEAK}: listWebhooks`),
    ['listWebhooks: items'],
    /1 id that the list of the tenant key shows too, of objects that this run did not create \(listWebhooks by the key of the other tenant\)/,
  ],
  [
    'masks secrets in a list',
    brokenServer('masked secret: secret of listWebhooks'),
    ['listWebhooks: items'],
    /webhooks\[\]\.secret: another secret/,
  ],
  [
    'counts the other tenant too',
    brokenServer('leak of the other tenant by count: getMetrics'),
    ['getMetrics: the counts of a whole tenant'],
    /the tenant after a mail in the other tenant/,
  ],
  ['loses mail', brokenServer('mail is lost'), ['sendMessage: effect', 'sendMessage: input'], /listMessages/],
  [
    'accepts the old key of an inbox for 2 s, and',
    brokenServer('the old key of an inbox stays valid for 2 s'),
    ['rotateInboxKey: old key'],
    /by the old key of an inbox/,
  ],
  [
    'deletes no webhook',
    brokenServer('not deleted: deleteWebhook'),
    ['deleteWebhook: effect'],
    /What could not be deleted: \/v1\/webhooks\//,
  ],
  [
    'shows a tenant the events of the other tenant',
    { streams: { alsoOf: (key) => (key.startsWith('tk_acme') ? 'tk_globex_tenant_key' : undefined) } },
    ['streams: what each key is told of'],
    /verify the other tenant/,
  ],
];

/** Runs the command against a broken server, and returns its exit code, its lines and its JUnit file. */
async function verifyBroken(context: TestContext, broken: Parameters<typeof startBroken>[2]) {
  await using server = await startServer({ port: 0 });
  const url = await startBroken(context, server, broken);
  const folder = await mkdtemp(join(tmpdir(), 'verify-'));
  const [profile, junit] = [join(folder, 'profile.json'), join(folder, 'junit.xml')];
  await writeFile(profile, '{"behaviours":{}}');
  const { tenant, otherTenant, operator } = keysOf(server);
  const keys = ['--api-key', tenant, '--second-key', otherTenant, '--operator-key', operator];
  const files = ['--profile', profile, '--junit', junit];
  const running = runCommand(context, ['verify', '--base-url', url, '--timeout', '600', ...keys, ...files]);
  const { code } = await running.ended;
  return { code, lines: linesOf(running.stdout), junit: await readFile(junit, 'utf8') };
}

describe('the command verify', () => {
  // One after the other, so that no run makes another one wait for its time.
  test.for(ROWS)('a server that %s is named, with exit code 1', { concurrent: false }, async (row, context) => {
    const [, broken, ids, text] = row;
    const { code, lines, junit } = await verifyBroken(context, broken);
    const differing = lines.filter((line) => line.startsWith('✗'));
    expect(differing).toEqual(ids.map((id) => `✗ ${id}: differs`));
    expect(lines.join(' ').replaceAll(/ +/g, ' ')).toMatch(text);
    expect(lines).toContainEqual(expect.stringMatching(`^\\d+ agree, ${ids.length} differ, \\d+ not compared$`));
    expect(code).toBe(1);
    const failed = Array.from(junit.matchAll(/name="([^"]+)">\s*<failure/g), ([, id]) => id);
    expect(failed).toEqual(ids);
    expect(lines.join('\n') + junit).not.toMatch(/whsec_[\w+/]{8}|(?:sa|tk|wk|ak)_[\w-]{10,}/);
  });

  test.for([
    ['SIGINT', 'is answered after the signal'],
    ['SIGTERM', 'is answered after the signal'],
    ['SIGINT', 'is not answered'],
    ['SIGTERM', 'is not answered'],
  ] as const)(
    'a run that is stopped by %s while a create %s leaves nothing',
    { concurrent: false },
    async ([signal, how], context) => {
      await using server = await startServer({ port: 0 });
      const { tenant } = keysOf(server);
      const events = new EventEmitter();
      const [held, released] = [once(events, 'held'), once(events, 'released')];
      let creates = 0;
      const url = await startBroken(context, server, {
        broken: async (call, send) => {
          const reply = await send();
          if (call.operation !== 'createInbox') return reply;
          creates += 1;
          if (creates !== 6) return reply;
          events.emit('held');
          await released;
          if (how === 'is not answered') throw new Error('The connection is closed.');
          return reply;
        },
      });
      const running = runCommand(context, ['verify', '--base-url', url, '--api-key', tenant]);
      await held;
      running.child.kill(signal);
      await running.untilStderr(/the run is stopping/);
      events.emit('released');
      expect((await running.ended).code).toBe(2);
      expect(running.stdout).toContain('The run ended early: the run was stopped.');
      expect(running.stdout).not.toContain('What could not be deleted');
      for (const path of ['inboxes', 'webhooks', 'workspaces', 'domains']) {
        const reply = await fetch(`${server.url}/v1/${path}`, { headers: { 'X-API-Key': tenant } });
        expect(await reply.text()).not.toContain('verify');
      }
    },
  );

  test('a receiver that cannot listen ends the command at once, and not when the time of the run has passed', async (context) => {
    await using other = await serve((_, response) => void response.end());
    const server = ['--base-url', 'http://127.0.0.1:9', '--api-key', 'tk_acme_tenant_key'];
    const receiver = ['--receiver-port', String(other.port), '--timeout', '3600'];
    const running = runCommand(context, ['verify', ...server, ...receiver]);
    expect((await running.ended).code).toBe(1);
    expect(running.stderr).toMatch(/: The receiver cannot listen on port \d+: listen EADDRINUSE/);
  });
});
