import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { expect, type TestContext, test, vi } from 'vitest';
import { describeEvaluation } from '../../../src/evaluate/describe-evaluation.ts';
import type { Evaluation } from '../../../src/evaluate/index.ts';
import { writeTables } from '../../../src/evaluate/report-text.ts';
import { NEVER, runHere } from '../../support/command.ts';
import { DIST } from '../../support/dist.ts';
import { makeFolder } from '../../support/folder.ts';
import { ROOT } from '../../support/root.ts';

vi.setConfig({ testTimeout: 600_000 });

const EXAMPLE = join(ROOT, 'test/example');
const PAGE = join(ROOT, 'src/evaluate/README.md');
const PYTHON_AGENT = fileURLToPath(new URL('../../evaluate/agents/agent.py', import.meta.url));

/** The only scenario that the example agent fails: its rules know no German. */
const FAILED = 'Answers a mail in another language';

/** Compiles the example agent to JavaScript, which starts faster, and returns the command that starts it. */
async function compileExample(context: TestContext): Promise<readonly string[]> {
  const folder = await makeFolder(context);
  const client = String(pathToFileURL(join(DIST, 'client.js')));
  for (const name of ['agent', 'decide', 'serve-agent', 'start-agent']) {
    const source = await readFile(join(EXAMPLE, `${name}.ts`), 'utf8');
    const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 };
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    const code = outputText.replaceAll(/'(\.\/[\w-]+)\.ts'/g, "'$1.mjs'").replace('agent-mailbox-mock/client', client);
    await writeFile(join(folder, `${name}.mjs`), code);
  }
  const start = join(folder, 'start-agent.mjs');
  return ['node', start];
}

/** Lets an agent run through the scenarios of the package ten times, and expects that it fails only the one in German. */
async function expectVerdicts(context: TestContext, command: readonly string[]): Promise<Evaluation> {
  const folder = join(await makeFolder(context), 'scenarios');
  await runHere(['init', '--scenarios', folder]);
  expect(await readdir(folder)).toHaveLength(24);
  const flags = ['--json', '--repeat', '10', '--concurrency', '8', '--quiet-time', '1s'];
  const { code, out, err } = await runHere(['evaluate', folder, ...flags, '--', ...command], process.env, {
    interrupted: NEVER,
  });
  expect(code, err).toBe(1);
  const report: Evaluation = JSON.parse(out.join('\n'));
  const notPassed = report.scenarios.filter(({ passed }) => passed < 10);
  expect(
    notPassed.map(({ name, failed }) => [name, failed]),
    String(out),
  ).toEqual([[FAILED, 10]]);
  return report;
}

test('the example agent passes 23 of the 24 scenarios in ten of ten trials, as the page shows', async (context) => {
  const report = await expectVerdicts(context, await compileExample(context));
  // How long a trial takes, and how often the agent looks again, differs a little from run to run.
  const withoutTimes = (lines: readonly string[]) =>
    // The width of the column of the times depends on the times.
    lines.map((line) => line.replace(/ +(?:\d+\.\d s|Time) +(?:[\d.]+|Requests)$/, ''));
  const page = await readFile(PAGE, 'utf8');
  const [, shown = ''] = /^( {4}Scenario [\s\S]*?Attack success: .*)$/m.exec(page) ?? [];
  expect(withoutTimes(shown.replace(/^ {4}/gm, '').split('\n'))).toEqual(
    withoutTimes(writeTables(describeEvaluation(report))),
  );
});

test('the same agent in Python, with the standard library alone, has the same verdicts', async (context) => {
  await expectVerdicts(context, ['python3', PYTHON_AGENT]);
});
