import { describe, expect, test } from 'vitest';
import { findItems } from '../../src/inspector/find-items.ts';

const titles = (search: string, ...items: (string | { title: string; details?: string; isFound?: boolean })[]) =>
  findItems(
    items.map((item) => ({ details: '', ...(typeof item === 'string' ? { title: item } : item) })),
    search,
  ).map(({ title }) => title);

describe('a search for items', () => {
  test('finds those that have every word, in any order', () => {
    expect(titles('1042 invoice', 'Invoice 1042', 'Invoice 7', 'Order 1042')).toEqual(['Invoice 1042']);
    const mail = { title: 'Invoice', details: 'dana@customer.test' };
    expect(titles('DANA invoice', mail, 'Invoice')).toEqual(['Invoice']);
    expect(titles('dana zebra', mail)).toEqual([]);
  });

  test('puts the best matches first', () => {
    const inDetails = { title: 'A mail', details: 'about the clock' };
    expect(titles('clock', inDetails, 'Overclocked', 'Freeze the clock', 'Clock', 'Clock of Acme')).toEqual([
      'Clock',
      'Clock of Acme',
      'Freeze the clock',
      'Overclocked',
      'A mail',
    ]);
    expect(titles('by an hour', 'An hour by car', 'Advance by an hour')).toEqual([
      'Advance by an hour',
      'An hour by car',
    ]);
  });

  test('puts whole words before words that only begin so', () => {
    expect(titles('mail', 'Mailbox', 'A mailbox', 'New mail', 'Mail')).toEqual([
      'Mail',
      'New mail',
      'Mailbox',
      'A mailbox',
    ]);
    expect(titles('inbox', 'Inboxes of Acme', 'The inbox')).toEqual(['The inbox', 'Inboxes of Acme']);
  });

  test('keeps the order of equally good matches, and of everything if nothing is searched for', () => {
    expect(titles('mail', 'Mail b', 'Mail a', 'Mail c')).toEqual(['Mail b', 'Mail a', 'Mail c']);
    expect(titles(' ', 'b', 'a')).toEqual(['b', 'a']);
  });

  test('keeps what the emulator found by a text that the page does not have, behind what has the words', () => {
    const found = { title: 'Hello', isFound: true };
    expect(titles('invoice', found, { title: 'A mail', details: 'invoice' })).toEqual(['A mail', 'Hello']);
  });

  test('takes the words of a condition, and texts in quotation marks', () => {
    const mail = { title: 'Order 1042', details: 'dana@customer.test' };
    expect(titles('from:dana "order 1042"', mail)).toEqual(['Order 1042']);
  });
});
