import { samples } from 'agent-mailbox-mock/samples';
import { startServer } from 'agent-mailbox-mock/server';
import { test } from 'vitest';
import { NEVER, runHere } from '../../support/command.ts';

test.for<[args: string[]]>([[['samples']], [['samples', 'list']]])(
  'lists every sample with %j',
  async ([args], { expect }) => {
    const { code, out, err } = await runHere(args);
    expect([code, err]).toEqual([0, '']);
    const families = [...new Set(samples.map(({ family }) => family))];
    const entries = families.flatMap((family) => {
      const own = samples.filter((sample) => sample.family === family);
      return [`${family} (${own.length})`, ...own.map(({ name, should }) => `${name} ${should}`)];
    });
    const list = out.join('\n').replace(/\s+/g, ' ').trim();
    const [written, made] = list.split(/ (?=injection, made from parts)/);
    expect(written).toBe(entries.join(' '));
    expect(made).toMatch(
      /^injection, made from parts \(560\) injection\/question\/1 to injection\/question\/140 .* do what the orders in it say\.$/,
    );
  },
);

test('prints the families as bold headings only if it may use colour', async ({ expect }) => {
  const { out } = await runHere(['samples'], {}, { colour: true });
  const bold = out.join('\n').split('\u001b[1m').slice(1);
  const headings = bold.map((text) => text.split('\u001b[22m\n')[0]);
  expect(headings).toEqual([
    'bounces (7)',
    'automatic (4)',
    'lists (2)',
    'identity (6)',
    'threads (8)',
    'content (11)',
    'injection (10)',
    'injection, made from parts (560)',
  ]);
  expect((await runHere(['samples'])).out.join()).not.toContain('\u001b');
});

test.for([...samples])('explains $name', async ({ name, standard, should, mustNot, hasOracle, twin }, { expect }) => {
  const { code, out, err } = await runHere(['samples', name]);
  expect([code, err]).toEqual([0, '']);
  const text = out.join('\n').replace(/\s+/g, ' ');
  expect(text).toContain(`Standard ${standard} An agent should ${should} It must not ${mustNot} Oracle `);
  expect(text).toContain(hasOracle ? 'Oracle yes: ' : 'Oracle none');
  if (twin !== undefined) expect(text).toContain(`Twin ${twin}`);
});

test('prints the samples as one line of JSON', async ({ expect }) => {
  const { out } = await runHere(['samples', 'list', '--json']);
  expect(JSON.parse(out.join())).toEqual({ samples });
  const { out: one } = await runHere(['samples', 'two-from', '--json']);
  expect(JSON.parse(one.join()).samples).toMatchObject([{ name: 'two-from', family: 'identity' }]);
});

test.for<[args: string[], error: string]>([
  [['samples', 'two-form'], 'There is no sample "two-form"; did you mean two-from?'],
  [['receive', '--sample', 'two-from'], 'The command receive needs --to for a sample; see --help.'],
  [
    ['receive', '--sample', 'two-from', '--to', 'a@b.test', '--text', 'x', '--eml', 'y'],
    '--sample cannot be used with --text, --eml.',
  ],
])('refuses %j', async ([args, error], { expect }) => {
  expect(await runHere(args, {}, { interrupted: NEVER })).toEqual({
    code: 2,
    out: [],
    err: `agent-mailbox-mock: ${error}`,
  });
});

test.for<[args: string[], error: string]>([
  [['--sample', 'two-form'], 'There is no sample "two-form"; did you mean two-from?'],
  [
    ['--sample', 'two-from', '--seed', 'x'],
    'The sample is not valid: seed must be a whole number from 0 to 9007199254740991.',
  ],
])('says why a sample with %j does not arrive', async ([args, error], { expect }) => {
  await using server = await startServer({ port: 0 });
  const all = ['receive', '--to', 'helpdesk@acme.test', '--url', server.url, ...args];
  const { code, err } = await runHere(all, {}, { interrupted: NEVER });
  expect([code, err]).toEqual([1, `agent-mailbox-mock: ${error}`]);
  expect(server.mailbox.messages()).toEqual([]);
});

test('delivers a sample about a mail of yours, and says in JSON what arrived', async ({ expect }) => {
  await using server = await startServer({ port: 0 });
  const args = ['--sample', 'out-of-office', '--to', 'helpdesk@acme.test', '--in-reply-to', '<order-7@acme.test>'];
  const { out } = await runHere(['receive', ...args, '--json', '--url', server.url], {}, { interrupted: NEVER });
  const [message] = server.mailbox.messages();
  expect(JSON.parse(out.join()).messages).toMatchObject([{ id: message?.id }]);
  expect(message).toMatchObject({
    inReplyTo: '<order-7@acme.test>',
    headers: { 'auto-submitted': 'auto-replied (vacation)' },
  });
});
