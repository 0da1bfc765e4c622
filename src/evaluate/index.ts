export {
  type EvaluatedAgents,
  type EvaluateOptions,
  type EvaluateResult,
  evaluate,
  type PreparedScenario,
  prepareScenarios,
  type ScenarioInput,
} from './evaluate.ts';
export type {
  AgentReport,
  AgentSource,
  Evaluation,
  FinishedTrialReport,
  Gate,
  ScenarioReport,
  Totals,
  TrialReport,
} from './evaluation.ts';
export type { EvaluatedAgent, EvaluatedTask } from './function-agent.ts';
export { ScenarioError, type ScenarioProblem } from './parse-scenarios.ts';
export type { GitState, Provenance, Shard } from './provenance.ts';
export { IdleError } from './run-evaluation.ts';
export type * from './scenario.ts';
export type { Interval } from './statistics.ts';
export { testScenarios } from './test-scenarios.ts';
