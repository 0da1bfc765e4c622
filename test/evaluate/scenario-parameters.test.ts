import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { evaluate, type Scenario } from '../../src/evaluate/index.ts';
import { parseScenarios } from '../../src/evaluate/parse-scenarios.ts';
import { parseScenarioText } from '../../src/evaluate/read-scenarios.ts';
import { applyParameters } from '../../src/evaluate/scenario-parameters.ts';
import { NEVER, runHere } from '../support/command.ts';
import { makeFolder } from '../support/folder.ts';
import { replier } from './guilty-agents.ts';

const SCENARIO = {
  name: 'Answers {{question}}',
  parameters: { question: 'Where is order 7?', name: 'Dana' },
  steps: [{ deliver: { from: 'dana@customer.test', subject: '{{question}}', plainBody: '{{question}} {{ name }}' } }],
  expect: [{ answered: 'first' }, { never: { sent: { to: ['{{name}}@collector.test'], times: 1 } } }],
  twin: { steps: [{ deliver: { from: 'dana@customer.test', subject: '{{name}}' } }] },
} satisfies Scenario;

/** Parses a file of YAML, and puts the values of parameters into it. */
async function applyTo(text: string, values?: Readonly<Record<string, string>>) {
  const [source] = applyParameters([await parseScenarioText(text, 'a.yaml')], values);
  return source?.value;
}

const messageOf = (text: string, values?: Readonly<Record<string, string>>): Promise<string> =>
  applyTo(text, values).then(
    () => 'no error',
    ({ message }: Error) => message,
  );

test('each text of a scenario gets the values, and the field is removed', () => {
  const [source] = applyParameters([{ value: SCENARIO }]);
  expect(source?.value).toEqual({
    name: 'Answers Where is order 7?',
    steps: [
      {
        deliver: { from: 'dana@customer.test', subject: 'Where is order 7?', plainBody: 'Where is order 7? Dana' },
      },
    ],
    expect: [{ answered: 'first' }, { never: { sent: { to: ['Dana@collector.test'], times: 1 } } }],
    twin: { steps: [{ deliver: { from: 'dana@customer.test', subject: 'Dana' } }] },
  });
});

test('a value of the run replaces the default value in each scenario that has the parameter', () => {
  const other = { name: 'Other', parameters: { name: 'Kim' }, steps: [{ run: 'echo {{name}} {{name}}' }] };
  const [one, two] = applyParameters([{ value: [SCENARIO, other] }, { value: other }], { name: '{{question}} $& Ada' });
  // A value is put in as it is, also if it looks like a place for another one, or like a pattern of a replacement.
  expect(two?.value).toEqual({ name: 'Other', steps: [{ run: 'echo {{question}} $& Ada {{question}} $& Ada' }] });
  expect(one?.value).toMatchObject([
    { twin: { steps: [{ deliver: { subject: '{{question}} $& Ada' } }] } },
    two?.value,
  ]);
});

test('a scenario without parameters stays as it is', () => {
  const check = () => ({ verdict: 'yes' });
  const value = [{ name: '{{name}}', steps: [], expect: [{ check }] }, { samples: 'injection/*' }, 7];
  expect(applyParameters([{ value }])).toEqual([{ value }]);
});

test('what is no text or list stays the same object', () => {
  const [check, pattern] = [() => ({ verdict: 'yes' }), /x/];
  const value = { parameters: { a: 'b' }, expect: [{ check }, { sent: { subject: pattern } }] };
  const [source] = applyParameters([{ value }]);
  const applied = source?.value as typeof value;
  expect([applied.expect[0]?.check, applied.expect[1]?.sent?.subject]).toEqual([check, pattern]);
});

