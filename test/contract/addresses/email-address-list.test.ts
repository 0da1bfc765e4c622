import { describe, expect, test } from 'vitest';
import { parseAddress, toAddressText } from '../../../src/contract/addresses/email-address.ts';
import { flattenAddresses, readAddressList } from '../../../src/contract/addresses/email-address-list.ts';
import { writeEnvelope } from '../../../src/service/imap/structure.ts';
import { readFetch, type Value } from '../../support/imap-talk.ts';

/** Addresses as `address|name`, and a group as its name with its members. */
type Expected = string | { readonly [group: string]: readonly string[] };

const crlf = (...lines: string[]) => lines.join('\r\n');

/** The address fields of RFC 5322, appendix A, by their sections. */
const APPENDIX_A: Readonly<Record<string, readonly [field: string, expected: readonly Expected[]][]>> = {
  'A.1.1': [
    ['John Doe <jdoe@machine.example>', ['jdoe@machine.example|John Doe']],
    ['Michael Jones <mjones@machine.example>', ['mjones@machine.example|Michael Jones']],
    ['Mary Smith <mary@example.net>', ['mary@example.net|Mary Smith']],
  ],
  'A.1.2': [
    ['"Joe Q. Public" <john.q.public@example.com>', ['john.q.public@example.com|Joe Q. Public']],
    [
      'Mary Smith <mary@x.test>, jdoe@example.org, Who? <one@y.test>',
      ['mary@x.test|Mary Smith', 'jdoe@example.org|', 'one@y.test|Who?'],
    ],
    [
      '<boss@nil.test>, "Giant; \\"Big\\" Box" <sysservices@example.net>',
      ['boss@nil.test|', 'sysservices@example.net|Giant; "Big" Box'],
    ],
  ],
  'A.1.3': [
    ['Pete <pete@silly.example>', ['pete@silly.example|Pete']],
    [
      'A Group:Ed Jones <c@a.test>,joe@where.test,John <jdoe@one.test>;',
      [{ 'A Group': ['c@a.test|Ed Jones', 'joe@where.test|', 'jdoe@one.test|John'] }],
    ],
    ['Undisclosed recipients:;', [{ 'Undisclosed recipients': [] }]],
  ],
  'A.2': [
    ['Mary Smith <mary@example.net>', ['mary@example.net|Mary Smith']],
    ['"Mary Smith: Personal Account" <smith@home.example>', ['smith@home.example|Mary Smith: Personal Account']],
    ['John Doe <jdoe@machine.example>', ['jdoe@machine.example|John Doe']],
  ],
  'A.3': [
    ['Mary Smith <mary@example.net>', ['mary@example.net|Mary Smith']],
    ['Jane Brown <j-brown@other.example>', ['j-brown@other.example|Jane Brown']],
  ],
  'A.4': [
    ['John Doe <jdoe@machine.example>', ['jdoe@machine.example|John Doe']],
    ['Mary Smith <mary@example.net>', ['mary@example.net|Mary Smith']],
  ],
  'A.5': [
    ['Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>', ['pete@silly.test|Pete']],
    [
      crlf(
        'A Group(Some people)',
        "     :Chris Jones <c@(Chris's host.)public.example>,",
        '         joe@example.org,',
        '  John <jdoe@one.test> (my dear friend); (the end of the group)',
      ),
      [{ 'A Group': ['c@public.example|Chris Jones', 'joe@example.org|', 'jdoe@one.test|John'] }],
    ],
    ['(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;', [{ 'Hidden recipients': [] }]],
  ],
  'A.6.1': [
    ['Joe Q. Public <john.q.public@example.com>', ['john.q.public@example.com|Joe Q. Public']],
    [
      'Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example',
      ['mary@example.net|Mary Smith', 'jdoe@test.example|'],
    ],
  ],
  'A.6.2': [
    ['John Doe <jdoe@machine.example>', ['jdoe@machine.example|John Doe']],
    ['Mary Smith <mary@example.net>', ['mary@example.net|Mary Smith']],
  ],
  'A.6.3': [
    ['John Doe <jdoe@machine(comment).  example>', ['jdoe@machine.example|John Doe']],
    [crlf('Mary Smith', '          ', '          <mary@example.net>'), ['mary@example.net|Mary Smith']],
  ],
};

