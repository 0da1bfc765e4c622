import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { type TestContext, test, vi } from 'vitest';
import { BALANCERS } from '../../support/balancers.ts';
import { runHere } from '../../support/command.ts';
import { makeFolder } from '../../support/folder.ts';

// Each check starts a program.
vi.setConfig({ testTimeout: 240_000 });

const SERVERS = 'http://10.0.0.1:4101,http://[::1]:4102';
const PUBLIC = 'https://mailbox.example/mail';

/** Returns what the command prints, and its exit code. */
const print = (target: string, servers: string, publicUrl: string) =>
  runHere(['fleet', target, `--servers=${servers}`, `--public-url=${publicUrl}`]);

const LABEL = 'a'.repeat(63);

/** Parts that a configuration can contain. */
const HOSTS = ['mailbox.example', 'localhost', '127.0.0.1', '[::1]', '[2001:db8::a]', '[::ffff:10.0.0.1]', 'a_b', '1a'];
const LONG_HOSTS = [
  LABEL,
  `${LABEL}.${LABEL}.${LABEL}.${'a'.repeat(61)}`,
  'xn--mnchen-3ya.example',
  'null',
  'on',
  'a--b',
];
const PATHS = ['', '/', '/mail', '/mail/', '/a.b/c-d/~e_f', '/s1', '/__mock', `/${'x'.repeat(199)}`, '/...', '/-'];
const PORTS = ['', ':1', ':80', ':8080', ':65535'];

/** Checks a configuration with the program that reads it. */
async function check(test: TestContext, name: keyof typeof BALANCERS, file: string, config: string): Promise<void> {
  // The port may be one that needs rights, and a name one that nobody knows.
  const here = config
    .replace(/listen \d+;/, 'listen 127.0.0.1:8080;')
    .replace(/bind :\d+/, 'bind 127.0.0.1:8080')
    .replace(/(\bserver (?:s\d+ )?)(?![\d.]+:)[\w.-]+(?=:\d)/g, '$1127.0.0.1');
  await writeFile(file, `${here}\n`);
  const { program } = BALANCERS[name];
  const { status, stderr, stdout } = spawnSync(program, BALANCERS[name].check(file), { encoding: 'utf8' });
  test.expect([config, status, stderr + stdout]).toEqual([config, 0, '']);
}

/** Skips the test, except in CI, where the program is not installed. */
function needProgram(test: TestContext, name: keyof typeof BALANCERS): void {
  const { program, howToGet } = BALANCERS[name];
  if (!spawnSync(program, ['-v']).error) return;
  if (process.env.CI) throw new Error(howToGet);
  test.skip(howToGet);
}

const NAMES = Object.keys(BALANCERS) as (keyof typeof BALANCERS)[];

test.for(NAMES)('%s accepts the configuration for every host, path and port that fleet accepts', async (name, test) => {
  needProgram(test, name);
  const file = join(await makeFolder(test), 'config');
  const urls = [
    ...[...HOSTS, ...LONG_HOSTS].map((host) => `http://${host}/mail`),
    ...PATHS.map((path) => `https://mailbox.example${path}`),
    ...PORTS.map((port) => `http://mailbox.example${port}`),
  ];
  for (const url of urls) {
    const { code, out, err } = await print(name, SERVERS, url);
    test.expect([url, code, err]).toEqual([url, 0, '']);
    await check(test, name, file, out.join('\n'));
  }
  for (const host of [...HOSTS, ...LONG_HOSTS]) {
    const { code, out, err } = await print(name, `http://${host}:1, http://${host}:65535/`, PUBLIC);
    test.expect([host, code, err]).toEqual([host, 0, '']);
    await check(test, name, file, out.join('\n'));
  }
});

/** Characters that mean something in a URL, a configuration, an expression, YAML or a shell, and others. */
const CHARACTERS = [...'ab.-_~/:;{}[]()+*?$^|\\\'"`#%&=!<>@, \t\n\r\0é💥'];
const odd = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 12 });
const host = fc.oneof(odd, fc.constantFrom(...HOSTS));
const path = fc.oneof(odd, fc.constantFrom(...PATHS));

test.for(NAMES)('%s accepts the configuration for any texts that fleet does not refuse', async (name, test) => {
  needProgram(test, name);
  const file = join(await makeFolder(test), 'config');
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(host, path, host, async (publicHost, publicPath, serverHost) => {
      const { code, out, err } = await print(name, `http://${serverHost}:4101`, `http://${publicHost}${publicPath}`);
      if (code !== 0) {
        test.expect([code, out]).toEqual([2, []]);
        test.expect(err).toMatch(/^agent-mailbox-mock: [^\n]*--(?:public-url|servers)[^\n]*\.$/);
        return;
      }
      accepted += 1;
      await check(test, name, file, out.join('\n'));
    }),
    { numRuns: 600 },
  );
  test.expect(accepted).toBeGreaterThan(10);
});

