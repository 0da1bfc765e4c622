import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { OPERATION_IDS } from '../src/contract/operations.ts';
import { OPERATION_FUNCTIONS } from '../src/service/operations/index.ts';
import { ROOMS } from './support/rooms.ts';
import { ROOT } from './support/root.ts';
import { COMPUTED, FILES, IMPORTS, type Import, nodesOf, PATHS, parseText, UPWARD_IMPORTS } from './support/source.ts';
import { needsOutside, readTest, TEST_FILES } from './support/test-files.ts';

/** The folders that may import each package; `types` means that only type imports are allowed. */
const PACKAGE_RULES: readonly { packages: RegExp; allowed: readonly string[]; types?: readonly string[] }[] = [
  {
    packages: /^node:/,
    allowed: ['src/server/', 'src/cli/', 'src/testing/receiver/', 'src/evaluate/', 'src/verify/'],
    types: ['src/world/fetch-in-process.ts'],
  },
  { packages: /^(express|@mswjs\/http-middleware)$/, allowed: ['src/server/http/user-handlers.ts'] },
  { packages: /^smtp-server$/, allowed: ['src/server/mail/'] },
  { packages: /^@mswjs\/data(\/|$)/, allowed: ['src/world/store/database.ts', 'src/world/store/database.ts'] },
  { packages: /^jsonc-parser$/, allowed: ['src/cli/', 'src/evaluate/read-scenarios.ts'] },
  { packages: /^yaml$/, allowed: ['src/evaluate/read-scenarios.ts', 'src/evaluate/yaml-document.ts'] },
  { packages: /^postal-mime$/, allowed: ['src/service/mail/mime/decode.ts'] },
  { packages: /^@noble\/hashes(\/|$)/, allowed: ['src/fixture/defaults.ts'] },
  { packages: /^@stablelib\//, allowed: ['src/service/delivery/request.ts', 'src/inspector/'] },
  { packages: /^ipaddr\.js$/, allowed: ['src/server/'] },
  { packages: /^ws$/, allowed: ['src/server/', 'src/verify/event-stream.ts'] },
  { packages: /^standardwebhooks$/, allowed: ['src/testing/receiver/receiver.ts'] },
  { packages: new RegExp(`^${COMPUTED}$`), allowed: ['src/cli/load-handlers.ts'] },
  { packages: /^ms$/, allowed: ['src/basics/duration.ts'] },
  { packages: /^vitest$/, allowed: ['src/testing/vitest/', 'src/evaluate/test-scenarios.ts'] },
  { packages: /^@(?:playwright\/test|msw\/playwright)$/, allowed: ['src/testing/playwright/'] },
  { packages: /^preact(\/|$)/, allowed: ['src/inspector/'] },
  { packages: /^msw\/node$/, allowed: ['src/testing/vitest/'] },
  {
    packages: /^msw$/,
    allowed: [
      'src/mailbox/',
      'src/server/http/user-handlers.ts',
      'src/testing/vitest/mailbox-router.ts',
      'src/testing/playwright/index.ts',
    ],
    types: ['src/control/mailbox-interface.ts', 'src/server/start-server.ts'],
  },
];

/** Folders with a file for each resource, which has the same name in each. */
const RESOURCE_FOLDERS = ['src/contract/operations/', 'src/contract/behaviours/', 'src/service/operations/'];

/** Names that several files have nevertheless, with the reason; the files of resources count as one. */
const SHARED_NAMES: Readonly<Record<string, string>> = {
  'behaviours.ts': 'the ledger, and the command that shows it',
  'index.ts': 'the entries of the package, and what joins the operations',
  'profile.ts': 'the profile of behaviours, and the command that writes one',
  'reply.ts': 'the reply to a request, and the answer to a mail',
  'service.ts': 'the operations about the service itself, and what handling a request needs',
  'story.ts': 'what became of a mail, and the command that prints it',
  'stream.ts': 'the behaviours of the event stream, and a stream',
  'trigger.ts': 'an event fired by hand, and the command that does it',
};

/** Files outside the contract that know where the service's paths begin, with the reason. */
const PATHS_ELSEWHERE: Readonly<Record<string, string>> = {
  'src/inspector/views/mail/drafts.tsx': 'saves and sends a draft as a client does',
  'src/inspector/views/webhooks/endpoint-actions.tsx': 'changes a webhook as a client would',
  'src/server/http/app.ts': 'lets pages call /v1, but not the control plane',
};

/** The folders of test/ that belong to no single part of the source: those that test/README.md lists. */
const OWN_FOLDERS = [...readTest('test/README.md').matchAll(/^- `([^`]+\/)`: /gm)].map(
  ([, folder]) => `test/${folder}`,
);

/** The tests that mirror the source: not those of the whole, which lie at the top, nor those of other folders. */
const MIRRORED_TESTS = TEST_FILES.filter((file) => dirname(file) !== 'test' && !isIn(file, OWN_FOLDERS));

test('every folder of the source is a room, or a part of one', () => {
  const parts = Object.entries(ROOMS).flatMap(([room, { parts = {} }]) => [
    room,
    ...Object.keys(parts).map((part) => `${room}/${part}`),
  ]);
  const present = new Set(PATHS.map((file) => dirname(file).split('/').slice(1, 3).join('/')));
  expect([...present].filter(Boolean).sort()).toEqual(parts.sort());
});

test('imports lead to rooms that come before their own in the list', () => {
  expect(UPWARD_IMPORTS.map(show)).toEqual([]);
});

test('no file imports itself by way of others, types included', () => {
  const imported = new Map(FILES.map(({ fileName }): [string, string[]] => [fileName, []]));
  for (const { from, to } of IMPORTS) imported.get(from)?.push(to);
  const isReachable = (file: string, wanted: string, seen = new Set<string>()): boolean =>
    (imported.get(file) ?? []).some((to) => {
      if (to === wanted) return true;
      if (seen.has(to)) return false;
      seen.add(to);
      return isReachable(to, wanted, seen);
    });
  expect(FILES.map(({ fileName }) => fileName).filter((file) => isReachable(file, file))).toEqual([]);
});

test('of two folders side by side, only one imports the other', () => {
  const pairs = new Map<string, string>();
  for (const { from, to } of IMPORTS.filter((each) => each.to.startsWith('src/'))) {
    const [fromSteps, toSteps] = [dirname(from).split('/'), dirname(to).split('/')];
    const common = fromSteps.findIndex((step, index) => step !== toSteps[index]);
    // A folder and one of its own folders are one piece of the code, in which the test above finds each cycle.
    if (common < 0 || toSteps[common] === undefined) continue;
    const steps = [fromSteps, toSteps].map((path) => path.slice(0, common + 1).join('/'));
    pairs.set(steps.join(' -> '), `${from} imports ${to}`);
  }
  const mutual = [...pairs].filter(([pair]) => pairs.has(pair.split(' -> ').reverse().join(' -> ')));
  expect(mutual.map(([, example]) => example)).toEqual([]);
});

test('no timer that others may fake is used for what is promised in real time', () => {
  // The commands and the inspector have a process and a page of their own; the receiver keeps the timers itself.
  const exempt = [
    'src/cli/',
    'src/inspector/',
    'src/testing/receiver/',
    'src/basics/real-timers.ts',
    'src/evaluate/process-agent.ts',
    'src/verify/',
  ];
  const names = 'setTimeout|clearTimeout|setInterval|clearInterval|setImmediate|performance';
  const used = FILES.filter(({ fileName }) => !isIn(fileName, exempt)).flatMap(({ fileName, text }) => {
    const kept = /import \{([^}]*)\} from '[./]+basics\/real-timers\.ts'/.exec(text)?.[1] ?? '';
    const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|`[^`]*`/g, '');
    const found = [...code.matchAll(new RegExp(`(?<![.\\w])(${names})(?=[.(])`, 'g'))].map(([name]) => name);
    return found.filter((name) => !kept.split(/[ ,]+/).includes(name)).map((name) => `${name} in ${fileName}`);
  });
  expect(used).toEqual([]);
});

