import { simpleParser } from 'mailparser';
import PostalMime from 'postal-mime';

/** An address in a header, as a parser reads it. */
interface Person {
  readonly name: string;
  readonly address: string;
}

/** A mail as a parser reads it. */
export interface ParsedMail {
  readonly from: readonly Person[];
  readonly to: readonly Person[];
  readonly cc: readonly Person[];
  readonly replyTo: readonly Person[];
  readonly subject: string;
  readonly date: string;
  readonly messageId: string;
  readonly inReplyTo: string;
  readonly references: readonly string[];
  readonly plainBody: string;
  /** Empty if there is none. */
  readonly htmlBody: string;
  readonly attachments: readonly {
    readonly filename: string;
    readonly contentType: string;
    readonly bytes: number[];
  }[];
}

/** Parses a mail with two independent parsers. */
export function parseTwice(mail: Uint8Array): Promise<Record<'postal-mime' | 'mailparser', ParsedMail>> {
  return Promise.all([withPostalMime(mail), withMailparser(mail)]).then(([one, other]) => ({
    'postal-mime': one,
    mailparser: other,
  }));
}

async function withPostalMime(mail: Uint8Array): Promise<ParsedMail> {
  const parsed = await PostalMime.parse(mail);
  const people = (list: readonly { name: string; address?: string | undefined }[] = []) =>
    list.map(({ name, address = '' }) => ({ name, address }));
  return {
    from: people(parsed.from ? [parsed.from] : []),
    to: people(parsed.to),
    cc: people(parsed.cc),
    replyTo: people(parsed.replyTo),
    subject: parsed.subject ?? '',
    date: Number.isNaN(Date.parse(parsed.date ?? '')) ? '' : new Date(parsed.date ?? '').toISOString(),
    messageId: parsed.messageId ?? '',
    inReplyTo: parsed.inReplyTo ?? '',
    references: parsed.references?.split(' ') ?? [],
    // This parser ends every text with a newline of its own.
    plainBody: (parsed.text ?? '').replace(/\n$/, ''),
    htmlBody: (parsed.html ?? '').replace(/\n$/, ''),
    attachments: parsed.attachments.map(({ filename, mimeType, content }) => ({
      filename: filename ?? '',
      contentType: mimeType,
      bytes: [...(typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content))],
    })),
  };
}

async function withMailparser(mail: Uint8Array): Promise<ParsedMail> {
  const parsed = await simpleParser(Buffer.from(mail), {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
  });
  const people = (field: typeof parsed.to) =>
    [field ?? []].flat().flatMap(({ value }) => value.map(({ name, address = '' }) => ({ name, address })));
  return {
    from: people(parsed.from),
    to: people(parsed.to),
    cc: people(parsed.cc),
    replyTo: people(parsed.replyTo),
    subject: parsed.subject ?? '',
    date: parsed.date?.toISOString() ?? '',
    messageId: parsed.messageId ?? '',
    inReplyTo: parsed.inReplyTo ?? '',
    references: [parsed.references ?? []].flat(),
    plainBody: parsed.text ?? '',
    htmlBody: parsed.html || '',
    attachments: parsed.attachments.map(({ filename, contentType, content }) => ({
      filename: filename ?? '',
      contentType,
      bytes: [...content],
    })),
  };
}
