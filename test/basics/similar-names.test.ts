import { BEHAVIOURS } from 'agent-mailbox-mock';
import { test } from 'vitest';
import { findSimilarNames } from '../../src/basics/similar-names.ts';

const COMMANDS = ['start', 'receive', 'trigger', 'init', 'validate'];

test.for<[text: string, names: readonly string[], found: string[]]>([
  ['strat', COMMANDS, ['start']],
  ['recieve', COMMANDS, ['receive']],
  ['TRIGGER', COMMANDS, ['trigger']],
  ['int', COMMANDS, ['init']],
  ['prot', ['port', 'host'], ['port']],
  ['valid', COMMANDS, ['validate']],
  ['serve', COMMANDS, []],
  ['', COMMANDS, []],
  ['it', COMMANDS, []],
  ['__proto__', COMMANDS, []],
  ['webhooks.list.secrets', Object.keys(BEHAVIOURS), ['webhooks.list.secret', 'webhooks.get.secret']],
  ['webhook.secret', Object.keys(BEHAVIOURS), ['webhooks.get.secret', 'webhooks.list.secret']],
  ['canonical', Object.keys(BEHAVIOURS), ['inboxes.addresses.delete.canonical']],
])('finds for %j in a list what was meant by it', ([text, names, found], { expect }) => {
  expect(findSimilarNames(text, names).slice(0, 2)).toEqual(found);
});

test('returns nothing at once for a text that is far longer than every name', ({ expect }) => {
  expect(findSimilarNames('x'.repeat(10_000_000), COMMANDS)).toEqual([]);
});

test('returns at most five names', ({ expect }) => {
  expect(findSimilarNames('inboxes', Object.keys(BEHAVIOURS))).toHaveLength(5);
});
