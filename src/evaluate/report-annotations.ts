import { toPrintable } from '../basics/printable.ts';
import { describeEvaluation, groupByTitle } from './describe-evaluation.ts';
import { type Evaluation, withAgent } from './evaluation.ts';

/** How many annotations GitHub shows of one step. */
const MAX_ANNOTATIONS = 10;

/**
 * Writes the scenarios that have not reached what is required as annotations of GitHub Actions, with the file and the line
 * of each: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands. `toPath` returns the path of
 * a file in the repository.
 */
export function writeAnnotations(evaluation: Evaluation, toPath: (file: string) => string): string[] {
  // A scenario that several agents have not reached has one place.
  const unmet = groupByTitle(describeEvaluation(evaluation).scenarios).flatMap(([title, own]) => {
    const lines = own
      .filter(({ isGateMet }) => !isGateMet)
      .flatMap(({ agent, gate, trials }) => {
        const why = trials.find(({ outcome }) => outcome !== 'passed')?.summary ?? '';
        return [`${withAgent(agent, gate)}.`, ...(why === '' ? [] : [why])];
      });
    if (lines.length === 0) return [];
    const { file = null, firstLine = null } = own[0] ?? {};
    const place = file === null ? {} : { file: toPath(file), line: String(firstLine ?? 1) };
    return [writeCommand({ ...place, title }, lines.join('\n'))];
  });
  if (unmet.length <= MAX_ANNOTATIONS) return unmet;
  const shown = unmet.slice(0, MAX_ANNOTATIONS - 1);
  return [
    ...shown,
    writeCommand(
      { title: 'Evaluation' },
      `${unmet.length - shown.length} more scenarios have not reached what is required.`,
    ),
  ];
}

function writeCommand(properties: Readonly<Record<string, string>>, message: string): string {
  const written = Object.entries(properties).map(([name, value]) => `${name}=${escapeProperty(toPrintable(value))}`);
  return `::error ${written.join(',')}::${escapeData(message.split('\n').map(toPrintable).join('\n'))}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