/** Other addresses that the grammar allows. */
const ALLOWED: readonly [field: string, expected: readonly Expected[]][] = [
  ['<pete(his account)@silly.test(his host)>', ['pete@silly.test|his host']],
  ['<@machine.tld:mary@example.net>', ['mary@example.net|']],
  ['<@a.test , @b.test : mary@example.net>', ['mary@example.net|']],
  ['<@a.test,,@b.test:mary@example.net>', ['mary@example.net|']],
  [
    'A Group(Some people):Chris <c@(x)public.example>,joe@example.org;, last@x.test',
    [{ 'A Group': ['c@public.example|Chris', 'joe@example.org|'] }, 'last@x.test|'],
  ],
  ['jdoe@test   . example', ['jdoe@test.example|']],
  ['j . doe @ test', ['j.doe@test|']],
  ['user@[IPv6:2001:db8::1]', ['user@[IPv6:2001:db8::1]|']],
  ['Ada <user@[IPv6:2001:db8::1]>, b@[192.0.2.1]', ['user@[IPv6:2001:db8::1]|Ada', 'b@[192.0.2.1]|']],
  ['"a b"@x.test', ['"a b"@x.test|']],
  ['"a@b"@x.test', ['"a@b"@x.test|']],
  ['"a\\"b\\\\c"@x.test', ['"a\\"b\\\\c"@x.test|']],
  ['"foo".bar@x.test', ['foo.bar@x.test|']],
  ['a@x.test (Ada (the first) \\) L.)', ['a@x.test|Ada (the first) ) L.']],
  ['a@x.test (one) (two)', ['a@x.test|two']],
  ['"" <a@x.test>', ['a@x.test|']],
  ['"a, b" "c; d" <a@x.test>', ['a@x.test|a, b c; d']],
  ['δοκιμή <δοκιμή@παράδειγμα.test>', ['δοκιμή@παράδειγμα.test|δοκιμή']],
  ['\u00c3\u00a0 la carte <a@x.test>', ['a@x.test|\u00c3\u00a0 la carte']],
  ['', []],
  [' ,, , ', []],
  ['(only a comment)', []],
  ['x:;', [{ x: [] }]],
  [':a@x.test;', [{ '': ['a@x.test|'] }]],
];

/** What real mail has instead of addresses, and how it is read. */
const BROKEN: readonly [field: string, expected: readonly Expected[]][] = [
  ['Mail Delivery System <MAILER-DAEMON>', ['MAILER-DAEMON|Mail Delivery System']],
  ['root (Cron Daemon)', ['root|Cron Daemon']],
  ['root', ['root|']],
  ['<root>', ['root|']],
  ['John Smith', ['|John Smith']],
  ['"John Smith"', ['|John Smith']],
  ['"root"', ['|root']],
  ['"bo@x.test"', ['|bo@x.test']],
  ['John Smith (work)', ['|John Smith (work)']],
  ['<>', ['|']],
  ['Ada <>', ['|Ada']],
  ['@x.test', ['@x.test|']],
  ['a@', ['a|']],
  ['Smith, John <j@x.test>', ['Smith|', 'j@x.test|John']],
  ['Smith\\, John <j@x.test>', ['j@x.test|Smith, John']],
  ['a@x.test; b@y.test', ['a@x.test|', 'b@y.test|']],
  ['a@x.test b@y.test', ['a@x.test|', 'b@y.test|']],
  ['A <a@x.test> B <b@y.test>, c@z.test', ['a@x.test|A B', 'b@y.test|', 'c@z.test|']],
  ['Ada a@x.test', ['a@x.test|Ada']],
  ['Joe Q. Public bo@x.test', ['bo@x.test|Joe Q. Public']],
  ['Ada [work] <a@x.test>', ['a@x.test|Ada [work]']],
  ['a@x.test <a@x.test>', ['a@x.test|a@x.test']],
  ['Ada <old <a@x.test>', ['a@x.test|Ada']],
  ['<a@x.test, b@y.test', ['a@x.test|', 'b@y.test|']],
  ['a@x.test, <<<broken, b@y.test', ['a@x.test|', 'broken|', 'b@y.test|']],
  ['"Bo <bo@x.test>, al@y.test', ['bo@x.test|Bo', 'al@y.test|']],
  ['Bo (at work <bo@x.test>, Al (home) <al@y.test>', ['bo@x.test|Bo at work', 'al@y.test|Al']],
  ['a..b.@x.test', ['a..b.@x.test|']],
  ['a@b@x.test', ['"a@b"@x.test|']],
  ['user@[192.0.2.1, b@y.test', ['user@[192.0.2.1|', 'b@y.test|']],
  ['a: b: <c@x.test', [{ a: ['c@x.test|'] }]],
  ['a@x.test>, b@y.test)', ['a@x.test|', 'b@y.test|']],
  ['<@a.test, b@y.test', ['@a.test|', 'b@y.test|']],
];