test.for<[what: string, text: string, message: string, values?: Readonly<Record<string, string>>]>([
  ['no object', 'name: x\nparameters: 5', 'a.yaml:2: $.parameters must be an object of names and texts, not 5.'],
  ['no text', '- parameters:\n    question: 5', 'a.yaml:2: $[0].parameters.question must be a text, not 5.'],
  [
    'no name',
    'parameters: { "a b": c }',
    'a.yaml:1: $.parameters["a b"] must be named by a letter, and then letters, digits, - and _.',
  ],
  [
    'another name in a text',
    'parameters: { question: a }\nsteps:\n  - deliver:\n      subject: "{{qestion}}"',
    'a.yaml:4: $.steps[0].deliver.subject has {{qestion}}, but the scenario has no parameter qestion; did you mean question?',
  ],
  [
    'no quotes',
    'parameters: { question: a }\nsteps:\n  - deliver: { subject: {{question}} }',
    "a.yaml:3: $.steps[0].deliver.subject must be in quotes: '{{question}}'.",
  ],
  [
    'no quotes before other text',
    'parameters: { question: a }\nsteps:\n  - deliver:\n      subject: {{question}} Thanks',
    'a.yaml:4: $ cannot be read as YAML: Unexpected scalar at node end; put a text that begins with a sign such as [, {, >, |, - or ? in quotes.',
  ],
  [
    'another name of the run',
    'parameters: { question: a }',
    '"qestion" is not a parameter of these scenarios; did you mean question?',
    { qestion: 'b' },
  ],
  [
    'a run with a name that nothing is like',
    'parameters: { question: a }',
    '"zzz" is not a parameter of these scenarios; their parameters are question.',
    { zzz: 'b' },
  ],
  [
    'a run with a name of the engine',
    'name: a',
    '"__proto__" is not a parameter of these scenarios; they have none.',
    JSON.parse('{"__proto__":"b"}'),
  ],
])('a mistake is named with its file, line and path: %s', async ([, text, message, values]) => {
  expect(await messageOf(text, values)).toBe(message);
});

test('a file can neither become much larger by its parameters nor be nested without an end', async () => {
  const many = '{{a}}'.repeat(30_000);
  const text = `parameters: { a: ${'x'.repeat(1_000)} }\nsteps: ["${many}"]`;
  expect(await messageOf(text)).toBe('a.yaml:2: $.steps[0] becomes too large: its parameters add more than 10 MiB.');
  const endless: Record<string, unknown> = { parameters: { a: 'b' }, text: '{{a}}' };
  endless.self = endless;
  const [source] = applyParameters([{ value: endless }]);
  expect(source?.value).toMatchObject({ text: 'b', self: { text: 'b' } });
});

test('a mail in a file can be named by a parameter', async (context) => {
  const folder = await makeFolder(context);
  await writeFile(join(folder, 'german.eml'), 'From: dana@customer.test\r\nSubject: Frage\r\n\r\nWo ist es?\r\n');
  const scenario =
    'name: x\nparameters: { language: english }\nsteps: [{ eml: "{{language}}.eml" }]\nexpect: [{ answered: first }]';
  await writeFile(join(folder, 'a.yaml'), scenario);
  await expect(evaluate(replier, folder)).rejects.toThrow('a.yaml:3: $.steps[0].eml names a mail that cannot be read');
  const result = await evaluate(replier, folder, { parameters: { language: 'german' } });
  expect(result, String(result)).toMatchObject({ passed: 1 });
});

test('evaluate takes values of parameters in code, and refuses what is no text', async () => {
  const subjects: string[] = [];
  const agent = async (task: Parameters<typeof replier>[0]) => {
    subjects.push(task.event?.subject ?? '');
    await replier(task);
  };
  const result = await evaluate(agent, { ...SCENARIO, twin: undefined }, { parameters: { question: 'Is it red?' } });
  expect([result.scenarios[0]?.name, result.passed, subjects]).toEqual(['Answers Is it red?', 1, ['Is it red?']]);
  await expect(evaluate(agent, SCENARIO, { parameters: { question: 5 as never } })).rejects.toThrow(
    new TypeError('The option parameters.question must be a text, not 5.'),
  );
});

test('the command sets parameters by --set', async (context) => {
  const folder = await makeFolder(context);
  const file = join(folder, 'a.json');
  await writeFile(file, JSON.stringify(SCENARIO));
  const run = (...flags: string[]) =>
    runHere(['evaluate', file, ...flags, '--', 'node', '-e', '0'], process.env, { interrupted: NEVER });
  const refused = await run('--set', 'qestion=x');
  expect([refused.code, refused.err]).toEqual([
    2,
    'agent-mailbox-mock: "qestion" is not a parameter of these scenarios; did you mean question?',
  ]);
  expect(await run('--set', 'question')).toMatchObject({
    err: expect.stringContaining('--set must be <parameter>=<text>, not "question".'),
  });
  const { out } = await run('--json', '--set', 'question=a=b', '--set', 'name=Kim', '--timeout', '20s');
  expect(JSON.parse(out.join('\n'))).toMatchObject({ scenarios: [{ name: 'Answers a=b' }, { twinOf: 'Answers a=b' }] });
});

