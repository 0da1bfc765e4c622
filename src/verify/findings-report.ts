import { toPrintable } from '../basics/printable.ts';
import { indent, WIDTH } from '../basics/wrap-text.ts';
import { JUNIT_MARK } from '../basics/written-by.ts';
import type { Finding, Verification } from './finding.ts';

const MARKS = { agrees: '✓', differs: '✗', 'not compared': '·' } as const;

/** Returns a finding as lines of at most 80 characters. */
export function findingLines({ id, verdict, stated, found, emulator }: Finding): string[] {
  const head = `${MARKS[verdict]} ${id}`;
  if (verdict === 'agrees') return [`${head}: agrees`.length > WIDTH ? head : `${head}: agrees`];
  if (verdict === 'not compared') return [`${head}: not compared`, ...indent(found, 4)];
  const facts = [`stated: ${stated}`, `found: ${found}`, `emulator: ${emulator}`];
  return [`${head}: differs`, ...facts.flatMap((fact) => indent(fact, 4))];
}

/** Returns why the run ended early, the number of findings of each verdict, and the paths of what could not be deleted. */
export function summaryLines({ findings, left, stopped }: Verification): string[] {
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const total = `${count('agrees')} agree, ${count('differs')} differ, ${count('not compared')} not compared`;
  const end = stopped === undefined ? [] : indent(`The run ended early: ${stopped}.`, 0);
  const paths = left.map((path) => `    ${path}`);
  return [...end, total, ...(left.length > 0 ? [`${NOT_DELETED}:`, ...paths] : [])];
}

const NOT_DELETED = 'What could not be deleted';

const toXml = (text: string) => toPrintable(text).replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Returns what the terminal says as JUnit XML, which CI systems read. A run that ended early is an error. */
export function junitOf({ findings, left, stopped }: Verification): string {
  const cases = findings.map(({ id, verdict, found, emulator }) => {
    const content = {
      agrees: '',
      differs: `<failure message="${toXml(`found ${found}, the emulator: ${emulator}`)}"/>`,
      'not compared': `<skipped message="${toXml(found)}"/>`,
    }[verdict];
    return `  <testcase classname="verify" name="${toXml(id)}">${content}</testcase>`;
  });
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  if (stopped !== undefined) {
    const error = `<error message="${toXml(`The run ended early: ${stopped}.`)}"/>`;
    cases.push(`  <testcase classname="verify" name="the run">${error}</testcase>`);
  }
  if (left.length > 0) cases.push(`  <system-err>${toXml(`${NOT_DELETED}: ${left.join(' ')}`)}</system-err>`);
  const counts = [
    `tests="${findings.length + (stopped === undefined ? 0 : 1)}"`,
    `failures="${count('differs')}"`,
    `errors="${stopped === undefined ? 0 : 1}"`,
    `skipped="${count('not compared')}"`,
  ];
  const head = ['<?xml version="1.0" encoding="UTF-8"?>', JUNIT_MARK, `<testsuite name="verify" ${counts.join(' ')}>`];
  return [...head, ...cases, '</testsuite>', ''].join('\n');
}
