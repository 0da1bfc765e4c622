import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { explainMswError, explainOldMsw, OLDEST_MSW } from '../../src/mailbox/explain-msw-error.ts';

const error = new TypeError('path.endsWith is not a function');

test.for(['2.7.6', '2.12.14', '1.3.5'])('msw %s is too old, and the error says so', (version) => {
  const explained = explainOldMsw(error, version);
  expect(explained?.message).toBe(
    `The handlers of a mailbox need msw 2.13.0 or newer, and msw ${version} is installed; ` +
      'install a newer one with npm install --save-dev msw@2.',
  );
  expect(explained?.cause).toBe(error);
});

test.for([OLDEST_MSW, '2.15.0', '3.0.0', undefined])('an error of msw %s has another reason', (version) => {
  expect(explainOldMsw(error, version)).toBeUndefined();
});

test('the oldest msw is that of the peer dependency', () => {
  expect(packageJson.peerDependencies.msw).toMatch(new RegExp(`^>=${OLDEST_MSW.replaceAll('.', '\\.')} `));
});

test('what else cannot be loaded is explained for Jest', () => {
  expect(explainMswError(new Error('Must use import to load ES Module')).message).toContain('Jest');
});
