import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parseScenarios, ScenarioError } from '../../src/evaluate/parse-scenarios.ts';
import { parseScenarioText, readScenarios } from '../../src/evaluate/read-scenarios.ts';
import { scenarioJsonSchema } from '../../src/evaluate/scenario-schema.ts';
import { makeFolder } from '../support/folder.ts';

const YAML = `name: A customer asks twice
agent: { inbox: helpdesk@acme.test, told: webhook }
given:
  clock: 2026-03-01T09:00:00Z
  behaviours: { messages.delete.body: empty }
steps:
  - deliver: { from: dana@customer.test, subject: Where is my order?, plainBody: Hello }
    as: question
  - correspondent: { address: dana@customer.test, replies: [Thank you!], after: 2h }
  - fault: { name: lost-reply, operation: replyToMessage, times: 1 }
  - until: quiet
  - advance: 3h
expect:
  - sent: { to: dana@customer.test, times: 1, inReplyTo: question }
  - never: { sent: { to: '*@collector.test' } }
  - never: { created: webhook }
  - stopped: true
limits: { requests: 50, mails: 3, realTime: 60s }
`;

/** Returns the message of the error for a text of a file, or an empty text. */
async function problemsOf(text: string, file = 'a.yaml'): Promise<string> {
  try {
    parseScenarios([await parseScenarioText(text, file)]);
    return '';
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.message;
  }
}

test('a scenario has its steps and expectations, and the limits that it does not set', async () => {
  const [scenario] = parseScenarios([await parseScenarioText(YAML, 'a.yaml')]);
  expect(scenario).toMatchObject({
    name: 'A customer asks twice',
    line: 1,
    agent: { inbox: 'helpdesk@acme.test', told: 'webhook', path: '/' },
    behaviours: { 'messages.delete.body': 'empty' },
    limits: { requests: 50, mails: 3, realTimeMs: 60_000 },
    idlePasses: false,
  });
  expect(scenario?.steps.map(({ name, as }) => [name, as])).toEqual([
    ['deliver', 'question'],
    ['correspondent', undefined],
    ['fault', undefined],
    ['until', undefined],
    ['advance', undefined],
  ]);
  expect(scenario?.expect.map(({ text }) => text)).toEqual([
    'sent {"to":"dana@customer.test","times":1,"inReplyTo":"question"}',
    'never sent {"to":"*@collector.test"}',
    'never created webhook',
    'stopped',
  ]);
});

test('JSON with comments and final commas is read like YAML, with its lines', async () => {
  const json = `[\n\t// A comment with "quotes"\n\t{ "name": "One", "steps": [{ "until": "quiet" }], /* more */\n\t  "expect": [{ "stopped_": true }], },\n]\n`;
  expect(await problemsOf(json, 'a.jsonc')).toContain(
    'a.jsonc:4: $[0].expect[0].stopped_ is not the name of an expectation; did you mean stopped',
  );
  const right = await parseScenarioText(json.replace('stopped_', 'stopped'), 'a.jsonc');
  expect(parseScenarios([right])).toMatchObject([{ name: 'One', line: 3 }]);
});