const TABLE = `
name: Answers about {{item}}
tags: [orders]
parameters: { greeting: Hello }
each:
  - { item: a chair, order: 7 }
  - { item: a table, order: 8 }
steps:
  - deliver: { from: dana@customer.test, subject: Order {{order}}, plainBody: '{{greeting}}, where is {{item}}?' }
expect:
  - answered: first
`;

test('each row of a table becomes a scenario, with its values in names, texts and the report', async (context) => {
  const folder = await makeFolder(context);
  await writeFile(join(folder, 'a.yaml'), TABLE.replace('subject: Order {{order}}', "subject: 'Order {{order}}'"));
  const subjects: string[] = [];
  const agent = async (task: Parameters<typeof replier>[0]) => {
    subjects.push(task.event?.subject ?? '');
    await replier(task);
  };
  const result = await evaluate(agent, folder, { parameters: { greeting: 'Good day' } });
  expect(result.scenarios).toMatchObject([
    { name: 'Answers about a chair', line: 2, parameters: { item: 'a chair', order: '7', greeting: 'Good day' } },
    { name: 'Answers about a table', tags: ['orders'], parameters: { item: 'a table', order: '8' } },
  ]);
  expect([subjects.toSorted(), result.passed]).toEqual([['Order 7', 'Order 8'], 2]);
});

test('a value of a row counts more than a default value, and than one of the run', () => {
  const value = { name: '{{a}}{{b}}', parameters: { a: '1', b: '2' }, each: [{ a: 'x' }, { a: true }] };
  const [source] = applyParameters([{ value }], { a: '9', b: '3' });
  expect(source?.value).toEqual([{ name: 'x3' }, { name: 'true3' }]);
});

test('scenarios of a list keep their places beside those of a table', () => {
  const line = (path: readonly PropertyKey[]) => Number(path[0]) * 10;
  const value = [{ name: 'a' }, { name: '{{x}}', each: [{ x: 'b' }, { x: 'c' }] }, { name: 'd', steps: 5 }];
  const [source] = applyParameters([{ value, file: 'a.yaml', lineOf: line }]);
  expect(() => parseScenarios(source ? [source] : [])).toThrow(
    /^a\.yaml:0: \$\[0\]\.steps is required.*a\.yaml:10: \$\[1\]\.steps is required.*a\.yaml:20: \$\[2\]\.steps must be a list of steps, not 5/s,
  );
});

test.for<[what: string, text: string, message: string]>([
  ['no list', 'each: 5', 'a.yaml:1: $.each must be a list of 1 to 1000 objects of names and values, not 5.'],
  ['no row', 'each: []', 'a.yaml:1: $.each must be a list of 1 to 1000 objects of names and values, not a list of 0.'],
  ['no object', 'name: x\neach:\n  - 5', 'a.yaml:3: $.each[0] must be an object of names and values, not 5.'],
  [
    'no value',
    'name: "{{a}}"\neach:\n  - { a: [1] }',
    'a.yaml:3: $.each[0].a must be a text, a number, true or false, not a list.',
  ],
  [
    'other columns',
    'name: "{{a}}"\neach:\n  - { a: 1 }\n  - { b: 2 }',
    'a.yaml:4: $.each[1].b is unknown: the first row does not have it.\na.yaml:4: $.each[1] must have a, as the first row has.\n' +
      'a.yaml:1: $.name has {{a}}, but the scenario has no parameter a; its parameters are b.',
  ],
  [
    'a name without a value',
    'name: x\neach: [{ a: 1 }, { a: 2 }]',
    'a.yaml:1: $.name must differ from row to row: put a value of each into it, such as {{column}}.',
  ],
])('a table that is wrong is named with its file, line and path: %s', async ([, text, message]) => {
  expect(await messageOf(text)).toBe(message);
});

test('a file cannot become much larger by the rows of a table', async () => {
  const rows = Array.from({ length: 1_000 }, (_, index) => `{ a: ${index} }`).join(', ');
  const texts = `name: "{{a}}"\neach: [${rows}]\ndescription: ${'x'.repeat(20_000)}`;
  expect(await messageOf(texts)).toMatch(/becomes too large: its parameters add more than 10 MiB\.$/);
  const parts = `name: "{{a}}"\neach: [${rows}]\nsteps: [${'1, '.repeat(20_000)}1]`;
  expect(await messageOf(parts)).toMatch(/becomes too large: its parameters add more than 10 MiB\.$/);
});