function show(field: string): Expected[] {
  const write = (entry: Parameters<typeof toAddressText>[0] & { name: string }) =>
    `${toAddressText(entry)}|${entry.name}`;
  return readAddressList(field).entries.map((entry) =>
    'members' in entry ? { [entry.name]: entry.members.map(write) } : write(entry),
  );
}

describe('the addresses of a header field', () => {
  for (const [section, examples] of Object.entries(APPENDIX_A)) {
    test(`are read as in RFC 5322, appendix ${section}`, () => {
      for (const [field, expected] of examples) {
        expect(show(field), field).toEqual(expected);
        expect(readAddressList(field).isWellFormed, field).toBe(true);
      }
    });
  }

  test.each(ALLOWED)('are read from %s', (field, expected) => {
    expect(show(field)).toEqual(expected);
    expect(readAddressList(field).isWellFormed).toBe(true);
  });

  test.each(BROKEN)('are read from %s, which breaks the grammar or has no address', (field, expected) => {
    expect(show(field)).toEqual(expected);
  });

  test('keep the route of an obsolete address', () => {
    const routes = ['<@a.test,@b.test:mary@x.test>', '<@a.test , @b.test : mary@x.test>', '<mary@x.test>'];
    expect(routes.map((field) => flattenAddresses(readAddressList(field))[0]?.route)).toEqual([
      '@a.test,@b.test',
      '@a.test,@b.test',
      undefined,
    ]);
  });

  test.each([...Object.values(APPENDIX_A).flat(), ...ALLOWED, ...BROKEN])(
    'are the same in an ENVELOPE: %s',
    (field, expected) => {
      const shown = expected.flatMap((entry) => (typeof entry === 'string' ? entry : Object.values(entry).flat()));
      const { ENVELOPE: envelope } = readFetch(`1 FETCH (ENVELOPE ${writeEnvelope({ to: field })})`);
      const addresses = ((envelope as Value[])[5] ?? []) as Value[][];
      const withDomain = addresses.filter(([, , , domain]) => domain !== null);
      expect(withDomain.map(([name, , local, domain]) => [name, local, domain])).toEqual(
        shown.map((text) => {
          const [address = '', name = ''] = text.split(/\|(?=[^|]*$)/);
          const [, local = '', domain = ''] = /^(.*?)(?:@([^@]*))?$/.exec(address) ?? [];
          const plain = local.startsWith('"') ? local.slice(1, -1).replace(/\\(.)/g, '$1') : local;
          return [name === '' ? null : name, plain, domain];
        }),
      );
    },
  );

  test('can be read again in the form in which they are shown', () => {
    const fields = [...Object.values(APPENDIX_A).flat(), ...ALLOWED, ...BROKEN].map(([field]) => field);
    for (const entry of fields.flatMap((field) => flattenAddresses(readAddressList(field)))) {
      const address = toAddressText(entry);
      if (address === '' || entry.name === '') continue;
      expect(parseAddress(`"${entry.name.replace(/["\\]/g, '\\$&')}" <${address}>`, () => true)).toEqual({
        name: entry.name,
        address,
      });
    }
  });
});

test.each([
  'a@x.test (Ada)',
  'Ada a@x.test',
  '"Ada <a@x.test>',
  '<@r.test:a@x.test>',
  'x: a@x.test;',
  'a@x.test, b@y.test',
])('a request may not have the address %s', (text) => {
  expect(parseAddress(text)).toBeUndefined();
});
