import { escapeXml } from './markup.ts';
import { JUNIT_MARK } from './written-by.ts';

/** A test case of a JUnit report. */
export interface JunitCase {
  readonly className: string;
  readonly name: string;
  /** The file of the test. */
  readonly file?: string | undefined;
  /** How long it took, in milliseconds; undefined if it was not measured. */
  readonly timeMs?: number | undefined;
  /** Why it is not one that passed. */
  readonly result?:
    | {
        readonly element: 'failure' | 'error' | 'skipped';
        readonly type?: string;
        readonly message: string;
        readonly text?: string;
      }
    | undefined;
  /** What was printed; none if it is empty. */
  readonly output?: string | undefined;
}

/** A suite of a JUnit report. */
export interface JunitSuite {
  readonly name: string;
  readonly properties?: readonly (readonly [name: string, value: string])[];
  readonly cases: readonly JunitCase[];
  /** What was printed to the standard error. */
  readonly errorOutput?: string | undefined;
}

/** Writes a JUnit report in XML, which CI systems read. `timeMs` is how long the whole took, if it is known. */
export function writeJunitReport(name: string, suites: readonly JunitSuite[], timeMs?: number): string {
  const all = suites.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    JUNIT_MARK,
    `<testsuites${attributesOf({ name, ...countsOf(all), time: timeMs })}>`,
    ...suites.flatMap(writeSuite),
    '</testsuites>',
    '',
  ].join('\n');
}

function writeSuite({ name, properties = [], cases, errorOutput }: JunitSuite): string[] {
  const isTimed = cases.some(({ timeMs }) => timeMs !== undefined);
  const time = isTimed ? cases.reduce((sum, { timeMs = 0 }) => sum + timeMs, 0) : undefined;
  const lines = [`  <testsuite${attributesOf({ name, ...countsOf(cases), time })}>`];
  if (properties.length > 0) {
    lines.push('    <properties>');
    for (const [key, value] of properties) lines.push(`      <property${attributesOf({ name: key, value })}/>`);
    lines.push('    </properties>');
  }
  lines.push(...cases.flatMap(writeCase));
  if (errorOutput !== undefined) lines.push(`    <system-err>${escapeXml(errorOutput)}</system-err>`);
  return [...lines, '  </testsuite>'];
}

function writeCase({ className, name, file, timeMs, result, output = '' }: JunitCase): string[] {
  const start = `    <testcase${attributesOf({ classname: className, name, file, time: timeMs })}`;
  const lines: string[] = [];
  if (result) {
    const { element, type, message, text } = result;
    const head = `      <${element}${attributesOf({ type, message })}`;
    lines.push(text === undefined ? `${head}/>` : `${head}>${escapeXml(text)}</${element}>`);
  }
  if (output !== '') lines.push(`      <system-out>${escapeXml(output)}</system-out>`);
  return lines.length === 0 ? [`${start}/>`] : [`${start}>`, ...lines, '    </testcase>'];
}

function countsOf(cases: readonly JunitCase[]) {
  const count = (element: string) => cases.filter(({ result }) => result?.element === element).length;
  return { tests: cases.length, failures: count('failure'), errors: count('error'), skipped: count('skipped') };
}

/** Writes attributes, without those that have no value. A time is in milliseconds, and JUnit has seconds. */
function attributesOf(attributes: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${key === 'time' ? (Number(value) / 1000).toFixed(3) : escapeXml(String(value))}"`)
    .join('');
}
