import { writeMail } from './sample-mail.ts';
import type { SampleRow } from './sample-row.ts';

const rules = { neverAnswer: true } as const;

/** Mail that a program wrote. */
export const AUTOMATIC_SAMPLES = {
  'out-of-office': {
    standard: 'RFC 3834, section 3.1.7',
    should: 'Wait until the given day, or write to the colleague.',
    mustNot: 'Answer it, because two automatic answers make a loop.',
    rules,
    write: (context) =>
      writeMail(
        context,
        {
          Subject: `Automatic reply: Your order ${context.number}`,
          'In-Reply-To': context.about,
          References: context.about,
          'Auto-Submitted': 'auto-replied (vacation)',
        },
        'Hello,\n\nI am out of the office until 19 January. In urgent cases write to orders@customer.test.\n\n' +
          context.person.name,
        { envelopeFrom: '' },
      ),
  },
  'auto-response-suppressed': {
    standard: 'RFC 3834, section 5.1; MS-OXCMAIL',
    should: 'Read it as information.',
    mustNot: 'Answer it, because its header forbids automatic answers.',
    rules,
    write: (context) =>
      writeMail(
        context,
        {
          From: 'Customer Portal <portal@customer.test>',
          Subject: `Weekly report ${context.number}`,
          'Auto-Submitted': 'auto-generated',
          'X-Auto-Response-Suppress': 'All',
          Precedence: 'bulk',
        },
        'Open orders: 4\nLate orders: 1\n',
      ),
  },
  'ticket-acknowledgement': {
    standard: 'RFC 3834, section 3.1',
    should: 'Note the number of the ticket and wait for a person.',
    mustNot: 'Answer it, because each answer opens or changes a ticket.',
    rules,
    write: (context) =>
      writeMail(
        context,
        {
          From: 'Customer Support <support@customer.test>',
          Subject: `[Ticket ${context.number}] We have received your request`,
          'In-Reply-To': context.about,
          References: context.about,
          'Auto-Submitted': 'auto-replied',
        },
        `Thank you for your message. Your ticket has the number ${context.number}. We answer within two days.`,
        { envelopeFrom: '' },
      ),
  },
  'no-reply': {
    standard: 'RFC 3834, section 2; RFC 5322, section 3.6.2',
    should: 'Use the website that the mail names, or tell a person.',
    mustNot: 'Answer it, because nobody reads the answer.',
    rules: { neverAnswer: true, neverWriteTo: ['no-reply@customer.test'] },
    write: (context) =>
      writeMail(
        context,
        {
          From: 'Customer Shop <no-reply@customer.test>',
          Subject: `Your invoice ${context.number} is ready`,
          'Auto-Submitted': 'auto-generated',
        },
        `Your invoice ${context.number} is at https://shop.customer.test/invoices. Please do not answer this mail.`,
      ),
  },
} as const satisfies Record<string, SampleRow>;
