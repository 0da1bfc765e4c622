import { toPrintable } from '../basics/printable.ts';
import { describeEvaluation } from './describe-evaluation.ts';
import type { Evaluation } from './evaluation.ts';

/** How many annotations GitHub shows of one step. */
const MAX_ANNOTATIONS = 10;

/**
 * Writes the scenarios that have not reached what is required as annotations of GitHub Actions, with the file and the line
 * of each: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands. `toPath` returns the path of
 * a file in the repository.
 */
export function writeAnnotations(evaluation: Evaluation, toPath: (file: string) => string): string[] {
  const described = describeEvaluation(evaluation).scenarios;
  const unmet = evaluation.scenarios.flatMap(({ name, file, line }, index) => {
    const scenario = described[index];
    if (!scenario || scenario.isGateMet) return [];
    const why = scenario.trials.find(({ outcome }) => outcome !== 'passed')?.summary ?? '';
    const place = file === null ? {} : { file: toPath(file), line: String(line ?? 1) };
    return [writeCommand({ ...place, title: name }, `${scenario.gate}.${why === '' ? '' : `\n${why}`}`)];
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
