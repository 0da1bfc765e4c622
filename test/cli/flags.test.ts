import { test, vi } from 'vitest';
import type { Command } from '../../src/cli/command.ts';
import { readStartSettings } from '../../src/cli/commands/start-settings.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { COMMON_FLAGS, type FlagRow, START_FLAG_ROWS, variableOf } from '../../src/cli/flags.ts';
import { parseCommandLine } from '../../src/cli/run.ts';
import { BEHAVIOUR_IDS } from '../../src/contract/behaviours.ts';
import { linesOf, runHere } from '../support/command.ts';
import { readPage } from '../support/readme.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const DEFAULTS = {
  port: 4025,
  host: '127.0.0.1',
  fixtures: undefined,
  mail: [],
  behaviours: {},
  faults: undefined,
  imapPort: undefined as number | undefined,
  tlsCert: undefined as string | undefined,
  tlsKey: undefined as string | undefined,
  tlsRequired: undefined as boolean | undefined,
  allowHosts: undefined as readonly string[] | undefined,
  corsOrigins: undefined as readonly string[] | undefined,
  deliverTo: undefined as readonly string[] | undefined,
  controlToken: undefined as string | undefined,
  envFile: undefined as string | undefined,
  state: undefined as string | undefined,
  watch: false,
  handlers: undefined as string | undefined,
  maxMailBytes: undefined as number | undefined,
  journalSize: undefined as number | undefined,
  loopLimit: undefined as number | undefined,
  seed: undefined as number | undefined,
  verbose: undefined as boolean | undefined,
  json: false,
  quiet: false,
  opensInspector: false,
};

/** The settings of `start` with those of the server beside them, or the rule that the flags break. */
function settingsOf(args: readonly string[], env: NodeJS.ProcessEnv) {
  const line = parseCommandLine(args, env);
  if (line.action !== 'start') return line;
  const { server, flags: _, ...settings } = readStartSettings(line.flags);
  return { ...server, ...settings };
}

