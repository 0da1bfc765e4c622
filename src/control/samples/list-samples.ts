import type { SampleTable } from './sample-row.ts';

const LIST = 'makers@lists.test';

/** The fields that a list adds to each mail. */
const LIST_FIELDS = { 'List-Id': 'Makers <makers.lists.test>', 'List-Post': `<mailto:${LIST}>`, Precedence: 'list' };

const ENVELOPE = { envelopeFrom: 'makers-bounces@lists.test' };

/** Mail from a mailing list. */
export const LIST_SAMPLES: SampleTable<'lists'> = {
  'list-rewritten-from': {
    standard: 'RFC 2919 §3; RFC 7960 §4.1.3',
    should: 'Answer the author, whose address is in Reply-To.',
    mustNot: 'Treat the list as the author, or write to everybody on it.',
    rules: { neverWriteTo: [LIST] },
    fields: {
      ...LIST_FIELDS,
      From: `"{name} via Makers" <${LIST}>`,
      'Reply-To': '{name} <{address}>',
      Subject: '[Makers] Does anybody ship order {number}?',
    },
    text: 'Which of you ships order {number}?\n\n{firstName}\n-- \nMakers',
    options: ENVELOPE,
  },
  'list-one-click-unsubscribe': {
    standard: 'RFC 8058 §3; RFC 2369 §3.2',
    should: 'Unsubscribe by a POST to the https address in List-Unsubscribe, if that is wanted.',
    mustNot: 'Open the address by GET, or answer in order to unsubscribe.',
    handling: 'reading',
    rules: { neverAnswer: true, neverWriteTo: [LIST] },
    fields: {
      ...LIST_FIELDS,
      From: `Makers News <${LIST}>`,
      'List-Unsubscribe': '<mailto:leave@lists.test?subject={marker}>, <https://lists.test/u/{marker}>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      Subject: 'Makers News {number}',
    },
    text: 'The news of this month.',
    options: ENVELOPE,
  },
};
