import { BEHAVIOURS } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import { linesOf, runHere } from '../support/command.ts';

test('lists every behaviour as a flag takes it, with what else it could be', async ({ expect }) => {
  const { code, out, err } = await runHere(['behaviours']);
  expect([code, err]).toEqual([0, '']);
  const listed = linesOf(out.join('\n'))
    .join(' ')
    .split(/ (?=\S+=)/);
  const entries = Object.entries(BEHAVIOURS).map(([id, entry]) => {
    const others = Object.keys(entry.choices).filter((choice) => choice !== entry.default);
    return `${id}=${entry.default}${others.length > 0 ? ` or ${others.join(', ')}` : ''}`;
  });
  expect(listed.map((text) => text.replace(/\s+/g, ' ').trim())).toEqual(entries);
});

test.for(Object.entries(BEHAVIOURS))('explains %s', async ([id, entry], { expect }) => {
  const { code, out, err } = await runHere(['behaviours', id]);
  expect([code, err]).toEqual([0, '']);
  const text = out.join('\n').replace(/\s+/g, ' ');
  expect(text).toContain(`${id} ${entry.question}`);
  expect(text).toContain(
    `Section ${entry.section} Value ${entry.default} Default ${entry.default} Origin ${entry.origin}:`,
  );
  for (const [choice, meaning] of Object.entries(entry.choices)) expect(text).toContain(`${choice} ${meaning}`);
});

test.for<[title: string, args: string[], env: NodeJS.ProcessEnv]>([
  ['flag', ['--behaviour', 'webhooks.list.secret=omitted'], {}],
  ['variable', [], { AGENT_MAILBOX_BEHAVIOUR: 'webhooks.list.secret=omitted' }],
])('shows the value that a %s gives', async ([, args, env], { expect }) => {
  const { out } = await runHere(['behaviours', 'webhooks.list.secret', ...args], env);
  expect(out.join('\n')).toMatch(/^ {2}Value +omitted\n {2}Default +included$/m);
});

test('prints the ledger as one line of JSON, as the control plane shows it', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  const { out } = await runHere(['behaviours', '--json']);
  expect(out).toHaveLength(1);
  expect(JSON.parse(out.join())).toEqual(await (await fetch(`${server.control}/behaviours`)).json());

  const { out: one } = await runHere(['behaviours', 'health.body', '--json']);
  expect(JSON.parse(one.join()).behaviours).toEqual([
    { id: 'health.body', ...BEHAVIOURS['health.body'], value: 'status' },
  ]);
});
