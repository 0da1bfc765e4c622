import type { ReadBehaviour } from '../../contract/behaviours.ts';
import { DEFAULT_DOMAIN, domainOf } from '../../contract/emulator-domains.ts';
import type { MailAuth } from '../../contract/mail-envelope.ts';
import type { MessageRow } from '../../store/rows.ts';
import { NAME } from '../../version.ts';
import { formatDate, writeField } from './header.ts';

/** The envelope of a mail for one inbox. */
export interface Envelope {
  /** The bare address of the sender; empty for the null sender. */
  readonly from: string;
  /** The bare address of the recipient. */
  readonly to: string;
  readonly auth: MailAuth;
}

/** The header fields that the emulator puts before a mail that came with an envelope, in this order. */
const TRACE_FIELDS = ['Return-Path', 'Authentication-Results', 'Received'] as const;

type Trace = Record<(typeof TRACE_FIELDS)[number], string>;

/** Creates the trace of a mail (RFC 5321, section 4.4, and RFC 8601). `fromAddress` is the bare address in From. */
export function createTrace({ from, to, auth }: Envelope, fromAddress: string, at: Date): Trace {
  // RFC 8601 demands the name of the server that checked; the comment says that it is this emulator.
  const server = `${DEFAULT_DOMAIN} (${NAME})`;
  const methods = [
    ['spf', auth.spf, 'smtp.mailfrom', from],
    ['dkim', auth.dkim, 'header.d', domainOf(fromAddress)],
    ['dmarc', auth.dmarc, 'header.from', domainOf(fromAddress)],
  ] as const;
  const results = methods.flatMap(([method, result, property, value]) =>
    result === undefined ? [] : [`${method}=${result}${value === '' ? '' : ` ${property}=${value}`}`],
  );
  return {
    'Return-Path': `<${from}>`,
    'Authentication-Results': [server, ...(results.length > 0 ? results : ['none'])].join('; '),
    Received: `by ${server} for <${to}>; ${formatDate(at)}`,
  };
}

/** Writes the trace of a message, each field folded; nothing if the message came without an envelope. */
export function writeTrace({ headers }: Pick<MessageRow, 'headers'>): string[] {
  return TRACE_FIELDS.flatMap((name) => {
    const value = headers?.[name];
    return value === undefined ? [] : [writeField(name, value.split(' '))];
  });
}

const SHOWN_TRACES = { shown: writeTrace, hidden: (): string[] => [] };

/** Writes the trace that the raw form of a message begins with; nothing under `messages.raw.trace=hidden`. */
export function writeShownTrace(message: Pick<MessageRow, 'headers'>, readBehaviour: ReadBehaviour): string[] {
  return writeTrace(message).length === 0 ? [] : SHOWN_TRACES[readBehaviour('messages.raw.trace')](message);
}

/** Returns the further header fields of a message without its trace. */
export function headersWithoutTrace({ headers }: Pick<MessageRow, 'headers'>): Record<string, string> {
  const trace: readonly string[] = TRACE_FIELDS;
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !trace.includes(name)));
}
