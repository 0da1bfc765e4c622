import { test } from 'vitest';
import { decodeHeader } from '../../../../src/inspector/views/mail/decode-header.ts';

test.for([
  ['Order 1042', 'Order 1042'],
  ['=?UTF-8?B?R3LDvMOfZQ==?= <a@b.test>', 'Grüße <a@b.test>'],
  ['=?iso-8859-1?q?Gr=FC=DFe_an_alle?=', 'Grüße an alle'],
  ['=?utf-8?B?R3LD?= \t =?UTF-8?B?vMOfZQ==?=', 'Grüße'],
  ['a =?utf-8?q?b?= c =?utf-8?q?d?=', 'a b c d'],
  ['=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=', '日本'],
  ['=?utf-8*en?q?hello?=', 'hello'],
  ['=?nowhere?q?hello?=', '=?nowhere?q?hello?='],
  ['=?utf-8?b?%%%?= x', '=?utf-8?b?%%%?= x'],
  ['=?utf-8?x?hello?=', '=?utf-8?x?hello?='],
] as const)('the value %j of a header field is shown as %j', ([value, shown], { expect }) => {
  expect(decodeHeader(value)).toBe(shown);
});
