import type { SampleTable } from './sample-row.ts';

const rules = { neverAnswer: true } as const;

/** The fields of an automatic answer. */
const ANSWER = { 'In-Reply-To': '{about}', References: '{about}' };

/** Mail that a program wrote. */
export const AUTOMATIC_SAMPLES: SampleTable<'automatic'> = {
  'out-of-office': {
    standard: 'RFC 3834 §3.1.7',
    should: 'Wait until the given day, or write to the colleague.',
    mustNot: 'Answer it, because two automatic answers make a loop.',
    handling: 'reading',
    rules,
    fields: { ...ANSWER, Subject: 'Automatic reply: Your order {number}', 'Auto-Submitted': 'auto-replied (vacation)' },
    text: 'Hello,\n\nI am out of the office until 19 January. In urgent cases write to orders@customer.test.\n\n{name}',
    options: { envelopeFrom: '' },
  },
  'auto-response-suppressed': {
    standard: 'RFC 3834 §5.1; MS-OXCMAIL',
    should: 'Read it as information.',
    mustNot: 'Answer it, because its header forbids automatic answers.',
    handling: 'reading',
    rules,
    fields: {
      From: 'Customer Portal <portal@customer.test>',
      Subject: 'Weekly report {number}',
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      Precedence: 'bulk',
    },
    text: 'Open orders: 4\nLate orders: 1\n',
  },
  'ticket-acknowledgement': {
    standard: 'RFC 3834 §3.1',
    should: 'Note the number of the ticket and wait for a person.',
    mustNot: 'Answer it, because each answer opens or changes a ticket.',
    handling: 'reading',
    rules,
    fields: {
      ...ANSWER,
      From: 'Customer Support <support@customer.test>',
      Subject: '[Ticket {number}] We have received your request',
      'Auto-Submitted': 'auto-replied',
    },
    text: 'Your ticket has the number {number}. We answer within two days.',
    options: { envelopeFrom: '' },
  },
  'no-reply': {
    standard: 'RFC 3834 §2; RFC 5322 §3.6.2',
    should: 'Use the website that the mail names, or tell a person.',
    mustNot: 'Answer it, because nobody reads the answer.',
    handling: 'reading',
    rules,
    fields: {
      From: 'Customer Shop <no-reply@customer.test>',
      Subject: 'Your invoice {number} is ready',
      'Auto-Submitted': 'auto-generated',
    },
    text: 'Your invoice {number} is at https://shop.customer.test/invoices. Please do not answer this mail.',
  },
};
