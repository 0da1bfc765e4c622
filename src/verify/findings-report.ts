import { type JunitCase, writeJunitReport } from '../basics/junit.ts';
import { plural } from '../basics/text.ts';
import { indent, WIDTH } from '../basics/wrap-text.ts';
import { BEHAVIOURS, type BehaviourDefinition, type BehaviourId } from '../contract/behaviours.ts';
import type { Finding, Verification } from './finding.ts';

const MARKS = { agrees: '✓', differs: '✗', 'not compared': '·' } as const;

/** Returns a finding as lines of at most 80 characters. */
export function findingLines(finding: Finding): string[] {
  const { id, verdict } = finding;
  const head = `${MARKS[verdict]} ${id}`;
  if (verdict === 'agrees') return [`${head}: agrees`.length > WIDTH ? head : `${head}: agrees`];
  if (verdict === 'not compared') {
    return [`${head}: not compared`, ...reasonsOf(finding).flatMap((reason) => indent(reason, 4))];
  }
  return [`${head}: differs`, ...factsOf(finding).flatMap((fact) => indent(fact, 4))];
}

/** Why nothing was compared, and which flag would make a run compare it. */
function reasonsOf({ found, observableWith }: Finding): string[] {
  return observableWith === undefined ? [found] : [found, `to compare it: ${observableWith}`];
}

/** What differs, in sentences: what is stated and by whom, what was found, and how to have an emulator do the same. */
function factsOf({ id, stated, origin, found, emulator, accepts }: Finding): string[] {
  const sources = {
    document: 'the service document says so, so this is a defect of the server',
    reference: 'the public reference says so',
    'open choice': 'no document says so, so the server may choose',
  };
  const facts = [
    `stated: ${stated}`,
    `origin: ${sources[origin]}`,
    `found: ${describeValue(id, found)}`,
    `emulator: ${describeValue(id, emulator)}`,
  ];
  if (accepts !== undefined) facts.push(`the emulator does the same with --behaviour ${accepts}`);
  return facts;
}

/** A value of a behaviour with what it means; another text as it is. */
function describeValue(id: string, value: string): string {
  const definition: BehaviourDefinition | undefined = BEHAVIOURS[id as BehaviourId];
  const meaning = definition && 'choices' in definition ? definition.choices[value] : undefined;
  return meaning === undefined ? value : `${meaning} (${value})`;
}

/** Returns why the run ended early, the number of findings of each verdict, and the paths of what could not be deleted. */
export function summaryLines({ findings, left, stopped, closedConnections = 0 }: Verification): string[] {
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const total = `${count('agrees')} agree, ${count('differs')} differ, ${count('not compared')} not compared`;
  const end = stopped === undefined ? [] : indent(`The run ended early: ${stopped}.`, 0);
  const closed =
    closedConnections === 0 ? [] : [`${plural(closedConnections, 'connection')} closed before a reply; sent again`];
  const paths = left.map((path) => `    ${path}`);
  return [...end, ...closed, total, ...(left.length > 0 ? [`${NOT_DELETED}:`, ...paths] : [])];
}

const NOT_DELETED = 'What could not be deleted';

/** Returns what the terminal says as JUnit XML, which CI systems read. A run that ended early is an error. */
export function junitOf({ findings, left, stopped }: Verification): string {
  const cases = findings.map((finding): JunitCase => {
    const facts = factsOf(finding).join('; ');
    const results = {
      agrees: undefined,
      differs: { element: 'failure', message: facts },
      'not compared': { element: 'skipped', message: reasonsOf(finding).join('; ') },
    } as const;
    return { className: 'verify', name: finding.id, result: results[finding.verdict] };
  });
  if (stopped !== undefined) {
    const result = { element: 'error', message: `The run ended early: ${stopped}.` } as const;
    cases.push({ className: 'verify', name: 'the run', result });
  }
  const errorOutput = left.length > 0 ? `${NOT_DELETED}: ${left.join(' ')}` : undefined;
  return writeJunitReport('verify', [{ name: 'verify', cases, errorOutput }]);
}