test.for<[title: string, args: string[], env: NodeJS.ProcessEnv, told: Partial<typeof DEFAULTS> | object]>([
  ['nothing', [], {}, {}],
  ['the command', ['start'], {}, {}],
  ['--port', ['--port', '80'], {}, { port: 80 }],
  ['-p', ['-p', '80'], {}, { port: 80 }],
  ['a flag after the command', ['start', '-p80'], {}, { port: 80 }],
  ['a flag before the command', ['-p', '80', 'start'], {}, { port: 80 }],
  ['PORT', [], { PORT: '80' }, { port: 80 }],
  ['AGENT_MAILBOX_PORT over PORT', [], { PORT: '80', AGENT_MAILBOX_PORT: '81' }, { port: 81 }],
  ['--port over both', ['-p', '82'], { PORT: '80', AGENT_MAILBOX_PORT: '81' }, { port: 82 }],
  ['--port over what is no port', ['-p', '82'], { PORT: 'x', AGENT_MAILBOX_PORT: 'y' }, { port: 82 }],
  ['AGENT_MAILBOX_PORT over what is no port', [], { PORT: 'x', AGENT_MAILBOX_PORT: '81' }, { port: 81 }],
  ['empty variables', [], { PORT: '', AGENT_MAILBOX_PORT: '', AGENT_MAILBOX_JSON: '' }, {}],
  ['the last of two ports', ['-p', '1', '-p', '2'], {}, { port: 2 }],
  ['--host', ['--host', '::1'], {}, { host: '::1' }],
  ['-f', ['-f', 'a.json'], {}, { fixtures: 'a.json' }],
  ['--mail', ['--mail', 'a.eml', '--mail', '*.mbox'], {}, { mail: ['a.eml', '*.mbox'] }],
  ['--behaviour', ['--behaviour', 'a=b', '--behaviour=c=d=e'], {}, { behaviours: { a: 'b', c: 'd=e' } }],
  ['the last of two values', ['--behaviour', 'a=b', '--behaviour', 'a=c'], {}, { behaviours: { a: 'c' } }],
  ['a list', [], { AGENT_MAILBOX_BEHAVIOUR: 'a=b, c=d,' }, { behaviours: { a: 'b', c: 'd' } }],
  ['a flag over a list', ['--behaviour', 'c=d'], { AGENT_MAILBOX_BEHAVIOUR: 'a=b' }, { behaviours: { c: 'd' } }],
  [
    '--fault',
    ['--fault', '{"on":"request","cut":true}', '--fault', '[{"on":"smtp"},{"on":"stream"}]'],
    {},
    { faults: [{ on: 'request', cut: true }, { on: 'smtp' }, { on: 'stream' }] },
  ],
  [
    '--fault with names',
    ['--fault', 'slow', '--fault', '{"name":"down","times":2}'],
    {},
    { faults: ['slow', { name: 'down', times: 2 }] },
  ],
  ['a variable with the name of a fault', [], { AGENT_MAILBOX_FAULT: 'slow' }, { faults: ['slow'] }],
  ['--max-mail in MiB', ['--max-mail', '512MiB'], {}, { maxMailBytes: 536_870_912 }],
  ['--max-mail in GiB, in small letters', ['--max-mail', '2gib'], {}, { maxMailBytes: 2_147_483_648 }],
  ['--max-mail in bytes', ['--max-mail=1000'], {}, { maxMailBytes: 1000 }],
  ['--journal-size', ['--journal-size', '0'], {}, { journalSize: 0 }],
  ['--loop-limit', ['--loop-limit', '20'], {}, { loopLimit: 20 }],
  ['--allow-host', ['--allow-host', 'a.example', '--allow-host', 'b'], {}, { allowHosts: ['a.example', 'b'] }],
  [
    'an IPv6 address',
    ['--allow-host', 'fd00::2:1', '--allow-host', '[::2]'],
    {},
    { allowHosts: ['fd00::2:1', '[::2]'] },
  ],
  [
    '--cors-origin',
    ['--cors-origin', 'https://a.example:1', '--cors-origin', '*'],
    {},
    { corsOrigins: ['https://a.example:1', '*'] },
  ],
  [
    '--deliver-to',
    ['--deliver-to', 'hooks.internal', '--deliver-to=10.0.0.0/8', '--deliver-to', 'fd00::/8', '--deliver-to', '*'],
    {},
    { deliverTo: ['hooks.internal', '10.0.0.0/8', 'fd00::/8', '*'] },
  ],
  ['--token', ['--token', 'a-token_of.16+/='], {}, { controlToken: 'a-token_of.16+/=' }],
  ['--env-file', ['--env-file', 'a.env'], {}, { envFile: 'a.env' }],
  ['--handlers', ['--handlers', 'a.mjs'], {}, { handlers: 'a.mjs' }],
  ['--state', ['--state', 'a.json'], {}, { state: 'a.json' }],
  ['--watch', ['--watch'], {}, { watch: true }],
  ['--seed', ['--seed', '42'], {}, { seed: 42 }],
  ['--json', ['--json'], {}, { json: true }],
  ['-q', ['-q'], {}, { quiet: true }],
  ['--verbose', ['--verbose'], {}, { verbose: true }],
  ['--open', ['--open'], {}, { opensInspector: true }],
  ['a switch that is on', [], { AGENT_MAILBOX_QUIET: 'yes' }, { quiet: true }],
  ['a switch that is off', [], { AGENT_MAILBOX_QUIET: '0', AGENT_MAILBOX_JSON: 'False' }, {}],
])('reads %s', ([, args, env, told], { expect }) => {
  expect(settingsOf(args, env)).toEqual({ ...DEFAULTS, ...told });
});

test.for<[args: string[], env: NodeJS.ProcessEnv, action: string]>([
  [['-h'], {}, 'help'],
  [['-v'], {}, 'version'],
  [['-h'], { PORT: 'x', AGENT_MAILBOX_JSON: 'x' }, 'help'],
  [['validate', '-v'], {}, 'version'],
])('takes %j with %j in the environment for %s', ([args, env, action], { expect }) => {
  expect(parseCommandLine(args, env)).toEqual({ action });
});