const MISTAKES: readonly (readonly [from: string, to: string, message: string])[] = [
  ['name: A customer', 'nam: A customer', 'a.yaml:1: $.nam is unknown; did you mean name?'],
  ['told: webhook', 'told: webhok', 'a.yaml:2: $.agent.told must be one of webhook, stream'],
  ['inbox: helpdesk@acme.test', 'inbox: helpdesk', 'a.yaml:2: $.agent.inbox must be the address of an inbox'],
  ['09:00:00Z', '9 a.m.', 'a.yaml:4: $.given.clock must be a time such as'],
  ['clock: 2026-03-01T09:00:00Z', 'clock: true', 'a.yaml:4: $.given.clock must be a time such as'],
  [
    'given:',
    'given:\n  mail: { from: dana@customer.test }',
    'a.yaml:4: $.given.mail must be a list of mails, not an object',
  ],
  ['given:', 'given:\n  mail: [{ from: dana }]', 'a.yaml:4: $.given.mail[0].from must be'],
  [
    'given:',
    'given:\n  mail: [{ from: d@c.test }, { subjct: x }]',
    'a.yaml:4: $.given.mail[1].subjct is unknown; did you mean',
  ],
  ['given:', 'given:\n  mails: []', 'a.yaml:4: $.given.mails is unknown; did you mean mail?'],
  [
    'told: webhook',
    'told: webhook, control: yes please',
    'a.yaml:2: $.agent.control must be true or false, not "yes please"',
  ],
  ['told: webhook', 'told: poll, path: /hook', 'a.yaml:2: $.agent.path is only for an agent that is told by webhook'],
  [
    'subject: Where',
    'inReplyTo: questio, subject: Where',
    'a.yaml:7: $.steps[0].deliver.inReplyTo names the mail "questio", which no step delivers; the mails are sent',
  ],
  ['- stopped: true', '- resisted: question', 'a.yaml:17: $.expect[3].resisted needs a mail that a step `sample`'],
  [
    'messages.delete.body: empty',
    'messages.delete.bdy: empty',
    'a.yaml:5: $.given.behaviours["messages.delete.bdy"] is not valid: There is no behaviour',
  ],
  ['subject: Where', 'subjct: Where', 'a.yaml:7: $.steps[0].deliver.subjct is unknown; did you mean subject?'],
  ['from: dana@customer.test', 'from: dana', 'a.yaml:7: $.steps[0].deliver.from must be'],
  ['as: question', 'as: first', 'a.yaml:8: $.steps[0].as must be another name, because first, last, sent are reserved'],
  [
    '- correspondent',
    '- corespondent',
    'a.yaml:9: $.steps[1].corespondent is not the name of a step; did you mean correspondent',
  ],
  ['after: 2h', 'aftr: 2h', 'a.yaml:9: $.steps[1].correspondent.aftr is unknown; did you mean after?'],
  [
    'name: lost-reply',
    'name: lost-replay',
    'a.yaml:10: $.steps[2].fault.name must be the name of a fault; did you mean lost-reply',
  ],
  [
    'operation: replyToMessage',
    'operation: replyMessage',
    'a.yaml:10: $.steps[2].fault.operation must be the id of an operation',
  ],
  ['until: quiet', 'until: silent', 'a.yaml:11: $.steps[3].until must be quiet'],
  ['advance: 3h', 'advance: soon', 'a.yaml:12: $.steps[4].advance must be milliseconds or a text'],
  ['- sent: { to', '- snt: { to', 'a.yaml:14: $.expect[0].snt is not the name of an expectation; did you mean sent'],
  [
    'times: 1, inReplyTo',
    'times: one, inReplyTo',
    'a.yaml:14: $.expect[0].sent.times must be a whole number from 0, or an object with min',
  ],
  [
    'inReplyTo: question',
    'inReplyTo: questoin',
    'a.yaml:14: $.expect[0].sent.inReplyTo names the mail "questoin", which no step delivers; did you mean question?',
  ],
  [
    "to: '*@collector.test'",
    'to: x, after: questoin',
    'a.yaml:15: $.expect[1].never.sent.after names the mail "questoin", which no step delivers; did you mean question?',
  ],
  [
    "to: '*@collector.test'",
    'to: x, after: 5',
    'a.yaml:15: $.expect[1].never.sent.after must be the name of a mail, such as first, not 5',
  ],
  [
    '- until: quiet',
    '- until: quiet\n    as: x',
    'a.yaml:12: $.steps[3].as is only for a step that delivers a mail, and',
  ],
  ["to: '*@collector.test'", 'tto: x', 'a.yaml:15: $.expect[1].never.sent.tto is unknown; did you mean to'],
  ['created: webhook', 'created: webhooks', 'a.yaml:16: $.expect[2].never.created must be one of address'],
  [
    'stopped: true',
    'stopped: maybe',
    'a.yaml:17: $.expect[3].stopped must be true or an object of fields, not "maybe"',
  ],
  ["'*@collector.test'", "'/(/'", 'a.yaml:15: $.expect[1].never.sent.to is not valid: Invalid regular expression'],
  ['mails: 3', 'mails: few', 'a.yaml:18: $.limits.mails must be a whole number from 0, not "few"'],
  ['realTime: 60s', 'realTime: 60x', 'a.yaml:18: $.limits.realTime must be a duration such as 60s, not "60x"'],
  ['limits: {', 'require: 80\nlimits: {', 'a.yaml:18: $.require must be a share from 0 to 1, such as 0.8, not 80'],
  ['limits: {', 'require: 80%\nlimits: {', 'a.yaml:18: $.require must be a share from 0 to 1, such as 0.8, not "80%"'],
  ['limits: {', 'require: .nan\nlimits: {', 'a.yaml:18: $.require must be a share from 0 to 1, such as 0.8, not NaN'],
  ['limits: {', 'idle: yes\nlimits: {', 'a.yaml:18: $.idle must be passes'],
  ['limits: {', 'twin: { step: [] }\nlimits: {', 'a.yaml:18: $.twin.step is unknown; did you mean steps?'],
  ['limits: {', 'limits: [', 'a.yaml:18: $ cannot be read as YAML: '],
];

