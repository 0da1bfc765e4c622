import { maskText } from '../../../contract/mask.ts';
import { indent, WIDTH } from '../../layout.ts';
import type { Finding, Verification } from './finding.ts';

const MARKS = { agrees: '✓', differs: '✗', 'not compared': '·' } as const;

/** Returns a finding as lines of at most 80 characters. */
export function findingLines({ id, verdict, stated, found, emulator }: Finding): string[] {
  const head = `${MARKS[verdict]} ${id}`;
  if (verdict === 'agrees') return [`${head}: agrees`.length > WIDTH ? head : `${head}: agrees`];
  if (verdict === 'not compared') return [`${head}: not compared`, ...indent(maskText(found), 4)];
  const facts = [`stated: ${stated}`, `found: ${maskText(found)}`, `emulator: ${emulator}`];
  return [`${head}: differs`, ...facts.flatMap((fact) => indent(fact, 4))];
}

/** Returns the number of findings of each verdict in one line, and what could not be deleted in a second line. */
export function summaryLines({ findings, left, stopped }: Verification): string[] {
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const total = `${count('agrees')} agree, ${count('differs')} differ, ${count('not compared')} not compared`;
  const end = stopped === undefined ? [] : indent(`The run ended early: ${stopped}.`, 0);
  return [...end, total, ...(left.length > 0 ? [`What could not be deleted: ${left.join(', ')}`] : [])];
}

const toXml = (text: string) => maskText(text).replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Returns the findings as JUnit XML, which CI systems read. */
export function junitOf({ findings }: Verification): string {
  const cases = findings.map(({ id, verdict, found, emulator }) => {
    const content = {
      agrees: '',
      differs: `<failure message="${toXml(`found ${found}, the emulator: ${emulator}`)}"/>`,
      'not compared': `<skipped message="${toXml(found)}"/>`,
    }[verdict];
    return `  <testcase classname="verify" name="${toXml(id)}">${content}</testcase>`;
  });
  const count = (verdict: Finding['verdict']) => findings.filter((finding) => finding.verdict === verdict).length;
  const counts = `tests="${findings.length}" failures="${count('differs')}" skipped="${count('not compared')}"`;
  const head = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuite name="verify" ${counts}>`];
  return [...head, ...cases, '</testsuite>', ''].join('\n');
}