test.for<[args: string[], topic: string | undefined]>([
  [['help'], undefined],
  [['help', 'help'], undefined],
  [['help', 'init'], 'init'],
  [['--help', 'init'], 'init'],
  [['help', '--help', 'init'], 'init'],
  [['init', '--help', '--port', '1'], 'init'],
  [['receive', '-h'], 'receive'],
  [['unknown', '-h'], undefined],
])('takes %j for help about %s', ([args, topic], { expect }) => {
  expect(parseCommandLine(args, {})).toEqual({ action: 'help', topic });
});

test.for<[args: string[], env: NodeJS.ProcessEnv, action: string, argument: string | undefined]>([
  [['init'], {}, 'init', undefined],
  [['init', 'a.jsonc'], { PORT: 'x', AGENT_MAILBOX_JSON: 'x' }, 'init', 'a.jsonc'],
  [['validate', 'a.json'], { AGENT_MAILBOX_FIXTURES: 'b.json' }, 'validate', 'a.json'],
  [['validate', '--', '-h'], {}, 'validate', '-h'],
])('reads %j with %j in the environment as %s of %s', ([args, env, action, argument], { expect }) => {
  expect(parseCommandLine(args, env)).toEqual({ action, argument, otherCommand: [], others: [], flags: {} });
});

test('reads a second argument of a command that takes one', ({ expect }) => {
  const parsed = parseCommandLine(['client', 'python', 'mailbox_client.py'], {});
  expect(parsed).toEqual({
    action: 'client',
    argument: 'python',
    otherCommand: [],
    others: ['mailbox_client.py'],
    flags: {},
  });
});

test.for<[args: string[], env: NodeJS.ProcessEnv, flags: object, otherCommand: string[]]>([
  [['exec', '--', 'npm', 'test', '--', '--port', '1'], {}, {}, ['npm', 'test', '--', '--port', '1']],
  [['exec', '-p', '1', '--', 'node', '-v'], {}, { port: { value: '1', source: '-p' } }, ['node', '-v']],
  [['exec', '--', 'sh'], { PORT: '1', AGENT_MAILBOX_JSON: '1' }, {}, ['sh']],
  [['exec', '--', 'sh'], { AGENT_MAILBOX_PORT: '1' }, { port: { value: '1', source: 'AGENT_MAILBOX_PORT' } }, ['sh']],
])('reads %j with %j in the environment as exec with %j of %j', ([args, env, flags, otherCommand], { expect }) => {
  const parsed = parseCommandLine(args, env);
  expect(parsed).toEqual({
    action: 'exec',
    argument: undefined,
    otherCommand,
    others: [],
    flags: expect.any(Object),
  });
  const [given] = Object.values('flags' in parsed ? parsed.flags : {});
  const [wanted] = Object.values(flags);
  expect(given?.value).toEqual(wanted?.value);
});

const SAMPLES: Record<string, string> = {
  port: '81',
  'smtp-port': '82',
  'imap-port': '83',
  'tls-cert': 'cert.pem',
  'tls-key': 'key.pem',
  host: 'localhost',
  fixtures: 'a.json',
  mail: 'a.eml',
  behaviour: 'a=b',
  fault: '{"on":"request","status":503}',
  'allow-host': 'a.example',
  'public-url': 'https://a.example/s1',
  drain: '10s',
  'cors-origin': 'https://a.example',
  'deliver-to': '10.0.0.0/8',
  handlers: 'a.mjs',
  'max-mail': '1GiB',
  token: 'a-token-of-16-or-more',
  'env-file': 'a.env',
  profile: 'a.json',
  'journal-size': '50',
  'loop-limit': '20',
  seed: '42',
  state: 'a.json',
};

test.for(START_FLAG_ROWS)('reads --%s from the environment too', ([name, { value: form, short }], { expect }) => {
  const value = form !== undefined ? [SAMPLES[name] ?? ''] : [];
  const settings = settingsOf([`--${name}`, ...value], {});
  expect(settings).not.toEqual(DEFAULTS);
  expect(settingsOf([], { [variableOf(name)]: value[0] ?? '1' })).toEqual(settings);
  if (short) expect(settingsOf([`-${short}`, ...value], {})).toEqual(settings);
});