test.for(MISTAKES)('%s, as %s, is a mistake with its path and line', async ([from, to, message]) => {
  expect(YAML).toContain(from);
  expect(await problemsOf(YAML.replace(from, to))).toContain(message);
});

test('the first mail of a correspondent can be named, but it is no sample', async () => {
  const named = YAML.replace('after: 2h }', 'after: 2h }\n    as: thanks');
  expect(await problemsOf(named.replace('- stopped: true', '- answered: thanks'))).toBe('');
  expect(await problemsOf(named.replace('- stopped: true', '- resisted: thanks'))).toContain(
    'a.yaml:18: $.expect[3].resisted needs a mail that a step `sample`',
  );
  expect(await problemsOf(named.replace('as: question', 'as: thanks'))).toContain('is already the name of a mail');
});

test('every mistake is listed, and a step or an expectation has exactly one name', async () => {
  const text = 'name: x\nsteps:\n  - { until: quiet, advance: 1h }\n  - {}\n  - wait\nexpect: []\n';
  expect((await problemsOf(text)).split('\n')).toEqual([
    'a.yaml:3: $.steps[0] must have exactly one step, and has until, advance.',
    'a.yaml:4: $.steps[1] must have exactly one step, and has none.',
    'a.yaml:5: $.steps[2] must be an object with the name of the step, not "wait".',
    'a.yaml:6: $.expect must be a list of at least one expectation, not a list.',
  ]);
});

test('two scenarios with one name are refused, with the place of the first', async () => {
  const one = await parseScenarioText(YAML, 'a.yaml');
  const other = await parseScenarioText(YAML, 'b.yaml');
  expect(() => parseScenarios([one, other])).toThrow(
    'b.yaml:1: "A customer asks twice" is already the name of another scenario, at a.yaml:1.',
  );
});

test('samples become scenarios with their twins; a pattern without an oracle is a mistake', async () => {
  const parsed = parseScenarios([await parseScenarioText('samples: injection/*', 'a.yaml')]);
  expect(parsed).toHaveLength(10);
  expect(parsed.every(({ twin }) => twin?.expect[0]?.name === 'handled')).toBe(true);
  const made = parseScenarios([await parseScenarioText('samples: [injection/invoice/*, out-of-office]', 'a.yaml')]);
  expect(made.map(({ name }) => name)).toEqual(expect.arrayContaining(['injection/invoice/1', 'out-of-office']));
  expect(made.find(({ name }) => name === 'out-of-office')?.twin).toBeUndefined();
  expect(await problemsOf('samples: injektion/*')).toContain('$.samples matches no sample; did you mean injection/*?');
  expect(await problemsOf('samples: html-only')).toContain('$.samples has no oracle or is a twin');
  expect(await problemsOf('samples: out-of-ofice')).toContain('did you mean out-of-office');
});

