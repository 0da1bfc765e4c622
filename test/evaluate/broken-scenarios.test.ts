import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { toJsonPath } from '../../src/basics/json-path.ts';
import { parseScenarios, ScenarioError, type ScenarioProblem } from '../../src/evaluate/parse-scenarios.ts';
import { parseScenarioText } from '../../src/evaluate/read-scenarios.ts';
import { scenarioJsonSchema } from '../../src/evaluate/scenario-schema.ts';

type Path = readonly (string | number)[];

/** A pattern of samples. */
const FAMILY = 'injection/*';

/** A mail with every field. */
const MAIL = {
  from: 'Dana Reyes <dana@customer.test>',
  to: 'helpdesk@acme.test',
  cc: ['kim@customer.test'],
  replyTo: 'dana@customer.test',
  subject: 'Where is my order?',
  plainBody: 'Hello',
  htmlBody: '<p>Hello</p>',
  attachments: [{ filename: 'order.txt', contentType: 'text/plain', text: '7' }],
  messageId: '<one@customer.test>',
  references: ['<zero@customer.test>'],
  headers: { 'X-Ticket': '7' },
};

/** Scenarios without a mistake, with each field, step and expectation that there is. */
const RIGHT = [
  {
    name: 'Everything',
    description: 'Has every field.',
    tags: ['slow', 'two-words'],
    agent: { inbox: 'helpdesk@acme.test', told: 'webhook', path: '/hook', control: true },
    given: {
      clock: '2026-03-01T09:00:00Z',
      behaviours: { 'messages.delete.body': 'empty' },
      mail: [MAIL],
    },
    steps: [
      { deliver: MAIL, as: 'question' },
      { deliver: { from: 'kim@customer.test', inReplyTo: 'question' } },
      { eml: 'From: dana@customer.test\r\n\r\nHello', as: 'raw' },
      { sample: 'out-of-office', as: 'away' },
      { sample: { sample: 'injection-in-quote', to: 'helpdesk@acme.test', seed: 3, inReplyTo: 'sent' }, as: 'attack' },
      {
        correspondent: { address: 'dana@customer.test', replies: ['Thank you!', { plainBody: 'Bye' }], after: '2h' },
      },
      { fault: 'lost-reply' },
      { fault: { name: 'lost-reply', operation: 'replyToMessage', times: 1, after: 1 } },
      { fault: { on: 'delivery', kind: 'delay', delay: '1m' } },
      { clearFaults: true },
      { advance: '3h' },
      { freeze: true },
      { freeze: '2026-03-01T09:00:00Z' },
      { resume: true },
      { rotate: 'inbox' },
      { behaviours: { 'messages.delete.body': 'empty' } },
      { wait: { to: 'dana@customer.test', subject: 'Re:', direction: 'outbound', timeout: '2s' } },
      { run: 'true' },
      { until: 'quiet' },
      { releaseDeliveries: {} },
      { triggerEvent: { event: 'message.received' } },
      { changeClock: { advance: '1h' } },
      { addCheckpoint: { name: 'before' } },
      { removeMail: { id: '7' } },
    ],
    expect: [
      { sent: { to: 'dana@customer.test', subject: '*order*', times: 1, only: true, inReplyTo: 'question' } },
      { sentOnce: { plainBody: '/order/i', text: ['order'], headers: { 'X-Ticket': '7' } } },
      { draft: { to: 'dana@customer.test', exists: true, times: 0 } },
      { created: 'webhook' },
      { never: { created: { kind: 'webhook', url: '*collector*', exists: false, times: 1 } } },
      { request: { operation: 'sendMessage', status: 200, times: 2 } },
      { delivered: { event: 'message.received', times: 1 } },
      { noRefusals: true },
      { noRefusals: { except: [{ operation: 'sendMessage', status: 404, times: 1 }] } },
      { answered: 'question' },
      { ignored: 'raw' },
      { forwarded: 'first' },
      { forwarded: { mail: 'last', to: '*', times: 1 } },
      { resisted: 'attack' },
      { handled: 'away' },
      { stopped: true },
      { stopped: { quietMs: 100 } },
      { looped: true },
      { check: 'node check.js' },
      { sent: { to: 'kim@customer.test', times: { min: 1, max: 2 } } },
      { anyOf: [{ answered: 'question' }, { never: { draft: { exists: true } } }] },
      { never: { anyOf: [{ sent: { to: '*@collector.test' } }, { created: 'key' }] } },
    ],
    require: 0.8,
    limits: { requests: 50, mails: 3, realTime: '60s' },
    idle: 'passes',
    twin: { steps: [{ deliver: MAIL }], expect: [{ never: { answered: 'last' } }] },
  },
  {
    samples: [FAMILY, 'out-of-office'],
    agent: { told: 'poll' },
    given: { clock: '2026-03-01T09:00:00Z' },
    limits: { mails: 1 },
  },
];