const HOST_RULE = 'must be a host name of letters, digits, - and _, or an IP address, not ';
const PORT_RULE = 'must be a number from 1 to 65535, not ';
const PATH_RULE = 'must be at most 200 letters, digits and any of -._~ between single slashes, not ';
const LIST_RULE = 'must be a list of different http URLs, each with a port, such as http://10.0.0.1:4025,';

test.for<[servers: string, publicUrl: string, said: string]>([
  ...['(a+)+$', "'", 'x;y', 'a{b', 'a"b', 'a b', 'a\nb', 'münchen', '', '-a', 'a..b', 'a.', '1', '1.2.3', '0x7f.1'].map(
    (name): [string, string, string] => [`http://${name}:1`, PUBLIC, `Each host in --servers ${HOST_RULE}`],
  ),
  ...['[a', '[::g]', '[::1%eth0]', '[]', '[1.2.3.4]', 'a'.repeat(64), `${'a.'.repeat(126)}ab`].map(
    (name): [string, string, string] => [`http://${name}:1`, PUBLIC, `Each host in --servers ${HOST_RULE}`],
  ),
  ...['99999', '65536', '0', '-1', '1e3', 'x', ''].map((port): [string, string, string] => [
    `http://a:${port}`,
    PUBLIC,
    `Each port in --servers ${PORT_RULE}"${port}".`,
  ]),
  ...['http://a', 'https://a:1', 'a:1', 'http://a:1/x;y', 'http://u@a:1', 'http://a:1?b', ''].map(
    (url): [string, string, string] => [url, PUBLIC, `The flag --servers ${LIST_RULE}`],
  ),
  ['http://A:1,http://a:01/', PUBLIC, 'The URLs in --servers must be different, but http://a:1 is there twice.'],
  ...['(a+)+$', "'", 'x;y', 'a{b', 'a"b', 'a..b', 'a.'].map((name): [string, string, string] => [
    SERVERS,
    `http://${name}/`,
    `The host of --public-url ${HOST_RULE}`,
  ]),
  ...['[a', '[::g]', 'a b', 'a\nb', '', 'a:99999'].map((name): [string, string, string] => [
    SERVERS,
    `http://${name}/`,
    '--public-url must be an http or https URL without a query',
  ]),
  [SERVERS, 'http://a:0/', `The port of --public-url ${PORT_RULE}"0".`],
  ...["/'", '/x;y', '/(a+)+$', '/{b', '/a"b', '/%20', '/é', '//a', '/a//b', '/$x', '/a*', `/${'x'.repeat(200)}`].map(
    (part): [string, string, string] => [SERVERS, `http://a${part}`, `The path of --public-url ${PATH_RULE}`],
  ),
])('fleet with the servers %j and the public URL %j is refused', async ([servers, publicUrl, said], { expect }) => {
  for (const target of ['nginx', 'haproxy', 'kubernetes']) {
    const { code, out, err } = await print(target, servers, publicUrl);
    expect([code, out]).toEqual([2, []]);
    expect(err.split('\n')).toHaveLength(1);
    expect(err).toContain(said);
  }
});

test.for(['10.0.0.1', '[::1]', 'a_b'])('%s cannot be a host of Kubernetes', async (name, { expect }) => {
  expect(await print('kubernetes', SERVERS, `http://${name}/`)).toEqual({
    code: 2,
    out: [],
    err: `agent-mailbox-mock: The host of --public-url must be a host name of letters, digits and - for Kubernetes, not "${name}".`,
  });
});

test('a full stop in the path of the public URL stands for itself', async ({ expect }) => {
  for (const target of ['nginx', 'haproxy']) {
    const { out } = await print(target, SERVERS, 'http://a/v1.0');
    expect(out.join('\n')).toContain(target === 'nginx' ? '~^/v1[.]0/s\\d+' : 'replace-path ^/v1[.]0(');
  }
});

test('nginx tries other processes for a new sandbox for a limited time', async ({ expect }) => {
  const { out } = await print('nginx', SERVERS, PUBLIC);
  expect(out.join('\n')).toMatch(/proxy_next_upstream error http_503 [^;]*;\n\s+proxy_next_upstream_timeout 15s;/);
});

test('a host and a path of Kubernetes stay texts, whatever words they are', async ({ expect }) => {
  const { out } = await print('kubernetes', SERVERS, 'http://null/1.5');
  expect(out.join('\n')).toMatch(/- host: 'null'\n[\s\S]*path: '\/1\.5\/'/);
});
