import { expect, test } from 'vitest';
import { parseState } from '../../../src/server/state-file.ts';

const LONG = Buffer.alloc(3_000, 'abc').toString('base64');
const parse = (value: unknown) => parseState(Buffer.from(JSON.stringify(value)));

test('the bytes of mail are read as bytes, and everything else as it is', () => {
  const stateOf = (raw: unknown, content: unknown) => ({
    tenants: {
      a: {
        rows: {
          messages: [{ raw }, { raw: null }, { raw: 'YWJj' }],
          attachments: [{ content }, null],
          inboxes: [{ metadata: { text: `\\"raw":"${LONG}"` } }],
        },
      },
      b: null,
    },
  });
  const bytes = new Uint8Array(Buffer.from(LONG, 'base64'));
  expect(parse(stateOf(LONG, LONG))).toEqual(stateOf(bytes, bytes));
});

test.each([
  { tenants: { a: { rows: { inboxes: [{ metadata: { raw: LONG } }], messages: [{ raw: LONG }] } } } },
  { tenants: { a: { rows: { messages: [{ raw: `${LONG}é` }], attachments: [{ content: `=${LONG}` }] } } } },
  { tenants: { a: { rows: { messages: { raw: [LONG] }, attachments: 7 } } } },
  { tenants: 7, raw: LONG },
  null,
])('a state whose long texts are not those of mail is read as it is (%#)', (state) => {
  expect(parse(state)).toEqual(state);
});
