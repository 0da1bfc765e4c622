import { BEHAVIOURS } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import type { BehaviourDefinition } from '../../../src/contract/behaviours.ts';
import { runHere } from '../../support/command.ts';

test('lists every behaviour in the form that the flag takes, with its other values', async ({ expect }) => {
  const { code, out, err } = await runHere(['behaviours']);
  expect([code, err]).toEqual([0, '']);
  const entries = Object.entries<BehaviourDefinition>(BEHAVIOURS).map(([id, entry]) => {
    if ('assumption' in entry) return `${id} assumption: ${entry.assumption}`;
    const values = [...Object.keys(entry.choices), ...(entry.otherValues ? [entry.otherValues.rule] : [])];
    return `${id}=${entry.default} or ${values.filter((value) => value !== entry.default).join(', ')}`;
  });
  expect(out.join('\n').replace(/\s+/g, ' ').trim()).toBe(entries.join(' ').replace(/\s+/g, ' '));
});

test.for(Object.entries<BehaviourDefinition>(BEHAVIOURS))('explains %s', async ([id, entry], { expect }) => {
  const { code, out, err } = await runHere(['behaviours', id]);
  expect([code, err]).toEqual([0, '']);
  const text = out.join('\n').replace(/\s+/g, ' ');
  expect(text).toContain(`${id} ${entry.question}`);
  if ('assumption' in entry) {
    expect(text).toContain(`Section ${entry.section} Origin ${entry.origin}:`);
    expect(text).toContain(`Assumption: ${entry.assumption}`);
    return;
  }
  expect(text).toContain(
    `Section ${entry.section} Value ${entry.default} Default ${entry.default} Origin ${entry.origin}:`,
  );
  for (const [current, meaning] of Object.entries(entry.choices)) expect(text).toContain(`${current} ${meaning}`);
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
    {
      id: 'health.body',
      ...BEHAVIOURS['health.body'],
      value: 'status',
      source: 'default',
      start: 'status',
      isPinned: false,
    },
  ]);
});
