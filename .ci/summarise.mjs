// Prints the tests that failed, and as its last line `N passed, N failed`: of every report of a run together.
// Arguments: the folder with the reports of the test runner, and the exit status of the whole run.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** How much of each failure is printed, in characters. */
const MAX_LENGTH = 2000;

const [folder, status] = process.argv.slice(2);
let passed = 0;
let failed = 0;
for (const name of readdirSync(folder).sort()) {
  const { numPassedTests = 0, numFailedTests = 0, testResults = [] } = readReport(join(folder, name));
  passed += numPassedTests;
  failed += numFailedTests;
  for (const file of testResults) {
    const { assertionResults } = file;
    // A file that could not be loaded has no tests.
    const isUnloaded = file.status === 'failed' && assertionResults.length === 0;
    if (isUnloaded) {
      failed += 1;
      printFailure(name, [file.name, file.message]);
    }
    for (const test of assertionResults.filter((each) => each.status === 'failed')) {
      printFailure(name, [file.name, test.fullName, test.failureMessages.join('\n')]);
    }
  }
}

// A failure that no report knows of, such as a type error, counts as one.
const isGood = status === '0' && passed > 0;
if (failed === 0 && !isGood) failed = 1;
process.stdout.write(`${passed} passed, ${failed} failed\n`);
if (failed > 0) process.exitCode = Number(status) || 1;

/** Prints the parts of a failure: its file, its test, and why it failed. The name of the report says which run it was. */
function printFailure(reportName, parts) {
  const text = parts.join('\n    ').replaceAll(`${process.cwd()}/`, '');
  process.stdout.write(`failed (${reportName.replace('.json', '')}): ${text.slice(0, MAX_LENGTH)}\n`);
}

/** Returns a report; an empty one if the run ended before it was complete. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}
