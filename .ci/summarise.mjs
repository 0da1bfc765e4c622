// Prints the tests that failed, and as its last line `N passed, N failed`.
// Arguments: the report of the test runner, and the exit status of the whole run.
import { existsSync, readFileSync } from 'node:fs';

/** How much of each failure is printed, in characters. */
const MAX_LENGTH = 2000;

const [path, status] = process.argv.slice(2);
const report = existsSync(path) ? readReport(readFileSync(path, 'utf8')) : {};
const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = report;

/** Returns whether a file could not be loaded. It then has no tests. */
const isUnloaded = (file) => file.status === 'failed' && file.assertionResults.length === 0;

const lines = testResults.flatMap((file) => {
  const { name, message, assertionResults } = file;
  if (isUnloaded(file)) return [[name, message]];
  const failed = assertionResults.filter((test) => test.status === 'failed');
  return failed.map(({ fullName, failureMessages }) => [name, fullName, failureMessages.join('\n')]);
});
for (const parts of lines) {
  const text = parts.join('\n    ').replaceAll(`${process.cwd()}/`, '');
  process.stdout.write(`failed: ${text.slice(0, MAX_LENGTH)}\n`);
}

// A failure that the report does not know of, such as a type error, counts as one.
const isGood = status === '0' && numPassedTests > 0;
const failed = numFailedTests + testResults.filter(isUnloaded).length || (isGood ? 0 : 1);
process.stdout.write(`${numPassedTests} passed, ${failed} failed\n`);
if (failed > 0) process.exitCode = Number(status) || 1;

/** Returns the report; an empty one if the run ended before it was complete. */
function readReport(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