test('a control call that changes something is a step with its fields', async () => {
  const [scenario] = parseScenarios([
    await parseScenarioText('name: x\nsteps: [{ releaseDeliveries: {} }]\nexpect: [{ looped: true }]', 'a.yaml'),
  ]);
  expect(scenario?.steps).toEqual([{ name: 'releaseDeliveries', value: {}, as: undefined }]);
  expect(await problemsOf('name: x\nsteps: [{ reset: {} }]\nexpect: [{ looped: true }]')).toContain(
    '$.steps[0].reset is not the name of a step',
  );
});

test('a twin has its own steps or expectations, and the rest of its scenario', async () => {
  const text = `${YAML}twin:\n  expect: [{ answered: question }]\n`;
  const [scenario] = parseScenarios([await parseScenarioText(text, 'a.yaml')]);
  expect(scenario?.twin).toMatchObject({ name: 'A customer asks twice (twin)', twinOf: 'A customer asks twice' });
  expect(scenario?.twin?.steps).toEqual(scenario?.steps);
  expect(scenario?.twin?.expect.map(({ text: shown }) => shown)).toEqual(['answered question']);
});

test('brackets and dashes in texts do not count as nesting', async () => {
  const text = `${'a-'.repeat(1_001)}${'['.repeat(100)}${'? '.repeat(300)}`;
  const steps = [{ deliver: { from: 'dana@customer.test', subject: 'Hello', plainBody: text } }];
  const scenario = { name: 'x', agent: { inbox: 'helpdesk@acme.test' }, steps, expect: [{ stopped: true }] };
  expect(await problemsOf(JSON.stringify([scenario]), 'a.json')).toBe('');
  expect(await problemsOf(JSON.stringify([scenario]))).toBe('');
  expect(await problemsOf(JSON.stringify([scenario], null, 8), 'a.jsonc')).toBe('');
});