/** A mistake that was made in `RIGHT`, and where it must be found. */
interface Case {
  readonly title: string;
  readonly value: unknown;
  readonly path: Path;
  /** A text that the message must have. */
  readonly says?: string;
}

/** Returns every path of a value, with the value that is there. */
function* walk(value: unknown, path: Path = []): Generator<{ readonly path: Path; readonly value: unknown }> {
  yield { path, value };
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  for (const [key, each] of Object.entries(value)) yield* walk(each, [...path, isList ? Number(key) : key]);
}

/** Returns a copy of a value in which the part at a path is another; undefined removes it. */
function replaceAt(value: unknown, [step, ...rest]: Path, change: (part: unknown) => unknown): unknown {
  if (step === undefined) return change(value);
  const part = (value as Record<string | number, unknown>)[step];
  const changed = replaceAt(part, rest, change);
  if (Array.isArray(value)) return value.map((each, index) => (index === step ? changed : each));
  return { ...(value as object), [step]: changed };
}

const changed = (path: Path, part: unknown) => replaceAt(RIGHT, path, () => part);

/** Whether any value, or any field, is right at a path: what a matcher compares with, and headers. */
function isOpen(path: Path): boolean {
  const shown = toJsonPath(path);
  const matched = /\.(?:to|subject|plainBody|text|inReplyTo|headers|status|url)\b/;
  const isMatched = /\.expect\[/.test(shown) && matched.test(shown.replace(/^.*?\.expect\[\d+\]/, ''));
  return isMatched || /\.headers$|\.behaviours$|\.created$/.test(shown);
}

/** The short forms of what may be an object, too. */
const SHORT = /\.(?:sample|replies\[0\]|fault|forwarded)$/;

/** What is wrong in the place of each type of value. */
function wrongTypeOf(value: unknown, shown: string): unknown {
  if (typeof value === 'string') return SHORT.test(shown) ? 7.5 : { zz: 1 };
  if (typeof value === 'number') return 'many';
  return typeof value === 'boolean' ? 'maybe' : 7.5;
}

const REQUIRED =
  /\]\.(?:name|steps|expect)$|\.from$|\.filename$|\.sample\.sample$|\.address$|\.replies$|\.wait\.to$|\.on$|\.kind$|\.triggerEvent\.event$|\.forwarded\.mail$|\.created\.kind$|\.addCheckpoint\.name$|\.removeMail\.id$/;

