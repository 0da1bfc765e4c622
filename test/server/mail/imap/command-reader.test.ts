import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CommandReader } from '../../../../src/server/mail/imap/command-reader.ts';
import { longSessions, shortSessions } from '../../../support/recorded-imap.ts';

const LOGIN = { user: 'helpdesk@acme.test', password: 'secret' };
const SHORT = Object.entries(shortSessions(LOGIN));
const LONG = Object.entries(longSessions(LOGIN));

/** Reads chunks. Returns the commands and the other events, and how many bytes were counted for the commands. */
function read(chunks: readonly Buffer[], { isLoggedIn = true, room = Number.POSITIVE_INFINITY } = {}) {
  let counted = 0;
  const reader = new CommandReader({
    isLoggedIn: () => isLoggedIn,
    count(bytes) {
      if (counted + bytes > room) return new Error('There is no room.');
      counted += bytes;
      return undefined;
    },
  });
  const events: string[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let event = reader.next(); event; event = reader.next()) {
      if (typeof event === 'string') events.push(event);
      else {
        const literals = event.literals.map((literal) => Buffer.from(literal).toString('latin1'));
        const refusal = event.refusal && `${event.refusal.result} ${event.refusal.text}`;
        events.push(JSON.stringify([event.line, literals, refusal]));
        counted = 0;
      }
    }
  }
  return { events, counted, isInCommand: reader.isInCommand };
}

/** Reads chunks and compares the result with that of the whole. Without `expect`, which takes longer than the reader. */
function check(chunks: readonly Buffer[], isLoggedIn: boolean, whole: string): void {
  const result = JSON.stringify(read(chunks, { isLoggedIn }));
  if (result !== whole) expect(result).toBe(whole);
}

function readWhole(bytes: Buffer, isLoggedIn: boolean): string {
  return JSON.stringify(read([bytes], { isLoggedIn }));
}

/** Cuts bytes at positions. */
function cut(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const ends = [...new Set(positions.map((at) => at % (bytes.length + 1)))].sort((one, other) => one - other);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

function inBytes(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}

describe('the reader of IMAP commands', () => {
  test.for(SHORT)('reads %s in the same way in any two chunks, and byte by byte', ([, { bytes }]) => {
    for (const isLoggedIn of [false, true]) {
      const whole = readWhole(bytes, isLoggedIn);
      expect(read([bytes]).events.length).toBeGreaterThan(0);
      check(inBytes(bytes), isLoggedIn, whole);
      for (let at = 1; at < bytes.length; at += 1) check(cut(bytes, [at]), isLoggedIn, whole);
    }
  });

  test.for([...SHORT, ...LONG])('reads %s in the same way in random chunks', ([, { bytes }]) => {
    const whole = readWhole(bytes, true);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (positions) => {
        check(cut(bytes, positions), true, whole);
      }),
      { numRuns: 50 },
    );
  });

  test('reads a long session byte by byte', () => {
    for (const [, { bytes }] of LONG)
      check(inBytes(bytes.subarray(0, 80_000)), true, readWhole(bytes.subarray(0, 80_000), true));
  });

  test('reads random mixtures of what delimits commands in the same way in random chunks', () => {
    const piece = fc.constantFrom(
      ...['a NOOP', 'b APPEND x ', 'c LOGIN ', '{3}', '{2+}', '{0+}', '~{1+}', '{4294967295+}', '{4294967296}'],
      ...[
        '{00000000000000000000000000000000002+}',
        '\r\n',
        '\n',
        '\r',
        '"',
        '\\',
        ' ',
        'x',
        '12',
        '+}',
        '{',
        'y'.repeat(9_000),
      ],
    );
    const session = fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join(''), 'latin1'));
    const cuts = fc.array(fc.nat(20_000), { maxLength: 20 });
    fc.assert(
      fc.property(session, cuts, fc.boolean(), (bytes, positions, isLoggedIn) => {
        check(cut(bytes, positions), isLoggedIn, readWhole(bytes, isLoggedIn));
      }),
      { numRuns: 3_000 },
    );
  });

  test('skips a literal in an open quotation, and refuses its command', () => {
    expect(read([Buffer.from('a SEARCH "x {9+}\r\nb LOGOUT\n\r\nc NOOP\r\n')]).events).toEqual([
      JSON.stringify(['a SEARCH "x {9+}', [], 'BAD A quoted text has no end.']),
      JSON.stringify(['c NOOP', [], null]),
    ]);
  });

  test('counts bytes as they arrive, and those of small commands not at all', () => {
    const announced = 'a APPEND INBOX {10000000+}\r\n';
    expect(read([Buffer.from(announced)])).toEqual({ events: [], counted: 0, isInCommand: true });
    expect(read([Buffer.from(announced), Buffer.alloc(8_000)]).counted).toBe(0);
    expect(read([Buffer.from(announced), Buffer.alloc(8_000), Buffer.alloc(500)]).counted).toBe(
      announced.length + 8_500,
    );
  });

  test('refuses a command for which there is no room, and keeps its place', () => {
    const bytes = Buffer.concat([
      Buffer.from('a APPEND INBOX {20000+}\r\n'),
      Buffer.alloc(20_000, 'x\r\n'),
      Buffer.from('\r\nb NOOP\r\n'),
    ]);
    const { events } = read(cut(bytes, [5_000, 9_000, 15_000]), { room: 10_000 });
    expect(events).toEqual([
      JSON.stringify(['a APPEND INBOX {20000+}', [], 'NO [UNAVAILABLE] There is no room.']),
      JSON.stringify(['b NOOP', [], null]),
    ]);
  });

  test('accepts ID with all that RFC 2971 allows before the login, and no other command of this size', () => {
    const field = (index: number) => `"${`${index}`.padEnd(30, 'n')}" "${'\\"'.repeat(1_024)}"`;
    const fields = Array.from({ length: 30 }, (_, index) => field(index)).join(' ');
    const literals = fields.replace(/"(\d\d?n+)" "/g, (_, name: string) => `{${name.length}+}\r\n${name} "`);
    for (const written of [`a Id (${fields})\r\n`, `a ID (${literals})\r\n`]) {
      const bytes = Buffer.from(written);
      const whole = readWhole(bytes, false);
      expect(whole).not.toMatch(/too long/);
      check(inBytes(bytes), false, whole);
      expect(read([bytes], { isLoggedIn: false, room: 30_000 }).events.join()).toContain('There is no room.');
    }
    const others = [`a LOGIN (${fields})\r\n`, `aID (${fields})\r\n`, `a ID (${fields} ${fields})\r\n`];
    for (const written of others) expect(readWhole(Buffer.from(written), false)).toMatch(/The command is too long/);
  });
});