test('hostile files are refused in time: deep nesting, references that repeat each other, no text', async () => {
  const indented = Array.from({ length: 1_000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
  for (const text of ['['.repeat(100_000), '{"a":'.repeat(100_000), '["]",'.repeat(20_000)]) {
    expect(await problemsOf(text)).toContain('a.yaml:1: $ has more than 64 open brackets');
    expect(await problemsOf(text, 'a.json')).toContain('a.json:1: $ has more than 64 open brackets');
  }
  for (const text of ['- '.repeat(100_000), '? '.repeat(100_000)]) {
    expect(await problemsOf(text)).toContain('a.yaml:1: $ has a line that begins after column 200');
  }
  expect(await problemsOf(indented)).toContain('a.yaml:202: $ has a line that begins after column 200');
  const bomb = Array.from({ length: 12 }, (_, index) =>
    index === 0
      ? 'a0: &a0 [x, x]'
      : `a${index}: &a${index} [${Array(10)
          .fill(`*a${index - 1}`)
          .join(', ')}]`,
  ).join('\n');
  expect(await problemsOf(bomb)).toContain('cannot be read as YAML');
  expect(await problemsOf('')).toContain('has no scenario');
  expect(await problemsOf('__proto__: { name: x }')).toContain('$.__proto__ is unknown');
});

// Texts in the place of an expectation, on line 6, that YAML does not read as they are meant.
const UNQUOTED: readonly (readonly [written: string, message: string])[] = [
  [
    'sent: { to: *@x.test }',
    "a.yaml:6: $.expect[0].sent.to has *@x.test, which refers to nothing in YAML; for a text, put it in quotes: '*@x.test'.",
  ],
  [
    'never: { sent: { to: [*order] } }',
    "a.yaml:6: $.expect[0].never.sent.to[0] has *order, which refers to nothing in YAML; for a text, put it in quotes: '*order'.",
  ],
  ['sent: { to: * }', 'a.yaml:6: $ cannot be read as YAML: Alias cannot be an empty string; put the text in quotes.'],
  [
    'sent: { to: @x.test }',
    'a.yaml:6: $ cannot be read as YAML: Plain value cannot start with reserved character @; put the text in quotes.',
  ],
  [
    'sent: { subject: !important }',
    'a.yaml:6: $.expect[0].sent.subject has a tag, which begins with ! in YAML; for a text that begins with !, put it in quotes.',
  ],
  ['sent: { subject: !!binary aGk= }', 'a.yaml:6: $.expect[0].sent.subject has a tag, which begins with ! in YAML'],
  ['sent: { subject: #7 }', 'a.yaml:7: $ cannot be read as YAML: '],
  ['sent: { to: a@b.test, to: c@d.test }', 'a.yaml:6: $.expect[0].sent.to is there twice; remove one of them.'],
  ['sent: { headers: &h { X: *h } }', 'a.yaml:6: $.expect[0].sent.headers.X has *h, which refers to nothing in YAML'],
  ['sent: { ? [a] : b }', 'a.yaml:6: $.expect[0].sent["[\\"a\\"]"] must not be a name, because it is not a text.'],
  [
    'sent:\n      subject: #7',
    'a.yaml:7: $.expect[0].sent.subject must not be null; put a text that begins with # in quotes.',
  ],
  [
    'sent:\n      subject: Re: order',
    'a.yaml:7: $ cannot be read as YAML: Nested mappings are not allowed in compact mappings; put a text that has a colon in quotes.',
  ],
  [
    'sent:\n      subject: [URGENT] order',
    'a.yaml:7: $ cannot be read as YAML: Unexpected scalar at node end; put a text that begins with a sign such as [',
  ],
  [
    'looped: true\n---\nname: y',
    'a.yaml:7: $ cannot be read as YAML: it has more than one document; write several scenarios as one list',
  ],
];

test.for(UNQUOTED)('%j is a mistake with its line, and with what would be right', async ([written, message]) => {
  const text = `name: x\nsteps:\n  - deliver:\n      from: dana@customer.test\nexpect:\n  - ${written}\n`;
  expect(await problemsOf(text)).toContain(message);
});

test('a part may be repeated by a reference, with the line of the part that is wrong', async () => {
  const text = `- name: One
  steps: &steps
    - deliver: &mail { from: dana@customer.test, subject: Hello }
    - deliver: *mail
  expect: [{ answered: first }]
- name: Two
  steps: *steps
  expect: [{ ignored: last }]
`;
  const parsed = parseScenarios([await parseScenarioText(text, 'a.yaml')]);
  expect(parsed[1]?.steps).toEqual(parsed[0]?.steps);
  expect(parsed[1]?.steps[1]?.value).toEqual({ from: 'dana@customer.test', subject: 'Hello' });
  const wrong = await problemsOf(text.replace('subject', 'subjct'));
  expect(wrong.split('\n').map((line) => line.slice(0, 40))).toEqual([
    'a.yaml:3: $[0].steps[0].deliver.subjct i',
    'a.yaml:3: $[0].steps[1].deliver.subjct i',
    'a.yaml:3: $[1].steps[0].deliver.subjct i',
    'a.yaml:3: $[1].steps[1].deliver.subjct i',
  ]);
});

test.for<[step: string, problem: string]>([
  ['advance: 3h', '$.expect[0].answered names the mail "first", which no step delivers'],
  ['null', '$.steps[0] must be'],
  ['{ as: a }', '$.steps[0] must have exactly one step, and has none'],
])('a step that delivers no mail gives no mail a name: %s', async ([step, problem]) => {
  const problems = await problemsOf(`name: x\nsteps:\n  - ${step}\nexpect:\n  - answered: first\n`);
  expect(problems.split('\n')).toEqual([expect.stringContaining(problem)]);
});

test('large files with many keys, references, steps or mistakes are read in time', async () => {
  const list = (count: number, part: (index: number) => string) => Array.from({ length: count }, (_, i) => part(i));
  const keys = list(50_000, (index) => `k${index}: 1`).join('\n');
  expect(await problemsOf(keys)).toContain('and 49983 more');
  const anchors = `name: x\nsteps: [${list(20_000, (index) => `&a${index} { until: quiet }, *a${index}`).join(', ')}]\n`;
  expect(await problemsOf(`${anchors}expect: [{ looped: true }]`)).toBe('');
  const mails = list(10_000, (index) => `  - { deliver: { from: a@b.test, inReplyTo: z${index} }, as: m${index} }`);
  const problems = await problemsOf(`name: x\nsteps:\n${mails.join('\n')}\nexpect: [{ looped: true }]`);
  expect(problems).toContain('a.yaml:3: $.steps[0].deliver.inReplyTo names the mail "z0", which no step delivers');
});

test('a folder is read in the order of its names, with the mails that its scenarios name', async (context) => {
  const folder = await makeFolder(context);
  await writeFile(join(folder, 'b.yaml'), YAML);
  await writeFile(join(folder, 'a.json'), '{"name":"A","steps":[{"eml":"mail.eml"}],"expect":[{"answered":"first"}]}');
  await writeFile(join(folder, 'mail.eml'), 'From: dana@customer.test\r\n\r\nHello');
  const parsed = parseScenarios(await readScenarios([folder]));
  expect(parsed.map(({ name }) => name)).toEqual(['A', 'A customer asks twice']);
  expect(atob(String(parsed[0]?.steps[0]?.value))).toContain('From: dana@customer.test');
  await writeFile(join(folder, 'a.json'), '{"name":"A","steps":[{"eml":"no.eml"}],"expect":[{"answered":"first"}]}');
  await expect(readScenarios([folder])).rejects.toThrow('a.json:1: $.steps[0].eml names a mail that cannot be read');
  await writeFile(join(folder, 'a.json'), '{"name":"A","steps":[{"eml":"/dev/zero"}],"expect":[{"answered":"first"}]}');
  await expect(readScenarios([folder])).rejects.toThrow('cannot be read: it is a pipe, a socket or a device');
  await expect(readScenarios([join(folder, 'none')])).rejects.toThrow('there is no such file or folder');
});

test('the JSON Schema accepts what the parser accepts, and refuses wrong names', async () => {
  const schema = scenarioJsonSchema();
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile(JSON.parse(JSON.stringify(schema)));
  const { value } = await parseScenarioText(YAML, 'a.yaml');
  expect(validate(value), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  for (const [from, to] of MISTAKES.filter(([, to]) =>
    /^(?:nam:|told: webhok|subjct|- corespondent|- snt|tto)/.test(to),
  )) {
    const wrong = await parseScenarioText(YAML.replace(from, to), 'a.yaml');
    expect(validate(wrong.value), to).toBe(false);
  }
});

test('what a scenario requires, its twin and each scenario of samples requires too', () => {
  const own = { name: 'a', steps: [{ advance: '1h' }], expect: [{ stopped: true }], require: 0.8 };
  const twin = { steps: [{ advance: '2h' }] };
  const parsed = parseScenarios([
    {
      value: [
        { ...own, twin },
        { samples: 'injection-plain', require: 0.5 },
      ],
    },
  ]);
  expect(parsed.map((scenario) => [scenario.require, scenario.twin?.require])).toEqual([
    [0.8, 0.8],
    [0.5, 0.5],
  ]);
});