function* createCases(): Generator<Case> {
  const first: Path = [0];
  for (const { path, value } of walk(RIGHT)) {
    const shown = toJsonPath(path);
    if (path.length > 0 && !isOpen(path)) {
      yield { title: `wrong type at ${shown}`, value: changed(path, wrongTypeOf(value, shown)), path };
    }
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isOpen(path)) {
      const isNamed = /\.(?:steps|expect|anyOf)\[\d+\](?:\.never)?$/.test(shown);
      const says = isNamed ? 'must have exactly one' : 'is unknown';
      const at = isNamed ? path : [...path, 'zzUnknown'];
      yield { title: `unknown field at ${shown}`, value: changed(path, { ...value, zzUnknown: 1 }), path: at, says };
    }
    if (REQUIRED.test(shown) && !(isOpen(path) && path.at(-1) !== 'kind') && !/\.fault\.name$/.test(shown)) {
      yield { title: `missing ${shown}`, value: changed(path, undefined), path };
    }
  }
  const misspelt = (path: Path, to: string, says: string): Case => ({
    title: `misspelt ${toJsonPath(path)}`,
    value: changed(path, to),
    path,
    says,
  });
  const steps = [...first, 'steps'];
  const expected = [...first, 'expect'];
  yield misspelt([...first, 'agent', 'told'], 'webhok', 'webhook');
  yield misspelt([...steps, 1, 'deliver', 'inReplyTo'], 'questoin', 'did you mean question');
  yield misspelt([...steps, 3, 'sample'], 'out-of-ofice', 'did you mean out-of-office');
  yield misspelt([...steps, 4, 'sample', 'sample'], 'injection-in-qoute', 'did you mean injection-in-quote');
  yield misspelt([...steps, 6, 'fault'], 'lost-replay', 'did you mean lost-reply');
  yield misspelt([...steps, 7, 'fault', 'name'], 'lost-replay', 'did you mean lost-reply');
  yield misspelt([...steps, 7, 'fault', 'operation'], 'replyMessage', 'replyToMessage');
  yield misspelt([...steps, 8, 'fault', 'kind'], 'dellay', 'delay');
  yield misspelt([...steps, 14, 'rotate'], 'inbx', 'inbox');
  yield misspelt([...steps, 20, 'triggerEvent', 'event'], 'message.recieved', 'message.received');
  yield misspelt([...first, 'given', 'behaviours', 'messages.delete.body'], 'emty', 'empty');
  yield misspelt([...steps, 15, 'behaviours', 'messages.delete.body'], 'emty', 'empty');
  yield misspelt([...expected, 0, 'sent', 'inReplyTo'], 'questoin', 'did you mean question');
  yield misspelt([...expected, 3, 'created'], 'webhok', 'webhook');
  yield misspelt([...expected, 4, 'never', 'created', 'kind'], 'webhok', 'webhook');
  yield misspelt([...expected, 5, 'request', 'operation'], 'sendMesage', 'did you mean sendMessage');
  yield misspelt([...expected, 6, 'delivered', 'event'], 'message.recieved', 'message.received');
  yield misspelt([...expected, 8, 'noRefusals', 'except', 0, 'operation'], 'sendMesage', 'sendMessage');
  yield misspelt([...expected, 9, 'answered'], 'questoin', 'did you mean question');
  yield misspelt([...expected, 12, 'forwarded', 'mail'], 'lst', 'did you mean last');
  yield misspelt([...expected, 13, 'resisted'], 'question', 'needs a mail that a step `sample` delivers');
  yield misspelt([...first, 'twin', 'expect', 0, 'never', 'answered'], 'question', 'which no step delivers');
  yield misspelt([1, 'samples', 0], FAMILY.replace('c', 'k'), `did you mean ${FAMILY}`);
  yield misspelt([1, 'samples', 1], 'out-of-ofice', 'did you mean out-of-office');
  const renamed = (path: Path, from: string, to: string): Case => ({
    title: `misspelt name of ${toJsonPath([...path, from])}`,
    value: replaceAt(RIGHT, path, (part) =>
      Object.fromEntries(Object.entries(part as object).map(([name, each]) => [name === from ? to : name, each])),
    ),
    path: [...path, to],
    says: `did you mean ${from}`,
  });
  yield renamed(first, 'limits', 'limit');
  yield renamed([...first, 'agent'], 'inbox', 'inbx');
  yield renamed([...first, 'given', 'behaviours'], 'messages.delete.body', 'messages.delete.bdy');
  yield renamed([...steps, 0, 'deliver'], 'subject', 'subjct');
  yield renamed([...steps, 0, 'deliver', 'attachments', 0], 'filename', 'filname');
  yield renamed([...steps, 5], 'correspondent', 'corespondent');
  yield renamed([...steps, 7, 'fault'], 'operation', 'operaton');
  yield renamed([...steps, 19], 'releaseDeliveries', 'releaseDelivery');
  yield renamed([...expected, 0], 'sent', 'snt');
  yield renamed([...expected, 0, 'sent'], 'subject', 'subjct');
  yield renamed([...expected, 4, 'never'], 'created', 'craeted');
  yield renamed([...expected, 5, 'request'], 'operation', 'operaton');
  yield renamed([...expected, 8, 'noRefusals'], 'except', 'exept');
  yield renamed([...expected, 8, 'noRefusals', 'except', 0], 'operation', 'operaton');
  yield renamed([...expected, 12, 'forwarded'], 'to', 'tto');
  yield renamed([...expected, 16, 'stopped'], 'quietMs', 'quietMS');
  const at = (title: string, path: Path, part: unknown, place: Path, says: string): Case => {
    return { title, value: changed(path, part), path: place, says };
  };
  const one = 'must have exactly one';
  yield at('two steps in one', [...steps, 18], { until: 'quiet', advance: '1h' }, [...steps, 18], one);
  yield at('no step', [...steps, 18], {}, [...steps, 18], one);
  yield at('a step that is a text', [...steps, 18], 'wait', [...steps, 18], 'must be an object');
  yield at('both never and sent', [...expected, 0], { never: { created: 'key' }, sent: {} }, [...expected, 0], one);
  yield at(
    'never twice',
    [...expected, 4],
    { never: { never: { created: 'key' } } },
    [...expected, 4, 'never', 'never'],
    'is not the name of an expectation',
  );
  yield at('no expectation', expected, [], expected, 'at least one');
  yield at(
    'two names of mail that are one',
    [...steps, 2, 'as'],
    'question',
    [...steps, 2, 'as'],
    'is already the name of a mail',
  );
  yield at(
    'a reserved name of mail',
    [...steps, 2, 'as'],
    'last',
    [...steps, 2, 'as'],
    'first, last, sent are reserved',
  );
  yield at('a name with a space', [...steps, 2, 'as'], 'a b', [...steps, 2, 'as'], 'a name of letters');
  yield at(
    'a name for what is no mail',
    [...steps, 18],
    { until: 'quiet', as: 'x' },
    [...steps, 18, 'as'],
    'is only for a step that delivers a mail',
  );
  yield at(
    'a path without webhook',
    [...first, 'agent', 'told'],
    'poll',
    [...first, 'agent', 'path'],
    'is only for an agent that is told by webhook',
  );
  yield at(
    'an invalid pattern',
    [...expected, 0, 'sent', 'subject'],
    '/(/',
    [...expected, 0, 'sent', 'subject'],
    'nvalid regular expression',
  );
  yield at('an empty twin', [...first, 'twin'], {}, [...first, 'twin'], 'must have steps or expect');
  yield at('a blank name', [...first, 'name'], ' ', [...first, 'name'], 'must be');
  yield at(
    'a negative number',
    [...first, 'limits', 'mails'],
    -1,
    [...first, 'limits', 'mails'],
    'must be a whole number',
  );
  yield at(
    'a time of zero',
    [...first, 'limits', 'realTime'],
    '0s',
    [...first, 'limits', 'realTime'],
    'must be a duration',
  );
  yield at(
    'a masked key',
    [...expected, 5, 'request'],
    { headers: { Authorization: 'Bearer tk_acme_0123456789abcdef0123456789abcdef' } },
    [...expected, 5, 'request', 'headers'],
    'masks',
  );
  yield at(
    'a mail before it came',
    [...steps, 1, 'deliver', 'inReplyTo'],
    'attack',
    [...steps, 1, 'deliver', 'inReplyTo'],
    'which no step delivers',
  );
  yield at('a negative count', [...expected, 0, 'sent', 'times'], -1, [...expected, 0, 'sent', 'times'], 'must be');
  const range = [...expected, 19, 'sent', 'times'];
  const rangeRule = 'must have max, or min from 1';
  yield at('a range of all numbers', range, { min: 0 }, range, rangeRule);
  yield at('a range without numbers', range, {}, range, rangeRule);
  yield at('a range that is empty', range, { min: 3, max: 2 }, range, rangeRule);
  yield at(
    'alternatives in alternatives',
    [...expected, 20, 'anyOf', 0],
    { anyOf: [{ looped: true }] },
    [...expected, 20, 'anyOf', 0, 'anyOf'],
    'is not the name of an expectation',
  );
  yield at('no alternatives', [...expected, 20, 'anyOf'], [], [...expected, 20, 'anyOf'], 'at least one');
  yield misspelt([...expected, 20, 'anyOf', 0, 'answered'], 'questoin', 'did you mean question');
  yield at('a sample without an oracle', [1, 'samples', 1], 'html-only', [1, 'samples', 1], 'has no oracle');
}

