import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/root.ts';
import { checkCommand } from './check-command.ts';
import { type Check, ENVIRONMENTS, type Environment, RUNTIMES } from './environments.ts';
import { installProject, installRuntimes, type ProjectName } from './projects.ts';
import { runToEnd } from './run-to-end.ts';
import { writeStory } from './write-story.ts';

/** How many programs run at once: more than two processors, because a failing test of the example waits for seconds. */
const WORKERS = 3;

const COLUMNS: readonly (readonly [title: string, width: number])[] = [
  ['environment', 46],
  ['runtime', 14],
  ['result', 8],
  ['seconds', 8],
  ['checked', 0],
];

/** A row of the table. */
interface Result {
  readonly environment: string;
  readonly runtime: string;
  readonly result: 'ok' | 'failed' | 'skipped';
  readonly seconds: number;
  readonly checked: readonly Check[];
  /** Why it failed or was skipped, or what does not work there. */
  readonly note: string;
}

/** A folder into which packages were installed, and why that failed, if it did. */
interface Installed {
  readonly folder: string;
  readonly problem: string | undefined;
}

/** The folders by the names of the projects, and that of the runtimes. */
type Folders = Readonly<Record<ProjectName | 'runtimes', Installed>>;

const folder = await mkdtemp(join(tmpdir(), 'agent-mailbox-mock-compat-'));
try {
  const environments = ENVIRONMENTS.filter(isWanted);
  const folders = await installAll(environments);
  print(COLUMNS.map(([title]) => title));
  report(await runAll(folders, environments));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** `npm run test:all -- compat jest` runs the environments whose name has one of these words. */
function isWanted({ name }: Environment): boolean {
  const words = process.argv.slice(2);
  return words.length === 0 || words.some((word) => name.toLowerCase().includes(word.toLowerCase()));
}

/** Installs the runtimes, and the projects of the environments. */
async function installAll(environments: readonly Environment[]): Promise<Folders> {
  const packing = ['npm', 'pack', '--silent', '--pack-destination', folder];
  const { code, output } = await runToEnd(packing, { cwd: ROOT, timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`The package could not be packed.\n${output}`);
  const tarball = join(folder, output.trim().split('\n').at(-1) ?? '');
  const names = new Set(environments.map(({ project }) => project));
  const entries = [...names, 'runtimes' as const].map(async (name) => {
    const path = join(folder, name);
    const installing = name === 'runtimes' ? installRuntimes(path) : installProject(path, name, tarball);
    const problem = await installing.then(
      () => undefined,
      (error: Error) => `npm could not install it: ${error.message.trim()}`,
    );
    return [name, { folder: path, problem }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function runAll(folders: Folders, environments: readonly Environment[]): Promise<readonly Result[]> {
  const waiting = [...environments];
  const results: Result[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const result = await runOne(folders, next);
      results.push(result);
      const { environment, runtime, checked, note } = result;
      const last = result.result === 'ok' ? [checked.join(', ') || 'types', note].filter(Boolean).join('; ') : '';
      print([environment, runtime, result.result, result.seconds.toFixed(1), last]);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return results;
}

async function runOne(folders: Folders, environment: Environment): Promise<Result> {
  const { name, checks: checked, note = '' } = environment;
  const [project, runtimes] = [folders[environment.project], folders.runtimes];
  const start = performance.now();
  const finish = (result: Result['result'], runtime: string, why: string): Result => {
    return { environment: name, runtime, result, seconds: (performance.now() - start) / 1000, checked, note: why };
  };
  const missing = project.problem ?? runtimes.problem;
  if (missing !== undefined) return finish('skipped', '', missing);
  const [program, ...flags] = RUNTIMES[environment.runtime];
  const runtime = [join(runtimes.folder, 'node_modules', program), ...flags];
  const version = await readVersion(runtime);
  if (version === undefined) return finish('skipped', '', `npm has not installed ${environment.runtime} here.`);
  const { needs } = environment;
  if (needs && !(await doesRun(needs))) return finish('skipped', version, `"${needs.join(' ')}" does not run here.`);
  const problem = await findProblem(environment, project.folder, runtime);
  return problem === undefined ? finish('ok', version, note) : finish('failed', version, problem);
}

/** Returns the version of a runtime; `undefined` if it does not run. */
async function readVersion([program = '']: readonly string[]): Promise<string | undefined> {
  const ended = runToEnd([program, '--version'], { cwd: folder, timeoutMs: 10_000 });
  const { code, output } = await ended.catch(() => ({ code: 1, output: '' }));
  return code === 0 ? /\d+\.\d+\.\d+/.exec(output)?.[0] : undefined;
}

async function doesRun(command: readonly string[]): Promise<boolean> {
  const ended = runToEnd(command, { cwd: folder, timeoutMs: 30_000 });
  return (await ended.catch(() => ({ code: 1 }))).code === 0;
}

/** Runs the story, then the command; returns the output of what fails, `undefined` if all is well. */
async function findProblem(
  environment: Environment,
  project: string,
  runtime: readonly string[],
): Promise<string | undefined> {
  const cwd = join(project, environment.name.toLowerCase().replaceAll(/[^a-z\d]+/g, '-'));
  await mkdir(cwd);
  const story = writeStory(await readFile(join(ROOT, 'test/compat/story.ts'), 'utf8'), environment);
  const files = { ...environment.files, [environment.story]: story };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const { code, output } = await runToEnd([...runtime, ...environment.args], { cwd, timeoutMs: 120_000 });
  if (code !== 0) return output;
  return environment.checks.includes('command') ? checkCommand(runtime, project) : undefined;
}

function report(results: readonly Result[]): void {
  const isBad = ({ result }: Result) => result === 'failed' || (result === 'skipped' && Boolean(process.env.CI));
  for (const { environment, result, note } of results) {
    if (result !== 'ok') process.stdout.write(`\n── ${environment}: ${result}\n${note}\n`);
  }
  process.stdout.write(
    `${JSON.stringify(results.map(({ note, ...row }) => ({ ...row, note: note.split('\n')[0] })))}\n`,
  );
  process.exitCode = results.some(isBad) ? 1 : 0;
}

function print(cells: readonly string[]): void {
  const padded = cells.map((cell, index) => cell.padEnd(COLUMNS[index]?.[1] ?? 0));
  process.stdout.write(`${padded.join('  ').trimEnd()}\n`);
}
