import { expect, test } from 'vitest';
import { actionOf, describeCall, isRefused, resultOf } from '../../../../src/control/journal/from-entries/call-of.ts';
import type { ProtocolPart } from '../../../../src/service/journal/entry-data.ts';

const CALLS: readonly (readonly [call: ProtocolPart, action: string, result: string | number, isRefused: boolean])[] = [
  [{ protocol: 'http', method: 'GET', status: 200 }, 'GET', 200, false],
  [{ protocol: 'http', method: 'GET', status: 302 }, 'GET', 302, false],
  [{ protocol: 'http', method: 'POST', status: 400 }, 'POST', 400, true],
  [{ protocol: 'http', method: 'POST', status: 503 }, 'POST', 503, true],
  [{ protocol: 'http', method: 'POST', status: 0 }, 'POST', 'no reply', false],
  [{ protocol: 'imap', command: 'UID FETCH', result: 'OK' }, 'UID FETCH', 'OK', false],
  [{ protocol: 'imap', command: 'UID FETCH', result: 'NO' }, 'UID FETCH', 'NO', true],
  [{ protocol: 'imap', command: 'UID FETCH', result: 'BAD' }, 'UID FETCH', 'BAD', true],
  [{ protocol: 'smtp', command: 'DATA', result: 250 }, 'DATA', 250, false],
  [{ protocol: 'smtp', command: 'DATA', result: 354 }, 'DATA', 354, false],
  [{ protocol: 'smtp', command: 'DATA', result: 452 }, 'DATA', 452, true],
  [{ protocol: 'smtp', command: 'DATA', result: 554 }, 'DATA', 554, true],
];

test.each(CALLS)('%j is %s, ended with %s, and is refused: %s', (call, action, result, refused) => {
  expect([actionOf(call), resultOf(call), isRefused(call)]).toEqual([action, result, refused]);
  expect(describeCall({ ...call, path: 'x' })).toBe(`${action} x → ${result}`);
});