test('no test has a limit of time of its own, which a busy machine could reach', () => {
  // What the suites beside the tests start has limits of its own.
  const suites = ['bench', 'compat', 'imap', 'page', 'soak'].map((name) => `test/${name}/`);
  const own = TEST_FILES.filter((file) => !isIn(file, suites)).flatMap((file) => {
    const found = readTest(file).match(/\bvi\.wait(?:For|Until)\b|\btimeout: \d+_000|\bwithin\(.*_000\)/g) ?? [];
    return found.map((each) => `${each} in ${file}`);
  });
  expect(own).toEqual([]);
});

test('the contract imports only the basics', () => {
  const own = ['src/basics/', 'src/contract/'];
  const outside = IMPORTS.filter(({ from, to }) => from.startsWith('src/contract/') && !isIn(to, own));
  expect([...new Set(outside.map(({ to }) => to))].sort()).toEqual(['zod']);
});

test('the receiver, which users take alone, imports nothing of ours', () => {
  const own = ['src/testing/receiver/'];
  const outside = IMPORTS.filter(({ from, to }) => isIn(from, own) && to.startsWith('src/') && !isIn(to, own));
  expect(outside.map(show)).toEqual([]);
});

test('the inspector imports only types from other rooms, the client of the control calls, and what shows entries', () => {
  const allowed = ['src/inspector/', 'src/control/table/client.ts', 'src/control/journal/from-entries/', 'src/basics/'];
  const values = IMPORTS.filter(
    ({ from, to, typesOnly }) =>
      isIn(from, ['src/inspector/']) && !typesOnly && to.startsWith('src/') && !isIn(to, allowed),
  );
  expect(values.map(show)).toEqual([]);
});

