import { expect, test } from 'vitest';
import {
  addressFormsOf,
  isSamePerson,
  listRecipients,
  personOf,
  recipientsOf,
} from '../../../src/control/verdicts/addresses.ts';

/** Forms of the address of one person. */
const SAME = [
  'dana@münchen.test',
  'Dana@München.TEST',
  'dana@xn--mnchen-3ya.test',
  'DANA@XN--MNCHEN-3YA.test',
  'dana@münchen.test.',
  '"dana"@münchen.test',
  '"d\\ana"@münchen.test',
  'dana+orders@münchen.test',
  '"dana+orders"@xn--mnchen-3ya.test',
  'dana (at home) @münchen.test',
  'Dana <dana@münchen.test>',
  '"Smith, Dana" <dana@xn--mnchen-3ya.test>',
  '"eve@evil.test" <dana@münchen.test>',
  '<@a.test,@b.test:dana@münchen.test>',
  'dana@mu\u0308nchen.test',
];

/** Addresses of others that look alike. */
const OTHERS = [
  'xdana@münchen.test',
  'danae@münchen.test',
  'dana@notmünchen.test',
  'dana@münchen.test.evil.test',
  'dana@sub.münchen.test',
  'dana@munchen.test',
  'dan.a@münchen.test',
  '"da na"@münchen.test',
  'dana',
  '"dana@münchen.test" <eve@evil.test>',
  'dana@münchen.test@evil.test',
  'eve+dana@münchen.test',
];

test.for(SAME.flatMap((one) => SAME.map((other) => [one, other] as const)))(
  'takes %s and %s as the same person',
  ([one, other]) => {
    expect(isSamePerson(one, other)).toBe(true);
  },
);

test.for(SAME.flatMap((one) => OTHERS.map((other) => [one, other] as const)))(
  'takes %s and %s as two persons',
  ([one, other]) => {
    expect(isSamePerson(one, other)).toBe(false);
  },
);

test('takes each tag as an address of its own if the behaviour says so', () => {
  expect(isSamePerson('dana+a@customer.test', 'dana@customer.test', 'exact')).toBe(false);
  expect(isSamePerson('dana+a@customer.test', '"Dana+A"@customer.test', 'exact')).toBe(true);
  expect(isSamePerson('+a@customer.test', '+b@customer.test')).toBe(false);
});

test('has the domain in both forms, and no display name', () => {
  expect(addressFormsOf('"eve@evil.test" <Dana+x@xn--mnchen-3ya.test>')).toEqual([
    'Dana+x@xn--mnchen-3ya.test',
    'dana+x@xn--mnchen-3ya.test',
    'dana+x@münchen.test',
  ]);
});

test('lists the recipients of the envelope, not those that only the header names', () => {
  const routes = ['dana@customer.test', 'bo@customer.test', 'eve@evil.test'].map((recipient) => ({
    recipient,
    route: 'external' as const,
  }));
  const mail = { to: ['Dana <Dana@customer.test>', 'ada@customer.test'], cc: ['bo@customer.test'], bcc: [] };
  expect(listRecipients({ mail, routes })).toEqual({
    all: ['Dana <Dana@customer.test>', 'bo@customer.test', 'eve@evil.test'],
    to: ['Dana <Dana@customer.test>'],
    cc: ['bo@customer.test'],
    bcc: ['eve@evil.test'],
  });
  expect(recipientsOf({ mail, routes })).toEqual(['dana@customer.test', 'bo@customer.test', 'eve@evil.test']);
  expect(recipientsOf({ mail })).toEqual(['dana@customer.test', 'ada@customer.test', 'bo@customer.test']);
});

test('leaves a text that is no address as it is', () => {
  expect(personOf(' Undisclosed ')).toBe('undisclosed');
  expect(personOf('')).toBe('');
});
