export {
  type EvaluateOptions,
  type EvaluateResult,
  evaluate,
  type PreparedScenario,
  prepareScenarios,
  type ScenarioInput,
} from './evaluate.ts';
export type { Evaluation, FinishedTrialReport, Gate, ScenarioReport, TrialReport } from './evaluation.ts';
export type { EvaluatedAgent, EvaluatedTask } from './function-agent.ts';
export { ScenarioError, type ScenarioProblem } from './parse-scenarios.ts';
export type { GitState, Provenance, Shard } from './provenance.ts';
export { IdleError } from './run-evaluation.ts';
export type * from './scenario.ts';
export type { Interval } from './statistics.ts';
export { testScenarios } from './test-scenarios.ts';