test('packages are imported only where they belong', () => {
  const misplaced = IMPORTS.filter((each) =>
    PACKAGE_RULES.some(({ packages, allowed, types = [] }) => {
      const place = each.typesOnly ? [...allowed, ...types] : allowed;
      return packages.test(each.to) && !isIn(each.from, place);
    }),
  );
  expect(misplaced.map(show)).toEqual([]);
});

test('every imported package is bundled, or one that the user gets', () => {
  const { dependencies, peerDependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  expect(dependencies).toBeUndefined();
  const imported = IMPORTS.map(({ to }) => to).filter(
    (to) => to !== COMPUTED && !/^(src\/|node:|package\.json|fixtures\/)/.test(to),
  );
  const names = new Set(imported.map((to) => /^(@[^/]+\/)?[^/]+/.exec(to)?.[0] ?? to));
  const declared = Object.keys({ ...devDependencies, ...peerDependencies });
  expect([...names].filter((name) => !declared.includes(name))).toEqual([]);
});

test('no path of the service is written outside the contract', () => {
  // What calls another server says which path it calls.
  const calling = ['src/contract/', 'src/verify/'];
  const elsewhere = FILES.filter((file) => !isIn(file.fileName, calling) && namesPath(file));
  expect(elsewhere.map(({ fileName }) => fileName).sort()).toEqual(Object.keys(PATHS_ELSEWHERE));
});

test('no two files have one name, but for those of the same resource', () => {
  const files = FILES.map(({ fileName }) => ({
    name: fileName.slice(fileName.lastIndexOf('/') + 1),
    place: isIn(fileName, RESOURCE_FOLDERS) ? 'a resource' : fileName,
  }));
  const isShared = ({ name, place }: (typeof files)[number]) =>
    files.some((other) => other.name === name && other.place !== place);
  const shared = new Set(files.filter(isShared).map(({ name }) => name));
  expect([...shared].sort()).toEqual(Object.keys(SHARED_NAMES));
});

test('the files of operations export operations only', () => {
  expect(Object.keys(OPERATION_FUNCTIONS).sort()).toEqual([...OPERATION_IDS].sort());
});

test('nothing is kept in a variable at the top of a file', () => {
  const kept = FILES.flatMap((file) =>
    file.statements
      .filter(ts.isVariableStatement)
      .filter(({ declarationList }) => !(declarationList.flags & ts.NodeFlags.Const))
      .map((statement) => `${file.fileName}: ${statement.getText(file)}`),
  );
  expect(kept).toEqual([]);
});

test('a test that starts a process or a browser, or needs the build, is left to `npm run test:all`', () => {
  const starts = /\b(?:runCommand|startCommand|spawn|execFile|useBrowser|useInspector)\(|\bDIST\b/;
  const starting = TEST_FILES.filter((file) => file !== 'test/architecture.test.ts' && starts.test(readTest(file)));
  expect(starting.filter((file) => !needsOutside(file))).toEqual([]);
  expect(TEST_FILES.filter(needsOutside).length).toBeLessThan(TEST_FILES.length / 3);
});

test('every folder with tests has a counterpart in the source, or is listed in test/README.md', () => {
  const isThere = (path: string) => existsSync(join(ROOT, path));
  expect(MIRRORED_TESTS.map((file) => dirname(sourceOf(file))).filter((folder) => !isThere(folder))).toEqual([]);
  expect(OWN_FOLDERS.filter((folder) => !isThere(folder) || isThere(sourceOf(folder)))).toEqual([]);
});

test('every folder with a long file has tests in its counterpart, as test/README.md says', () => {
  const isFunction = (node: ts.Node) => ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
  const long = FILES.filter((file) => file.text.split('\n').length > 250 && nodesOf(file).some(isFunction));
  const tested = new Set(MIRRORED_TESTS.map((file) => dirname(sourceOf(file))));
  expect(long.map(({ fileName }) => fileName).filter((file) => !tested.has(dirname(file)))).toEqual([]);
  const named = FILES.filter(({ fileName }) => {
    const name = fileName.replace(/\.tsx?$/, '');
    return MIRRORED_TESTS.some((file) => /^(?:\.|-)/.test(sourceOf(file).replace(name, '')));
  });
  expect(named.length).toBeLessThan(FILES.length / 2);
});

test('a test with the name of a source file lies where that file does', () => {
  const sources = FILES.map(({ fileName }) => fileName.replace(/\.tsx?$/, ''));
  const misplaced = MIRRORED_TESTS.filter((file) => {
    const tested = sourceOf(file).replace(/\.test\.ts$/, '');
    return !sources.includes(tested) && sources.some((source) => basename(source) === basename(tested));
  });
  expect(misplaced).toEqual([]);
});

test('nothing that is thrown is swallowed', () => {
  const swallowing = FILES.flatMap((file) => swallowersIn(file).map((code) => `${file.fileName}: ${code}`));
  expect(swallowing).toEqual([]);
});

test.for([
  ['try { a(); } catch {}', 1],
  ['try { a(); } catch (error) { /* never mind */ }', 1],
  ['a().catch(() => {});', 1],
  ['a().then(b, function () {});', 1],
  ['a().finally(() => {});', 0],
  ['try { a(); } catch { b(); }', 0],
  ['a().catch(() => undefined);', 0],
  ['a().catch(report);', 0],
] as const)('in %j, %i places swallow what is thrown', ([code, count], { expect }) => {
  expect(swallowersIn(parseText('src/x.ts', code))).toHaveLength(count);
});

function sourceOf(path: string): string {
  return path.replace(/^test\//, 'src/');
}

/** Every catch clause, and every function for a rejection, that does nothing. */
function swallowersIn(file: ts.SourceFile): string[] {
  const swallowers = nodesOf(file).filter((node) =>
    ts.isCatchClause(node) ? node.block.statements.length === 0 : isEmptyFunction(rejectionHandlerOf(node)),
  );
  return swallowers.map((node) => node.getText(file));
}

/** What a call such as `promise.catch(handler)` or `promise.then(next, handler)` does with a rejection. */
function rejectionHandlerOf(node: ts.Node): ts.Node | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const place = ['catch', 'then'].indexOf(node.expression.name.text);
  return place < 0 ? undefined : node.arguments[place];
}

function isEmptyFunction(node: ts.Node | undefined): boolean {
  if (!node || !(ts.isArrowFunction(node) || ts.isFunctionExpression(node))) return false;
  return ts.isBlock(node.body) && node.body.statements.length === 0;
}

function isIn(path: string, places: readonly string[]): boolean {
  return places.some((place) => path.startsWith(place));
}

function show({ from, to, typesOnly }: Import): string {
  return `${from} imports ${typesOnly ? 'types of ' : ''}${to}`;
}

/** Returns whether a file's code, without its comments, contains a path of the service as a text or in a pattern. */
function namesPath(file: ts.SourceFile): boolean {
  return nodesOf(file).some((node) => {
    if (ts.isRegularExpressionLiteral(node)) return /\bv1\b/.test(node.text);
    return (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && /^\/(v1|health)\b/.test(node.text);
  });
}
