import { type AgentSource, type Evaluation, noteRefusedCalls, type ScenarioReport, sumUp } from './evaluation.ts';
import { hashValue } from './provenance.ts';

/** A report and the file in which it is. */
export interface NamedEvaluation {
  readonly file: string;
  readonly evaluation: Evaluation;
}

/** Thrown for reports that are not the shards of one run. The message is one sentence. */
export class MergeError extends Error {
  override readonly name = 'MergeError';
}

/** What must be the same in all shards of one run, and what it is called. */
const SAME: readonly (readonly [what: string, of: (evaluation: Evaluation) => unknown])[] = [
  ['scenarios', ({ provenance }) => provenance.suite],
  ['agents', ({ agents }) => agents.map(({ name }) => name)],
  ['commands', ({ agents, provenance }) => [agents.map(({ command, url }) => [command, url]), provenance.isShared]],
  ['numbers of shards', ({ provenance }) => provenance.shard?.count],
  ['commits', ({ provenance }) => provenance.git],
  ['fixtures', ({ provenance }) => provenance.fixtures],
  ['seeds', ({ seed }) => seed],
  ['values of --repeat, --require or --k', ({ provenance, k }) => [provenance.repeat, provenance.require, k]],
  ['values of --timeout or --quiet-time', ({ provenance }) => [provenance.timeoutMs, provenance.quietMs]],
  ['versions of agent-mailbox-mock', ({ writtenBy }) => writtenBy.version],
];

/**
 * Puts the reports of the shards of one run together, in the order in which one run would have had their scenarios. Names
 * those that are missing in `missingShards`.
 *
 * @throws {MergeError} for a report that is of no shard, for one that is there twice, and for reports of different runs.
 */
export function mergeEvaluations(reports: readonly NamedEvaluation[]): Evaluation {
  const [first] = reports;
  if (!first) throw new MergeError('There is no report.');
  const byShard = new Map<number, NamedEvaluation>();
  for (const report of reports) {
    const { shard } = report.evaluation.provenance;
    if (!shard) throw new MergeError(`The report ${report.file} is of a whole run, not of a shard.`);
    const [different] = SAME.filter(([, of]) => hashValue(of(report.evaluation)) !== hashValue(of(first.evaluation)));
    if (different) {
      throw new MergeError(`The reports ${first.file} and ${report.file} are of different ${different[0]}.`);
    }
    const other = byShard.get(shard.index);
    if (other) {
      throw new MergeError(
        `The reports ${other.file} and ${report.file} are both of the shard ${shard.index}/${shard.count}.`,
      );
    }
    byShard.set(shard.index, report);
  }
  const { provenance, seed } = first.evaluation;
  const agents = first.evaluation.agents.map(({ name, command, url }, index): AgentSource => {
    const stopped = reports.flatMap(({ evaluation }) => evaluation.agents[index]?.stoppedAfter ?? []);
    const stoppedAfter = stopped.length > 0 ? stopped.reduce((sum, each) => sum + each, 0) : null;
    return { name, command, url, stoppedAfter };
  });
  const count = provenance.shard?.count ?? 1;
  const evaluations = [...byShard].sort(([one], [other]) => one - other).map(([, report]) => report.evaluation);
  const missingShards = Array.from({ length: count }, (_, index) => index + 1).filter((index) => !byShard.has(index));
  const scenarios = [...byShard]
    .flatMap(([index, { evaluation }]) => placeScenarios(evaluation.scenarios, index, count))
    .sort((one, other) => one.place - other.place)
    .map(({ scenario }) => scenario);
  return sumUp(scenarios, {
    // Whoever lacks a shard needs to know of how many.
    provenance: { ...provenance, shard: missingShards.length > 0 ? provenance.shard : null },
    seed,
    startedAt: evaluations.reduce((least, { startedAt }) => (startedAt < least ? startedAt : least), '~'),
    realTimeMs: evaluations.reduce((sum, { realTimeMs }) => sum + realTimeMs, 0),
    k: Math.max(...evaluations.map(({ k }) => k)),
    agents,
    missingShards,
    notes: [...new Set(evaluations.flatMap(notesWithoutCalls))],
  });
}

/** Returns the notes of a report, without those about refused calls, which are counted anew. */
function notesWithoutCalls({ notes, scenarios }: Evaluation): string[] {
  const ofCalls = noteRefusedCalls(scenarios);
  return notes.filter((note) => !ofCalls.includes(note));
}

/**
 * Returns the scenarios of a shard with their places in the whole suite. With each agent a scenario has the same place, and
 * so has its twin.
 */
function placeScenarios(scenarios: readonly ScenarioReport[], index: number, count: number) {
  const places = new Map<string, number>();
  for (const { name, twinOf } of scenarios) {
    if (twinOf === null && !places.has(name)) places.set(name, index - 1 + places.size * count);
  }
  return scenarios.map((scenario) => ({ scenario, place: places.get(scenario.twinOf ?? scenario.name) ?? 0 }));
}
