import { CRLF } from '../mail/mime/header.ts';
import { multipart, textPart } from '../mail/mime/mime-part.ts';
import type { SampleContext } from './sample-context.ts';
import { idOf, quoteText, type SampleDraft, writeMail } from './sample-mail.ts';
import type { SampleRow } from './sample-row.ts';

const LONG_THREAD = 200;

/** Writes an answer to the mail that the sample is about, with that mail quoted as a client does. */
function writeAnswer(context: SampleContext, client: string, quote: { readonly text: string; readonly html: string }) {
  const { about, number, marker } = context;
  const answer = 'Yes, Friday is fine.';
  const parts = [
    textPart('text/plain', `${answer}\n\n${quote.text}`),
    textPart('text/html', `<div>${answer}</div><br>${quote.html}`),
  ];
  const subject = `Re: Your order ${number}`;
  const fields = { Subject: subject, 'In-Reply-To': about, References: about, 'X-Mailer': client };
  return writeMail(context, fields, multipart('alternative', marker, parts));
}

const SENT = 'Does Friday fit?\n\nYour helpdesk';
const SENT_HTML = SENT.replaceAll('\n', '<br>');

const ANSWER = {
  should: 'Read only the new text above the quote as the answer.',
  mustNot: 'Take the quoted text for words of the customer.',
} as const;

/** Sequences of mails, and mails in mails. */
export const THREAD_SAMPLES = {
  'no-message-id': {
    standard: 'RFC 5322, section 3.6.4',
    should: 'Answer it without a reference to its Message-ID.',
    mustNot: 'Fail, or take it for another mail without one.',
    write: (context) =>
      writeMail(
        context,
        { 'Message-ID': undefined, Subject: `Order ${context.number}` },
        'Can I still change the address?',
      ),
  },
  'repeated-message-id': {
    standard: 'RFC 5322, section 3.6.4',
    should: 'Read both mails, because they differ.',
    mustNot: 'Drop the second one as a duplicate.',
    write: (context) =>
      ['Please send two chairs.', 'Please send three chairs, not two.'].map((text, index) =>
        writeMail(context, { Subject: `Order ${context.number}`, 'Message-ID': idOf(context, 1) }, text, {
          place: index + 1,
        }),
      ),
  },
  'cut-references': {
    standard: 'RFC 5322, section 3.6.4',
    should: 'Find the conversation by subject, sender and quote.',
    mustNot: 'Treat it as a new request without a history.',
    write: (context) => [
      writeMail(context, { Subject: `Order ${context.number}` }, 'The chair came with three legs.'),
      writeMail(
        context,
        {
          Subject: `Re: Order ${context.number}`,
          'In-Reply-To': `<${context.marker}.lost@gateway.test>`,
          References: `<${context.marker}.lost@gateway.test>`,
        },
        `It is the left one at the back.\n\n${quoteText('The chair came with three legs.')}`,
        { place: 2 },
      ),
    ],
  },
  'thread-of-200': {
    standard: 'RFC 5322, section 3.6.4',
    should: 'Read the latest mails first and shorten the rest.',
    mustNot: 'Load the whole conversation into one prompt, or answer each mail.',
    write: (context) =>
      Array.from({ length: LONG_THREAD }, (_, index) => {
        const earlier = Array.from({ length: Math.min(index, 20) }, (_, back) => idOf(context, index - back)).reverse();
        return writeMail(
          context,
          {
            Subject: `${index > 0 ? 'Re: ' : ''}Order ${context.number}`,
            ...(index > 0 && { 'In-Reply-To': idOf(context, index), References: earlier.join(' ') }),
          },
          `Message ${index + 1} of ${LONG_THREAD}: box ${index + 1} is packed.`,
          { place: index + 1 },
        );
      }),
  },
  'quote-gmail': {
    standard: 'RFC 3676, section 4.5; the style of Gmail',
    ...ANSWER,
    write: (context) =>
      writeAnswer(context, 'Gmail', {
        text: `On Tue, 6 Jan 2026 at 09:00, Helpdesk <${context.to[0]}> wrote:\n\n${quoteText(SENT)}`,
        html: `<div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Tue, 6 Jan 2026 at 09:00, Helpdesk wrote:</div><blockquote class="gmail_quote">${SENT_HTML}</blockquote></div>`,
      }),
  },
  'quote-outlook': {
    standard: 'no standard; the style of Outlook',
    ...ANSWER,
    write: (context) => {
      const head = `From: Helpdesk\nSent: Tuesday, January 6, 2026 9:00 AM\nTo: ${context.person.name}\nSubject: Your order ${context.number}`;
      return writeAnswer(context, 'Microsoft Outlook 16.0', {
        text: `________________________________\n${head}\n\n${SENT}`,
        html: `<div style="border-top:solid #E1E1E1 1.0pt"><p class="MsoNormal">${head.replaceAll('\n', '<br>')}</p></div><p>${SENT_HTML}</p>`,
      });
    },
  },
  'quote-apple-mail': {
    standard: 'RFC 3676, section 4.5; the style of Apple Mail',
    ...ANSWER,
    write: (context) =>
      writeAnswer(context, 'Apple Mail (2.3826.400.131)', {
        text: `${quoteText(`On 6 Jan 2026, at 09:00, Helpdesk <${context.to[0]}> wrote:\n\n${SENT}`)}`,
        html: `<blockquote type="cite"><div>On 6 Jan 2026, at 09:00, Helpdesk wrote:</div><br>${SENT_HTML}</blockquote>`,
      }),
  },
  'forwarded-as-attachment': {
    standard: 'RFC 2046, section 5.2.1',
    should: 'Read the attached mail as the words of its own sender.',
    mustNot: 'Take the attached mail for words of the person who forwarded it.',
    write: (context) => {
      const { eml }: SampleDraft = writeMail(
        context,
        { From: 'Lena <lena@visitor.test>', To: context.person.address, Subject: 'Broken chair' },
        'The chair is broken. I want my money back.',
        { place: 2 },
      );
      const forwarded = {
        head: ['Content-Type: message/rfc822', 'Content-Disposition: attachment; filename="Broken chair.eml"'],
        content: `${new TextDecoder().decode(eml)}${CRLF}`,
      };
      const parts = [textPart('text/plain', 'Can you answer her?'), forwarded];
      return writeMail(context, { Subject: 'Fwd: Broken chair' }, multipart('mixed', context.marker, parts));
    },
  },
} as const satisfies Record<string, SampleRow>;