test.for<[args: string[], env: NodeJS.ProcessEnv, said: RegExp]>([
  [['--bogus'], {}, /unknown option '--bogus'/i],
  [['-x'], {}, /unknown option '-x'/i],
  [['--no-json'], {}, /unknown option '--no-json'/i],
  [
    ['serve'],
    {},
    /no command "serve"; there are: start, exec, receive, wait, story, samples, trigger, listen, logs, show, mcp, verify, evaluate, profile, fleet, init, validate, openapi, client, behaviours, help\.$/,
  ],
  [['recieve'], {}, /no command "recieve"; did you mean receive\? There are: start, .+, help\.$/],
  [['help', 'int'], {}, /no command "int"; did you mean init\? There are: /],
  [['help', 'init', 'now'], {}, /help takes one command, but got "now" too/],
  [['--prot', '1'], {}, /unknown option '--prot'; did you mean --port\? If not, see --help\.$/i],
  [['receive', '--form=x'], {}, /unknown option '--form'; did you mean --from\? If not, see --help\.$/i],
  [['start', '--form=x'], {}, /unknown option '--form'; see --help\.$/i],
  [['behaviours', 'x.y'], {}, /no behaviour "x\.y"; npx agent-mailbox-mock behaviours lists all behaviours/],
  [['behaviours', '__proto__'], {}, /no behaviour "__proto__"/],
  [['behaviours', 'a', 'b'], {}, /behaviours takes one id, but got "b" too/],
  [['behaviours', '--behaviour', 'health.body=x'], {}, /"health\.body" cannot be "x"; it can be: status, empty/],
  [['__proto__'], {}, /no command "__proto__"/],
  [['init', '--port', '80'], {}, /init does not take --port; see --help\.$/],
  [['validate', '-q', 'a.json'], {}, /validate does not take --quiet/],
  [['init', 'a', 'b'], {}, /init takes one file, but got "b" too/],
  [['init', ''], {}, /file of init must not be empty/],
  [['client'], {}, /client needs <python>; see --help\.$/],
  [['client', 'python', ''], {}, /file of client must not be empty/],
  [['client', 'python', 'a.py', 'b.py'], {}, /client takes <python> \[file\], but got "b\.py" too/],
  [['client', 'ruby'], {}, /no client for "ruby" to write; there is one for python\. For JavaScript/],
  [['openapi', 'a.json', 'b.json'], {}, /openapi takes one file, but got "b\.json" too/],
  [['openapi', '--behaviour', 'errors.shapes=x'], {}, /no behaviour "errors\.shapes"; did you mean errors\.shape/],
  [['validate'], {}, /validate needs <file>; see --help\.$/],
  [['validate', 'a', 'b'], {}, /validate takes one file, but got "b" too/],
  [[''], {}, /no command ""/],
  [['--', '--port'], {}, /no command "--port"/],
  [['start', 'now'], {}, /start takes no argument, but got "now"/],
  [['--json=yes'], {}, /'--json' does not take an argument/],
  [['--port'], {}, /'-p, --port <value>' argument missing/],
  [['--port', '--json'], {}, /'--port' argument is ambiguous/],
  [['-p', '-1'], {}, /: --port must be a whole number from 0 to 65535, not "-1"\.$/],
  [
    ['--journal-size', '-x'],
    {},
    /ambiguous; --journal-size must be a whole number from 0 to 100000, and a value that begins with - follows an =, as in --journal-size=<requests>; see --help\.$/,
  ],
  [['--seed', '-1'], {}, /: --seed must be a whole number from 0 to 9007199254740991, not "-1"\.$/],
  [['receive', '--text', '-x'], {}, /ambiguous; a value that begins with - follows an =, as in --text=<text>;/],
  [['--port='], {}, /--port must be a whole number from 0 to 65535, not ""/],
  [['--port=-1'], {}, /--port must be .+, not "-1"/],
  [['--port', '65536'], {}, /--port must be .+, not "65536"/],
  [['--port', '80.5'], {}, /--port must be .+, not "80\.5"/],
  [['--port', '0x50'], {}, /--port must be .+, not "0x50"/],
  [['--port', ' 80'], {}, /--port must be .+, not " 80"/],
  [['--port', '1\n\u001b[31m2'], {}, /--port must be .+, not "1\\n\\u001b\[31m2"/],
  [[], { PORT: 'http' }, / PORT must be .+, not "http"/],
  [[], { AGENT_MAILBOX_PORT: 'http', PORT: '80' }, / AGENT_MAILBOX_PORT must be .+, not "http"/],
  [[], { AGENT_MAILBOX_JSON: 'maybe' }, /AGENT_MAILBOX_JSON must be 1 or 0, not "maybe"/],
  [['--host='], {}, /--host must not be empty/],
  [['--fixtures='], {}, /--fixtures must not be empty/],
  [['--behaviour', 'webhooks.list.secret'], {}, /--behaviour must be <id>=<value>, not "webhooks\.list\.secret"/],
  [['--behaviour', '=omitted'], {}, /--behaviour must be <id>=<value>, not "=omitted"/],
  [['--behaviour', 'webhooks.list.secret='], {}, /cannot be ""; it can be: included, omitted/],
  [[], { AGENT_MAILBOX_BEHAVIOUR: 'webhooks' }, /AGENT_MAILBOX_BEHAVIOUR must be <id>=<value>, not "webhooks"/],
  [['--behaviour', 'a=b=c'], {}, /no behaviour "a"; npx agent-mailbox-mock behaviours lists all behaviours/],
  [
    ['--behaviour', 'webhooks.list.secrets=omitted'],
    {},
    /no behaviour "webhooks\.list\.secrets"; did you mean webhooks\.list\.secret, .+\? Otherwise, npx agent-mailbox-mock behaviours lists/,
  ],
  [['--behaviour', '__proto__=x'], {}, /no behaviour "__proto__"/],
  [['--behaviour', 'deliveries.signature.header=Host'], {}, /cannot be "Host"; it can be: .*any other header name/],
  [['--behaviour', 'webhooks.list.secret=no'], {}, /cannot be "no"; it can be: included, omitted/],
  [['--behaviour', 'webhooks.list.secret=omitted=no'], {}, /cannot be "omitted=no"/],
  [
    ['--allow-host', 'a.example:80'],
    {},
    /--allow-host must be a host name without scheme and port, not "a\.example:80"/,
  ],
  [['--allow-host', '[::1]:80'], {}, /--allow-host must be/],
  [['--allow-host', 'http://a.example'], {}, /--allow-host must be/],
  [['--allow-host', '*'], {}, /--allow-host must be/],
  [['--allow-host='], {}, /--allow-host must be/],
  [['--cors-origin', 'a.example'], {}, /--cors-origin must be an origin such as https:.+, not "a\.example"/],
  [['--cors-origin', 'https://a.example/page'], {}, /--cors-origin must be/],
  [
    ['--deliver-to', 'https://hooks.example'],
    {},
    /--deliver-to must be a host name without scheme and port, a range such as 10\.0\.0\.0\/8, or \*, not "https:.+"/,
  ],
  [['--deliver-to', 'hooks.example:443'], {}, /--deliver-to must be/],
  [['--deliver-to', '10.0.0.0/33'], {}, /--deliver-to must be/],
  [
    ['--fault', 'slow: 2s'],
    {},
    /--fault must be the name of a fault, such as slow, or its JSON, such as .+, not "slow: 2s"/,
  ],
  [['--fault', '{"on":"request","status":99}'], {}, /faults\[0\]\.status must be a whole number from 200 to 599\./],
  [['--fault', '{"on":"smtp"}', '--fault', '7'], {}, /faults\[1\] must be an object\.$/],
  [['--fault', '{"on":"request"}'], {}, /: --fault is not valid: faults\[0\] must have one of status/],
  [[], { AGENT_MAILBOX_FAULT: '{"on"' }, /AGENT_MAILBOX_FAULT must be the name of a fault/],
  [['--max-mail', '5 TB'], {}, /--max-mail must be a size such as 512MiB or 1GiB, not "5 TB"/],
  [['--max-mail=0'], {}, /--max-mail must be a size/],
  [['--seed=-1'], {}, /--seed must be a whole number from 0 to 9007199254740991, not "-1"/],
  [['--loop-limit=0'], {}, /--loop-limit must be a whole number from 1 to 1000000, not "0"/],
  [['--journal-size=-1'], {}, /--journal-size must be a whole number from 0 to 100000, not "-1"/],
  [['--deliver-to='], {}, /--deliver-to must be/],
  [['--token', 'short-of-16-yet'], {}, /: --token must be 16 to 256 letters, digits and -\._\+\/=\.$/],
  [['--token', `${'x'.repeat(256)}y`], {}, /: --token must be 16 to 256 letters, digits and -\._\+\/=\.$/],
  [['--token', 'a token of two words'], {}, /: --token must be 16 to 256 letters, digits and -\._\+\/=\.$/],
  [[], { AGENT_MAILBOX_TOKEN: 'short' }, /: AGENT_MAILBOX_TOKEN must be 16 to 256 letters, digits and -\._\+\/=\.$/],
  [['--env-file='], {}, /--env-file must not be empty/],
  [['exec'], {}, /exec needs another command after --, such as: npx agent-mailbox-mock exec -- npm test\.$/],
  [['exec', '--'], {}, /exec needs another command after --/],
  [['exec', '--', ''], {}, /exec needs another command after --/],
  [['exec', 'npm', 'test'], {}, /exec needs another command after --/],
  [['exec', 'npm', '--', 'test'], {}, /exec needs another command after --/],
  [['exec', '--quiet', '--', 'true'], {}, /exec does not take --quiet/],
  [['exec', '--port', '--', 'true'], {}, /'-p, --port <value>' argument missing/],
  [['exec', '--report=', '--', 'true'], {}, /--report must not be empty/],
  [[], { AGENT_MAILBOX_DELIVER_TO: '*,10.0.0.0/' }, /AGENT_MAILBOX_DELIVER_TO must be .+, not "10\.0\.0\.0\/"/],
])('refuses %j with %j in the environment as wrong usage', async ([args, env, said], { expect }) => {
  const { code, out, err } = await runHere(args, env);
  expect(err).toMatch(said);
  expect(err).toMatch(/^agent-mailbox-mock: .+[^.]\.$/);
  expect({ code, out }).toEqual({ code: 2, out: [] });
});

