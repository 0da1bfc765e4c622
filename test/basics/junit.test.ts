import { Window } from 'happy-dom';
import { expect, test } from 'vitest';
import { writeJunitReport } from '../../src/basics/junit.ts';

test('a JUnit report has only characters that XML 1.0 can have, each with its meaning', () => {
  const text = 'a\u0000b\u001b[31m <c> & "d" \ud800 é 😀';
  const result = { element: 'failure', type: 'failed', message: text, text } as const;
  const written = writeJunitReport(text, [
    { name: text, cases: [{ className: text, name: text, result, output: text }] },
  ]);
  const document = new new Window().DOMParser().parseFromString(written, 'text/xml');
  expect(written).toMatch(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u);
  const shown = 'a\ufffdb\ufffd[31m <c> & "d" \ufffd é 😀';
  expect(document.querySelector('failure')?.getAttribute('message')).toBe(shown);
  expect(document.querySelector('failure')?.textContent).toBe(shown);
  expect(document.querySelector('system-out')?.textContent).toBe(shown);
  expect(document.querySelector('testcase')?.getAttribute('name')).toBe(shown);
});

test('a JUnit report counts its cases by their results, in each suite and in all', () => {
  const named = (name: string) => ({ className: 'suite', name, timeMs: 1_500 });
  const failed = { ...named('b'), result: { element: 'failure', message: 'It failed.' } } as const;
  const skipped = { ...named('c'), result: { element: 'skipped', message: 'It was left out.' } } as const;
  const broken = { ...named('d'), result: { element: 'error', message: 'It broke.' } } as const;
  const written = writeJunitReport('all', [
    { name: 'one', cases: [named('a'), failed] },
    { name: 'two', cases: [skipped, broken], errorOutput: 'left: 1' },
  ]);
  expect(written).toContain('<testsuites name="all" tests="4" failures="1" errors="1" skipped="1">');
  expect(written).toContain('<testsuite name="one" tests="2" failures="1" errors="0" skipped="0" time="3.000">');
  expect(written).toContain('<testsuite name="two" tests="2" failures="0" errors="1" skipped="1" time="3.000">');
  expect(written).toContain('<testcase classname="suite" name="a" time="1.500"/>');
  expect(written).toContain('<system-err>left: 1</system-err>');
});