const CASES = [...createCases()];

/** Writes a value as JSON with a line for each part, and notes the line of each path. */
function writeLines(value: unknown): { readonly text: string; readonly lineOf: ReadonlyMap<string, number> } {
  const lineOf = new Map<string, number>();
  let line = 1;
  const write = (part: unknown, path: Path): string => {
    lineOf.set(toJsonPath(path), line);
    if (typeof part !== 'object' || part === null) return JSON.stringify(part);
    const isList = Array.isArray(part);
    const entries = Object.entries(part).filter(([, each]) => each !== undefined);
    const parts = entries.map(([key, each], index) => {
      line += 1;
      const before = isList ? '' : `${JSON.stringify(key)}: `;
      return `\n${before}${write(each, [...path, isList ? Number(key) : key])}${index === entries.length - 1 ? '' : ','}`;
    });
    line += 1;
    return `${isList ? '[' : '{'}${parts.join('')}\n${isList ? ']' : '}'}`;
  };
  return { text: write(value, []), lineOf };
}

async function listProblemsOf(text: string, file: string): Promise<readonly ScenarioProblem[]> {
  try {
    parseScenarios([await parseScenarioText(text, file)]);
    return [];
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    return error.problems;
  }
}

/** Returns the line of a path or, if the part is missing, of what is around it. */
function lineAt(lineOf: ReadonlyMap<string, number>, path: Path): number | undefined {
  return lineOf.get(toJsonPath(path)) ?? (path.length > 0 ? lineAt(lineOf, path.slice(0, -1)) : undefined);
}

