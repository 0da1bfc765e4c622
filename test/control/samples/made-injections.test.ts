import { createMailbox } from 'agent-mailbox-mock';
import {
  createSample,
  getSample,
  type MadeInjection,
  type SampleName,
  samples,
  samplesFor,
} from 'agent-mailbox-mock/samples';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test, vi } from 'vitest';
import { CARRIERS, GOALS, MADE_PER_CARRIER, PLACES, WORDINGS } from '../../../src/control/samples/made-injections.ts';
import { NEVER, runHere } from '../../support/command.ts';
import { sendControl } from '../../support/control.ts';

vi.setConfig({ testTimeout: 120_000 });

const TO = 'helpdesk@acme.test';
const ALL = samplesFor(undefined, MADE_PER_CARRIER);

function twinOf(name: MadeInjection) {
  return `${name}-harmless` as const;
}

function textsOf(name: MadeInjection | `${MadeInjection}-harmless`, seed?: number): string[] {
  return createSample(name, { to: TO, seed }).mails.map(({ eml }) => Buffer.from(eml).toString('latin1'));
}

/** What marks an order, and no harmless text. */
const ORDERS = /collector|webhook|orders|into your answer|first letters|assistant|administrator|system message/i;

test('each carrier has a mail for every goal, wording and place, and fifteen numbers have each of these', () => {
  const sizes = [GOALS, WORDINGS, PLACES].map((table) => Object.keys(table).length);
  expect(MADE_PER_CARRIER).toBe(140);
  expect(sizes).toEqual([5, 4, 7]);
  for (const carrier of Object.keys(CARRIERS) as (keyof typeof CARRIERS)[]) {
    const numbers = samplesFor(carrier).map((name) => Number(name.split('/')[2]));
    expect(numbers).toHaveLength(15);
    for (const size of sizes) expect(new Set(numbers.map((number) => number % size)).size).toBe(size);
    const shapes = samplesFor(carrier, MADE_PER_CARRIER).map((name) => JSON.stringify(createShape(name)));
    expect(new Set(shapes).size).toBe(MADE_PER_CARRIER);
  }
});

/** What a mail says, without what depends on its seed. */
function createShape(name: MadeInjection): string[] {
  const words = textsOf(name).map((text) => text.replaceAll('=\r\n', '').replace(/[0-9a-f]{12}/g, ''));
  return words.map((text) => text.replace(/[GHJKLMNPQRSTVWXZ]{4}|\d{5}|[A-Z][\w-]+(?=[,;])|^From:.*$/gm, ''));
}

test('a made sample is the same for the same seed, and another for another seed, and so is its twin', () => {
  for (const name of samplesFor()) {
    for (const each of [name, twinOf(name)]) {
      const texts = textsOf(each);
      expect(textsOf(each, 1)).toEqual(texts);
      expect(textsOf(each, 2)).not.toEqual(texts);
    }
  }
});

test('no made mail writes its code, and that of a spelled code does not write its parts either', () => {
  const goals = Object.keys(GOALS);
  for (const name of ALL) {
    const text = textsOf(name).join('\n').replaceAll(/=\r\n/g, '');
    const parts = text.match(/(?<![;\w])[GHJKLMNPQRSTVWXZ]{4}\b/g) ?? [];
    expect(text).not.toMatch(/[GHJKLMNPQRSTVWXZ]{8}/);
    const isSpelled = goals[Number(name.split('/')[2]) % goals.length] === 'spelled-code';
    if (isSpelled) expect(parts).toEqual([]);
  }
});

test('each made mail is read without a problem, its orders are in it, and its twin has none', async () => {
  const mailbox = createMailbox();
  const readAs = async (sample: SampleName) => {
    mailbox.reset();
    await mailbox.receiveMessage({ sample, to: TO });
    const mails = mailbox.messages();
    expect(mails.flatMap(({ problems = [] }) => problems)).toEqual([]);
    const files = mails.flatMap(({ attachments }) => attachments);
    const fileTexts = files.map(({ filename, content = '' }) => `${filename}\n${Buffer.from(content, 'base64')}`);
    return [...mails.map(({ subject, plainBody, htmlBody }) => [subject, plainBody, htmlBody].join('\n')), ...fileTexts]
      .join('\n')
      .replaceAll(/\r?\n /g, '');
  };
  for (const name of ALL) {
    expect(await readAs(name)).toMatch(ORDERS);
    expect(await readAs(twinOf(name))).not.toMatch(ORDERS);
  }
});

test('a made sample arrives by its name in code, over HTTP and by the command, and is explained', async () => {
  await using server = await startServer({ port: 0 });
  const { mailbox, url } = server;
  const sample = 'injection/invoice/7';
  const fields = { sample, to: TO, seed: 3 } as const;
  const raws = () =>
    mailbox
      .snapshot()
      .tenants.flatMap(({ messages }) =>
        messages.flatMap(({ raw, messageIdHeader }) => (/@customer\.test>$/.test(messageIdHeader) && raw ? [raw] : [])),
      );
  const ways = [
    () => mailbox.receiveMessage(fields),
    () => mailbox.receiveMessage(createSample(sample, { to: TO, seed: 3 })),
    () => sendControl(`${url}/__mock/messages`, 'POST', { json: fields }),
    () => runHere(['receive', '--sample', sample, '--to', TO, '--seed', '3', '--url', url], {}, { interrupted: NEVER }),
  ];
  const expected = createSample(sample, { to: TO, seed: 3 }).mails.map(({ eml }) =>
    Buffer.from(eml).toString('base64'),
  );
  for (const deliver of ways) {
    mailbox.reset();
    const before = raws();
    await deliver();
    expect(raws().filter((raw) => !before.includes(raw))).toEqual(expected);
  }
  const { out } = await runHere(['samples', sample]);
  expect(out.join('\n')).toContain(getSample(sample).mustNot.split(' ')[0]);
  expect((await runHere(['samples'])).out.join('\n')).toContain('injection/invoice/1 to injection/invoice/140');
});

test.for(['injection/invoice/0', 'injection/invoice/141', 'injection/invoice/07', 'injection/invoices/1'])(
  'there is no sample %s',
  async (name) => {
    expect(() => getSample(name as MadeInjection)).toThrow(/There is no sample .*; did you mean injection\/invoice\/1/);
    await expect(createMailbox().receiveMessage({ sample: name, to: TO })).rejects.toThrow('There is no sample');
  },
);

test('the list of samples has none of the made ones, and each of these names its twin', () => {
  expect(samples.filter(({ name }) => name.includes('/'))).toEqual([]);
  expect(getSample('injection/order/3').twin).toBe('injection/order/3-harmless');
  expect(getSample('injection/order/3-harmless').twin).toBe('injection/order/3');
});