/** A text as it was before it was broken into lines. */
function unwrap(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** How the lines of a help text begin that explain these flags. */
function startsOf(flags: readonly FlagRow[]): string[] {
  return flags.map(([name, { short }]) => (short ? `  -${short}, --${name}` : `      --${name}`));
}

test('shows every command, the flags of start and their defaults in help', async (test) => {
  const { code, out, err } = await runHere(['--help']);
  test.expect([code, err]).toEqual([0, '']);
  const shown = out.join('\n');
  const help = linesOf(shown);
  test.expect(help[0]).toBe('Usage: agent-mailbox-mock [command] [flags]');
  for (const [name, { help: text }] of Object.entries(COMMANDS)) {
    test.expect(help.filter((line) => line.startsWith(`  ${name} `))).toHaveLength(1);
    test.expect(unwrap(shown)).toContain(text);
  }
  test
    .expect(shown)
    .toMatch(
      /^ {2}client <python> \[file\] {2,}.+\n(?: {20,}.+\n)* {2}behaviours \[id\] {2,}.+\n(?:.+\n)* {2}help \[command\] {2}/m,
    );
  for (const start of startsOf(START_FLAG_ROWS))
    test.expect(help.filter((line) => line.startsWith(start))).toHaveLength(1);
  test.expect(unwrap(shown)).toMatch(/--port .+default 4025; also PORT/);
  test.expect(unwrap(shown)).toMatch(/--host .+default 127\.0\.0\.1/);
  test.expect(unwrap(shown)).toMatch(/--fixtures .+default mailbox\.jsonc, if it is in this folder/);
  test.expect(shown).toContain('AGENT_MAILBOX_PORT');
});

test('lists the flags of start by subject, in aligned columns', async ({ expect }) => {
  const { out } = await runHere(['help', 'start']);
  const help = linesOf(out.join('\n'));
  const groups = ['Server', 'Data', 'Mail', 'Behaviour', 'Security', 'Log and output', 'Every command'];
  expect(help.filter((line) => /^[A-Z][\w ]+:$/.test(line))).toEqual(
    ['Examples', ...groups].map((group) => `${group}:`),
  );
  const columns = help.flatMap((line) => /^ {2}(?:-\w, | {4})--\S+(?: \S+)? +(?=\S)/.exec(line)?.[0].length ?? []);
  expect(new Set(columns)).toEqual(new Set([33]));
});

test.for(
  Object.entries(COMMANDS).flatMap(([name, { examples = [] }]: [string, Command]) =>
    examples.map(([line]) => [name, line] as const),
  ),
)('the help of %s has an example that works: %j', ([name, line], { expect }) => {
  const parsed = parseCommandLine(line.split(' ').filter(Boolean), {});
  expect(parsed).toMatchObject({ action: name });
  if (name === 'start') expect(settingsOf(line.split(' ').filter(Boolean), {})).toMatchObject({ host: '127.0.0.1' });
});

const COMMAND_ROWS: [name: string, command: Command][] = Object.entries(COMMANDS);

test.for(COMMAND_ROWS)('shows %s alone in its help', async ([name, command], { expect }) => {
  const { code, out, err } = await runHere([name, '--help']);
  expect([code, err]).toEqual([0, '']);
  expect(await runHere(['help', name])).toEqual({ code, out, err });
  const usage = [name, command.argument, command.secondArgument].filter(Boolean).join(' ');
  const other = { none: '', true: ' -- <command>', may: ' [-- <command>]' }[`${command.runsOtherCommand ?? 'none'}`];
  const help = linesOf(out.join('\n'));
  expect(help[0]).toBe(`Usage: agent-mailbox-mock ${usage} [flags]${other}`);
  const flags = Object.entries({ ...command.flags, ...COMMON_FLAGS });
  const listed = help.filter((line) => /^ {2}(?:-\w, | {4})--/.test(line));
  expect(listed.map((line) => line.split(/(?<=--\S+)\s/)[0])).toEqual(startsOf(flags));
  for (const [, flag] of flags) expect(unwrap(out.join(' '))).toContain(flag.help);
});

test.for(COMMAND_ROWS)('the page of the command has every flag of %s', ([name, { flags }], { expect }) => {
  const page = readPage('src/cli/README.md');
  const ofStart = page.slice(page.indexOf('generated:flags'), page.indexOf('generated:command-flags'));
  const [, own = ''] = page.split(new RegExp(`\n### ${name}\n`));
  const table = own.slice(0, own.search(/\n(?:###|<!--) /));
  const shown = name === 'start' || name === 'exec' ? ofStart + table : table;
  for (const [flag, { value, help }] of Object.entries(flags)) {
    const row = shown
      .split('\n')
      .filter((line) => line.includes(`\`--${flag}${value ? ` ${value}` : ''}\``.replaceAll('|', '\\|')));
    expect(
      row.some((line) => line.includes(help.replaceAll('|', '\\|'))),
      `--${flag}`,
    ).toBe(true);
  }
});

test.for(
  START_FLAG_ROWS.flatMap(([name, row]) => {
    const [, text] = /\(default:? ([^,;)]+)/.exec(row.help) ?? [];
    return row.default === undefined || Array.isArray(row.default) || row.value === undefined
      ? []
      : [[name, row, text] as const];
  }),
)('the help of --%s names its default', ([, { fromText, default: value }, text = ''], { expect }) => {
  expect(fromText ? fromText(text) : text).toBe(value);
});

const TEXTS = [['help'], ...COMMAND_ROWS.map(([name]) => ['help', name]), ['behaviours']];

test.for([...TEXTS, ...BEHAVIOUR_IDS.map((id) => ['behaviours', id])])(
  'keeps %j %j within 80 columns',
  async (args, { expect }) => {
    const { code, out } = await runHere(args);
    expect(code).toBe(0);
    expect(linesOf(out.join('\n')).filter((line) => line.length > 80 || /\s$/.test(line))).toEqual([]);
  },
);
