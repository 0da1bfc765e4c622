import { escapeHtml } from '../../../basics/markup.ts';
import { isIncomingAddress, parseAddress } from '../../../contract/addresses/email-address.ts';
import { toHtml } from '../html.ts';
import type { Mail } from '../show-mail.ts';

/** A mail that is quoted. */
type QuotedMail = Pick<
  Mail,
  'from' | 'to' | 'cc' | 'subject' | 'plainBody' | 'htmlBody' | 'messageIdHeader' | 'receivedAt'
>;

/** The bodies of a mail. */
type Bodies = Pick<Mail, 'plainBody' | 'htmlBody'>;

/** How a mail client writes the quoted mail below the answer. */
interface Style {
  text(mail: QuotedMail): string;
  /** `content` is the HTML of the quoted mail. */
  html(mail: QuotedMail, content: string): string;
}

/** The quoting style of each mail client. The quoted mail stands below the answer. */
const STYLES = {
  gmail: {
    text: (mail) => `${gmailLine(mail)}\n\n${quoteText(mail.plainBody)}`,
    html: (mail, content) =>
      '<br><div class="gmail_quote gmail_quote_container"><div dir="ltr" ' +
      `class="gmail_attr">${escapeHtml(gmailLine(mail))}<br></div><blockquote class="gmail_quote" ` +
      'style="margin:0px 0px 0px 0.8ex;border-left:1px solid ' +
      `rgb(204,204,204);padding-left:1ex">${content}</blockquote></div>`,
  },
  outlook: {
    text: (mail) =>
      `${'_'.repeat(32)}\n${outlookHeader(mail)
        .map((field) => field.join(': '))
        .join('\n')}\n\n${mail.plainBody}`,
    html: (mail, content) =>
      `<hr style="display:inline-block;width:98%" tabindex="-1"><div id="divRplyFwdMsg" dir="ltr">${outlookHeader(mail)
        .map(([name, value]) => `<b>${name}:</b> ${escapeHtml(value)}`)
        .join('<br>')}</div><div>${content}</div>`,
  },
  'apple-mail': {
    text: (mail) => quoteText(`${appleLine(mail)}\n\n${mail.plainBody}`),
    html: (mail, content) =>
      `<div><br><blockquote type="cite"><div>${escapeHtml(appleLine(mail))}</div><br ` +
      `class="Apple-interchange-newline"><div>${content}</div></blockquote></div>`,
  },
  thunderbird: {
    text: (mail) => `${thunderbirdLine(mail)}\n${quoteText(mail.plainBody)}`,
    html: (mail, content) =>
      `<div class="moz-cite-prefix">${escapeHtml(thunderbirdLine(mail))}<br></div><blockquote type="cite" ` +
      `cite="mid:${escapeHtml(mail.messageIdHeader.replace(/[<>]/g, ''))}">${content}</blockquote>`,
  },
} as const satisfies Readonly<Record<string, Style>>;

/** The quoting styles that an answer can have: none, or the style of a mail client. */
export const QUOTING_STYLES = ['none', ...(Object.keys(STYLES) as (keyof typeof STYLES)[])] as const;

/** How the answers of a correspondent quote the mail: as a mail client does, or not at all. */
export type Quoting = (typeof QUOTING_STYLES)[number];

/** Adds the answered mail below the answer. */
export function quoteBelow(quoting: Quoting, answer: Bodies, mail: QuotedMail): Bodies {
  if (quoting === 'none') return answer;
  const style = STYLES[quoting];
  const answerHtml = answer.htmlBody ?? `<div dir="ltr">${toHtml(answer.plainBody)}</div>`;
  return {
    plainBody: `${answer.plainBody}\n\n${style.text(mail)}\n`,
    htmlBody: answerHtml + style.html(mail, mail.htmlBody ?? toHtml(mail.plainBody)),
  };
}

/** Marks each line as quoted. A line that is quoted already gets `>` without a space. */
function quoteText(text: string): string {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => (line.startsWith('>') ? `>${line}` : `> ${line}`))
    .join('\n');
}

function gmailLine({ from, receivedAt }: QuotedMail): string {
  const { weekday, month, day, year, hour, minute, period } = dateParts(receivedAt);
  const date = `${weekday.slice(0, 3)}, ${month.slice(0, 3)} ${day}, ${year}`;
  return `On ${date} at ${hour}:${minute} ${period} ${formatQuotedAddress(from)} wrote:`;
}

function appleLine({ from, receivedAt }: QuotedMail): string {
  const { month, day, year, hour, minute, period } = dateParts(receivedAt);
  return `On ${month.slice(0, 3)} ${day}, ${year}, at ${hour}:${minute} ${period}, ${formatQuotedAddress(from)} wrote:`;
}

function thunderbirdLine({ from, receivedAt }: QuotedMail): string {
  const { monthNumber, day, year, hour, minute, period } = dateParts(receivedAt);
  const name = parseAddress(from, isIncomingAddress)?.name || from;
  return `On ${monthNumber}/${day}/${String(year % 100).padStart(2, '0')} ${hour}:${minute} ${period}, ${name} wrote:`;
}

function outlookHeader({ from, to, cc, subject, receivedAt }: QuotedMail): [name: string, value: string][] {
  const { weekday, month, day, year, hour, minute, period } = dateParts(receivedAt);
  return [
    ['From', formatQuotedAddress(from)],
    ['Sent', `${weekday}, ${month} ${day}, ${year} ${hour}:${minute} ${period}`],
    ['To', to.map(formatQuotedAddress).join('; ')],
    ...(cc.length > 0 ? ([['Cc', cc.map(formatQuotedAddress).join('; ')]] as [string, string][]) : []),
    ['Subject', subject],
  ];
}

/** Writes an address as mail clients show it above a quoted mail: without quotation marks around the name. */
function formatQuotedAddress(address: string): string {
  const parsed = parseAddress(address, isIncomingAddress);
  if (!parsed) return address;
  return parsed.name === '' ? `<${parsed.address}>` : `${parsed.name} <${parsed.address}>`;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/**
 * Returns the parts of a time as English clients write them, in UTC. `Intl` is not used, because its texts differ
 * between versions of Node.
 */
function dateParts(timestamp: string) {
  const date = new Date(timestamp);
  return {
    weekday: WEEKDAYS[date.getUTCDay()] ?? '',
    month: MONTHS[date.getUTCMonth()] ?? '',
    monthNumber: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    year: date.getUTCFullYear(),
    hour: date.getUTCHours() % 12 || 12,
    minute: String(date.getUTCMinutes()).padStart(2, '0'),
    period: date.getUTCHours() < 12 ? 'AM' : 'PM',
  };
}
