import { createSample, type SampleName, samples, samplesFor } from 'agent-mailbox-mock/samples';
import { test, vi } from 'vitest';
import { DISAGREEMENTS } from './disagreements.ts';
import { HAS_PYTHON, type Reading, readThrice } from './read-mail.ts';

// One sample has 10 MB, and another one 200 mails.
vi.setConfig({ testTimeout: 120_000 });

const NAMES = [
  ...samples.flatMap(({ name, twin }) => [name, ...(twin === undefined ? [] : [twin as SampleName])]),
  ...samplesFor().flatMap((name) => [name, `${name}-harmless` as const]),
];

/** Whether this version of Node decodes Windows-1252 as ISO 8859-1, which postal-mime then does too. */
const HAS_WRONG_DECODER = new TextDecoder('windows-1252').decode(Uint8Array.of(0x80)) !== '€';

function expectedDisagreement(name: SampleName): readonly (keyof Reading)[] {
  if (name === 'charset-windows-1252' && HAS_WRONG_DECODER) return ['subject', 'plainBody'];
  return DISAGREEMENTS[name]?.fields ?? [];
}

test('three parsers read every sample the same, but for the listed fields', async ({ expect, skip }) => {
  skip(!HAS_PYTHON, 'Python is not installed; its email package is the third parser.');
  const mails = NAMES.flatMap((name) =>
    createSample(name, { to: 'helpdesk@acme.test' }).mails.map(({ eml }) => ({ name, eml })),
  );
  const readings = Object.values(await readThrice(mails.map(({ eml }) => eml)));
  const found = new Map<SampleName, Set<string>>();
  for (const [index, { name }] of mails.entries()) {
    const fields = found.get(name) ?? new Set();
    found.set(name, fields);
    const [first, ...others] = readings.map((list) => list[index] as Reading);
    for (const field of Object.keys(first as Reading) as (keyof Reading)[]) {
      const isSame = others.every((other) => JSON.stringify(other[field]) === JSON.stringify(first?.[field]));
      if (!isSame) fields.add(field);
    }
  }
  const wrong = NAMES.map((name) => [name, [...(found.get(name) ?? [])], expectedDisagreement(name)] as const);
  expect(wrong.map(([name, fields]) => [name, fields])).toEqual(wrong.map(([name, , expected]) => [name, expected]));
  expect(readings).toHaveLength(3);
});
