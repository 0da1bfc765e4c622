import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type ParsedMail, parseTwice } from '../../support/parse-mail.ts';

/** A mail as a parser reads it, with a hash in place of the bytes of each file. */
export type Reading = Omit<ParsedMail, 'cc' | 'attachments'> & {
  readonly files: readonly { readonly filename: string; readonly contentType: string; readonly hash: string }[];
};

const SCRIPT = fileURLToPath(new URL('read_mail.py', import.meta.url));

/** Whether Python is there. */
export const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;

/** Reads mails with three independent parsers; the readings of each are in the order of the mails. */
export async function readThrice(mails: readonly Uint8Array[]): Promise<Record<string, readonly Reading[]>> {
  const [python, others] = await Promise.all([readWithPython(mails), Promise.all(mails.map(parseTwice))]);
  return {
    'postal-mime': others.map((each) => simplify(each['postal-mime'])),
    mailparser: others.map(({ mailparser }) => simplify(mailparser)),
    ...(HAS_PYTHON && { python }),
  };
}

async function readWithPython(mails: readonly Uint8Array[]): Promise<Reading[]> {
  if (!HAS_PYTHON) return [];
  const { stdin, stdout } = spawn('python3', [SCRIPT], { stdio: ['pipe', 'pipe', 'inherit'] });
  stdin.end(mails.map((mail) => Buffer.from(mail).toString('base64')).join('\n'));
  return JSON.parse(await text(stdout));
}

/** Leaves out what is only the habit of a parser, such as newlines at the end. */
function simplify({ cc: _, attachments, ...parsed }: ParsedMail): Reading {
  return {
    ...parsed,
    plainBody: parsed.plainBody.replaceAll('\r\n', '\n').replace(/\n+$/, ''),
    htmlBody: parsed.htmlBody.replaceAll('\r\n', '\n').replace(/\n+$/, ''),
    files: attachments.map(({ filename, contentType, bytes }) => ({
      filename,
      contentType,
      hash: hash(contentType, bytes),
    })),
  };
}

/** Parsers differ in how they write out a mail in a mail, and in the newlines of a text. */
function hash(contentType: string, bytes: number[]): string {
  if (contentType.startsWith('message/')) return '';
  const whole = Buffer.from(bytes);
  const isText = contentType.startsWith('text/');
  const content = isText ? whole.toString('latin1').replaceAll('\r\n', '\n').replace(/\n+$/, '') : whole;
  return createHash('sha256')
    .update(typeof content === 'string' ? Buffer.from(content, 'latin1') : content)
    .digest('hex');
}
