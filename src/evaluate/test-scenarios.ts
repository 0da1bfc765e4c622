import { type EvaluatedAgents, type EvaluateOptions, prepareScenarios, type ScenarioInput } from './evaluate.ts';

/** How long the test of a scenario may take besides its trials, in milliseconds. */
const EXTRA_MS = 30_000;

/**
 * Defines a test of vitest for each scenario, which fails unless every trial of the scenario and of its twin passes or,
 * with `require`, unless so large a share of the trials of each passes. Await it at the top of the test file.
 *
 * @throws {ScenarioError} for a mistake in a scenario, with its path and line; {@link TypeError} for an invalid option.
 * @example
 * await testScenarios(agent, 'scenarios/', { repeat: 3 });
 */
export async function testScenarios(
  agent: EvaluatedAgents,
  scenarios: ScenarioInput,
  options: EvaluateOptions = {},
): Promise<void> {
  // Everything else here works in projects without vitest.
  const { test } = await import('vitest');
  const { repeat = 1, timeoutMs = 60_000 } = options;
  const agents = typeof agent === 'function' ? 1 : Object.keys(agent).length;
  const longestMs = 2 * agents * repeat * timeoutMs + EXTRA_MS;
  for (const { name, run } of await prepareScenarios(agent, scenarios, options)) {
    test(name, { timeout: longestMs }, async () => {
      const result = await run();
      if (!result.isGateMet) throw new Error(String(result));
    });
  }
}