test('the scenarios with every field have no mistake', async () => {
  expect(await listProblemsOf(writeLines(RIGHT).text, 'a.json')).toEqual([]);
});

test('each mistake that is made in them is named with its line and path, and no other', async () => {
  const unlike: string[] = [];
  for (const { title, value, path, says = '' } of CASES) {
    const { text, lineOf } = writeLines(value);
    const problems = await listProblemsOf(text, 'a.json');
    const [problem] = problems;
    const isNamed =
      problem?.path === toJsonPath(path) && problem.line === lineAt(lineOf, path) && problem.message.includes(says);
    // What is missing or of another type may make something else wrong, too.
    const isOnly = problems.length === 1 || /^wrong type|^missing/.test(title);
    if (isNamed && isOnly) continue;
    const wanted = `${lineAt(lineOf, path)}: ${toJsonPath(path)} ${says}`;
    const got = problems.map((each) => `${each.line}: ${each.path} ${each.message}`).slice(0, 3);
    unlike.push(`${title}: wanted ${wanted}, got ${got.join(' | ') || 'none'}`);
  }
  expect(CASES.length).toBeGreaterThan(400);
  expect(unlike).toEqual([]);
});

/** What a JSON Schema cannot say: names that another part must have, and what only code can check. */
const BEYOND_JSON_SCHEMA =
  /inReplyTo|answered|forwarded\.mail|resisted|out-of-ofice|samples\[0\]|without an oracle|is one|reserved name|two names|freeze$|webhook$|pattern$|zero|masked|before it came|range|\.samples\[/;

test('their JSON Schema accepts them, and refuses each mistake that it can express', () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
    JSON.parse(JSON.stringify(scenarioJsonSchema())),
  );
  expect(validate(RIGHT), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  const accepted = CASES.filter(({ value }) => validate(JSON.parse(JSON.stringify(value)))).map(({ title }) => title);
  expect(accepted.filter((title) => !BEYOND_JSON_SCHEMA.test(title))).toEqual([]);
});
