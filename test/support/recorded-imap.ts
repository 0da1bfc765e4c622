import type { Login } from './imap-server.ts';
import { toMail } from './imap-server.ts';

/** What a client has sent in a session, and the beginnings of the tagged replies to it. */
export interface RecordedSession {
  readonly bytes: Buffer;
  readonly results: readonly string[];
}

/** A mail whose lines are commands. None of them may run. */
const TRAP = toMail(
  'Subject: trap {3+}\n\nx1 STORE 1:* +FLAGS (\\Deleted)\nx2 EXPUNGE\nx3 LOGOUT\n* DONE\n. {7+}\n"quoted {9}\n',
);

/** Returns a mail of about this size, each line of which is a command. */
function longTrap(size: number): Uint8Array {
  return toMail(`Subject: long\n\n${'x4 STORE 1:* +FLAGS (\\Deleted) {12+}\n'.repeat(Math.ceil(size / 38))}`);
}

/** Records commands, which are texts with one character for each byte, and the literals that follow them. */
function record(results: readonly string[], ...parts: readonly (string | Uint8Array)[]): RecordedSession {
  const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
  return { bytes, results };
}

/** Returns sessions that are short enough to be cut at each of their bytes. */
export function shortSessions({ user, password }: Login): Readonly<Record<string, RecordedSession>> {
  const login = `a LOGIN ${user} "${password}"\r\n`;
  const plain = Buffer.from(`\0${user}\0${password}`).toString('base64');
  return {
    'a mail full of commands': record(
      ['a OK', 'b OK', 'c OK', 'd OK'],
      `${login}b SELECT INBOX\r\nc APPEND Archive (\\Seen) {${TRAP.length}+}\r\n`,
      TRAP,
      '\r\nd NOOP\r\n',
    ),
    'literals that wait for a reply': record(
      ['a OK', 'b OK', 'c OK', 'd OK'],
      `a LOGIN {${user.length}}\r\n${user} {${password.length}}\r\n${password}\r\n`,
      `b APPEND {6}\r\nDrafts {${TRAP.length}}\r\n`,
      TRAP,
      '\r\nc SELECT {5}\r\nINBOX\r\nd SEARCH SUBJECT {0}\r\n\r\n',
    ),
    'literals that are refused': record(
      ['a NO', 'b OK', 'c NO', 'd BAD', 'e BAD', 'f BAD', 'g BAD', 'h NO', 'i OK'],
      `a APPEND INBOX {${TRAP.length}+}\r\n`,
      TRAP,
      `\r\n${login.replace('a ', 'b ')}c APPEND INBOX {10485761}\r\n`,
      `d SEARCH SUBJECT "open {5+}\r\n12\r\n5\r\ne SEARCH SUBJECT "open {5}\r\nf SEARCH SUBJECT ~{5+}\r\nx y z\r\n`,
      'g SEARCH BODY {70000}\r\nh CREATE {10+}\r\nx\r\ni NOOP)\r\ni NOOP\r\n',
    ),
    'what is no literal': record(
      ['a OK', 'b BAD', 'c BAD', 's OK', 'd OK', 'e OK'],
      `${login}b NOOP {5\r\nc NOOP {5}x\r\ns SELECT INBOX\r\nd SEARCH SUBJECT "{5+}" BODY "\\"{5}"\r\ne SEARCH SUBJECT "a \\\\" BODY {3+}\n5}\n\n`,
    ),
    'a login in steps, and IDLE': record(
      ['a BAD', 'b OK', 'c OK', 'd OK', 'e BAD', 'f OK'],
      `a AUTHENTICATE PLAIN\r\n*\r\nb AUTHENTICATE PLAIN\r\n${plain}\r\nc SELECT INBOX\r\nd IDLE\r\nDONE\r\n`,
      'e IDLE\r\nx STORE 1 +FLAGS (\\Deleted)\r\nf NOOP\r\n',
    ),
    'what follows LOGOUT': record(
      ['a OK', 'b OK', 'c OK'],
      `${login}b SELECT INBOX\r\nc LOGOUT\r\nd STORE 1:* +FLAGS (\\Deleted)\r\ne EXPUNGE\r\nf APPEND INBOX {3+}\r\nx\r\n\r\n`,
    ),
    'a size above all numbers': record(
      ['a OK'],
      `${login}b APPEND INBOX {99999999999+}\r\nx STORE 1:* +FLAGS (\\Deleted)\r\n`,
    ),
    'bytes that are no text': record(
      ['a OK', 'b NO', 'c OK'],
      `\0\xff x\r\n\r\n\n${login}b SELECT "\xe4\0"\r\nc NOOP\r\n`,
    ),
  };
}

/** Returns sessions that are too long to be cut at each of their bytes. */
export function longSessions({ user, password }: Login): Readonly<Record<string, RecordedSession>> {
  const login = `a LOGIN ${user} "${password}"\r\n`;
  const mails = [1_000, 30_000, 64_000, 15_000].map(longTrap);
  return {
    '110 kB of mail in pipelined commands': record(
      ['a OK', 'b OK', ...mails.map((_, index) => `m${index} OK`), 'z OK'],
      `${login}b SELECT INBOX\r\n`,
      ...mails.flatMap((mail, index) => [`m${index} APPEND Archive {${mail.length}+}\r\n`, mail, '\r\n']),
      'z NOOP\r\n',
    ),
    'lines that are too long': record(
      ['a OK', 'b BAD', 'c BAD', 'd BAD', 'e OK', 'f BAD', 'g OK'],
      `${login}b ${'x'.repeat(70_000)}\r\nc SEARCH ${'SEEN '.repeat(14_000)}SUBJECT {9+}\r\ny LOGOUT\r\n\r\n`,
      `d IDLE\r\n${'D'.repeat(66_000)} {4+}\r\n\r\n\r\n\r\ne NOOP\r\n`,
      `f SEARCH ${'SUBJECT {1+}\r\nx '.repeat(6_000)}\r\ng NOOP\r\n`,
    ),
    'a line that is too long before the login': record(
      ['a BAD', 'b BAD', 'c OK'],
      `a ${'x'.repeat(8_200)}\r\nb AUTHENTICATE PLAIN\r\n${'A'.repeat(9_000)}\r\n${login.replace('a ', 'c ')}`,
    ),
  };
}
