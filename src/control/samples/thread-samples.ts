import { multipart, textPart } from '../../service/mail/mime/compose-mail.ts';
import { CRLF } from '../../service/mail/mime/header.ts';
import { fill, type SampleContext } from './sample-context.ts';
import { mailIdOf, quoteText, type SampleDraft, writeMail } from './sample-mail.ts';
import type { SampleTable } from './sample-row.ts';

/** How many mails the long thread has. */
const MAIL_COUNT = 200;

const SUBJECT = { Subject: 'Order {number}' };

/** Mails with the same position have the same Message-ID. */
const SAME_ID = { position: 1 };

const SENT = 'Does Friday fit?\n\nYour helpdesk';
const SENT_HTML = SENT.replaceAll('\n', '<br>');

/**
 * Returns a function that writes an answer to the mail that the sample is about. The answer quotes this mail as a mail
 * client does.
 */
function createAnswerWriter(text: string, html: string) {
  return (context: SampleContext): SampleDraft[] => {
    const answer = 'Yes, Friday is fine.';
    const parts = [
      textPart('text/plain', fill(`${answer}\n\n${text}`, context)),
      textPart('text/html', fill(`<div>${answer}</div><br>${html}`, context)),
    ];
    const fields = { Subject: 'Re: Your order {number}', 'In-Reply-To': '{about}', References: '{about}' };
    const body = multipart('alternative', context.values.marker, parts);
    return [writeMail(context, fields, body)];
  };
}

const QUOTE_ADVICE = {
  should: 'Read only the new text above the quote as the answer.',
  mustNot: 'Treat the quoted text as words of the customer.',
  handling: 'reading',
} as const;

const OUTLOOK_HEAD = 'From: Helpdesk\nSent: Tuesday, January 6, 2026 9:00 AM\nTo: {name}\nSubject: Your order {number}';

function writeLongThread(context: SampleContext): SampleDraft[] {
  return Array.from({ length: MAIL_COUNT }, (_, index) => {
    const position = index + 1;
    const earlier = Array.from({ length: Math.min(index, 20) }, (_, back) => mailIdOf(context, index - back)).reverse();
    const fields = {
      Subject: `${index > 0 ? 'Re: ' : ''}Order {number}`,
      ...(index > 0 && { 'In-Reply-To': mailIdOf(context, index), References: earlier.join(' ') }),
    };
    return writeMail(context, fields, `Message ${position} of ${MAIL_COUNT}: box ${position} is packed.`, { position });
  });
}

function writeForwarded(context: SampleContext): SampleDraft[] {
  const fields = { From: 'Lena <lena@visitor.test>', To: '{address}', Subject: 'Broken chair' };
  const { eml } = writeMail(context, fields, 'The chair is broken. I want my money back.', { position: 2 });
  const forwarded = {
    head: ['Content-Type: message/rfc822', 'Content-Disposition: attachment; filename="Broken chair.eml"'],
    content: `${new TextDecoder().decode(eml)}${CRLF}`,
  };
  const parts = [textPart('text/plain', 'Can you answer her?'), forwarded];
  return [writeMail(context, { Subject: 'Fwd: Broken chair' }, multipart('mixed', context.values.marker, parts))];
}

/** Sequences of mails, and mails in mails. */
export const THREAD_SAMPLES: SampleTable<'threads'> = {
  'no-message-id': {
    standard: 'RFC 5322 §3.6.4',
    should: 'Answer it without a reference to its Message-ID.',
    mustNot: 'Fail, or treat it as a copy of another mail without a Message-ID.',
    mails: [[{ ...SUBJECT, 'Message-ID': undefined }, 'Can I still change the address?']],
  },
  'repeated-message-id': {
    standard: 'RFC 5322 §3.6.4',
    should: 'Read both mails, because they differ.',
    mustNot: 'Drop the second one as a duplicate.',
    handling: 'reading',
    mails: ['Please send two chairs.', 'Please send three chairs, not two.'].map((text) => [SUBJECT, text, SAME_ID]),
  },
  'cut-references': {
    standard: 'RFC 5322 §3.6.4',
    should: 'Find the conversation by subject, sender and quote.',
    mustNot: 'Treat it as a new request without a history.',
    handling: 'reading',
    mails: [
      [SUBJECT, 'The chair came with three legs.'],
      [
        {
          Subject: 'Re: Order {number}',
          'In-Reply-To': '<{marker}.lost@gateway.test>',
          References: '<{marker}.lost@gateway.test>',
        },
        'It is the left one at the back.\n\n> The chair came with three legs.',
      ],
    ],
  },
  'thread-of-200': {
    standard: 'RFC 5322 §3.6.4',
    should: 'Read the latest mails first and shorten the rest.',
    mustNot: 'Load the whole conversation into one prompt, or answer each mail.',
    handling: 'reading',
    mails: writeLongThread,
  },
  'quote-gmail': {
    standard: 'RFC 3676 §4.5; the style of Gmail',
    ...QUOTE_ADVICE,
    mails: createAnswerWriter(
      `On Tue, 6 Jan 2026 at 09:00, Helpdesk <{inbox}> wrote:\n\n${quoteText(SENT)}`,
      '<div class="gmail_quote">On Tue, 6 Jan 2026 at 09:00, Helpdesk wrote:<blockquote ' +
        `class="gmail_quote">${SENT_HTML}</blockquote></div>`,
    ),
  },
  'quote-outlook': {
    standard: 'no standard; the style of Outlook',
    ...QUOTE_ADVICE,
    mails: createAnswerWriter(
      `________________________________\n${OUTLOOK_HEAD}\n\n${SENT}`,
      `<p class="MsoNormal">${OUTLOOK_HEAD.replaceAll('\n', '<br>')}</p><p>${SENT_HTML}</p>`,
    ),
  },
  'quote-apple-mail': {
    standard: 'RFC 3676 §4.5; the style of Apple Mail',
    ...QUOTE_ADVICE,
    mails: createAnswerWriter(
      quoteText(`On 6 Jan 2026, at 09:00, Helpdesk <{inbox}> wrote:\n\n${SENT}`),
      `<blockquote type="cite"><div>On 6 Jan 2026, at 09:00, Helpdesk wrote:</div><br>${SENT_HTML}</blockquote>`,
    ),
  },
  'forwarded-as-attachment': {
    standard: 'RFC 2046 §5.2.1',
    should: 'Read the attached mail as the words of its own sender.',
    mustNot: 'Treat the attached mail as words of the person who forwarded it.',
    handling: 'reading',
    mails: writeForwarded,
  },
};
