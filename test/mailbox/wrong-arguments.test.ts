import * as main from 'agent-mailbox-mock';
import * as express from 'agent-mailbox-mock/express';
import { matchers } from 'agent-mailbox-mock/matchers';
import * as receivers from 'agent-mailbox-mock/receiver';
import * as samples from 'agent-mailbox-mock/samples';
import * as servers from 'agent-mailbox-mock/server';
import * as vitest from 'agent-mailbox-mock/vitest';
import { expect, test } from 'vitest';
import { SHARED_OPTION_NAMES } from '../../src/mailbox/mailbox-options.ts';
import { MailboxClient, SandboxClient } from '../../src/testing/client/mailbox-client.ts';

type AnyFunction = (...input: never[]) => unknown;

/** Values that a program without types passes by mistake. */
const WRONG = [undefined, null, 7, 'text', {}, { nothing: true }, [], [null]];

/** The sentences in which V8 says that a program uses a value wrongly; they name code of ours, and not of the user. */
const OF_V8 =
  /^Cannot (?:read|set|convert|destructure|use|assign|access|create)|is not (?:a function|iterable|async iterable|a constructor|defined)|^Class constructor|called on incompatible|^Reduce of empty|circular structure|Maximum call stack/;

/** Calls a function with these arguments, and waits a moment for a promise. Returns the message of its error. */
async function errorOf(call: () => unknown): Promise<string | undefined> {
  const late = Symbol('late');
  try {
    const result = await Promise.race([call(), new Promise((resolve) => setImmediate(resolve, late))]);
    const { close } = Object(result) as { close?: unknown };
    if (typeof close === 'function') await close();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : `not an error: ${String(error)}`;
  }
}

/** Returns every call with wrong arguments whose error is a sentence of V8. */
async function findUnexplained(functions: Readonly<Record<string, unknown>>): Promise<string[]> {
  const found: string[] = [];
  for (const [name, value] of Object.entries(functions)) {
    // A class that is exported is there for `instanceof`.
    if (typeof value !== 'function' || /^class\b/.test(String(value))) continue;
    const lists = [[], ...WRONG.flatMap((each) => [[each], [{}, each], ['text', each]])];
    for (const input of lists) {
      const message = await errorOf(() => (value as AnyFunction)(...(input as never[])));
      if (message !== undefined && OF_V8.test(message)) found.push(`${name}(${input.map(String)}): ${message}`);
    }
  }
  return found;
}

/** Returns the functions of an object, also those of its class. */
function methodsOf(owner: object): Record<string, unknown> {
  const names = new Set<string>();
  for (let each = owner; each && each !== Object.prototype; each = Object.getPrototypeOf(each))
    for (const name of Object.getOwnPropertyNames(each)) names.add(name);
  const entries = [...names].filter((name) => !['constructor', 'close', 'handlers'].includes(name));
  return Object.fromEntries(
    entries.flatMap((name) => {
      const value: unknown = Reflect.get(owner, name);
      return typeof value === 'function' ? [[name, value.bind(owner)]] : [];
    }),
  );
}

const ENTRIES = { main, servers, receivers, samples, express };

for (const [name, entry] of Object.entries(ENTRIES)) {
  test(`no function of the entry ${name} answers a wrong argument with an error of V8`, async () => {
    expect(await findUnexplained({ ...entry })).toEqual([]);
  });
}

test('no function of the entry vitest answers a wrong argument with an error of V8', async () => {
  expect(await findUnexplained({ createMailboxTest: vitest.createMailboxTest })).toEqual([]);
});

test('no method of a mailbox, its clock or a receiver answers a wrong argument with an error of V8', async () => {
  const mailbox = main.createMailbox();
  await using receiver = receivers.createReceiver();
  expect(await findUnexplained(methodsOf(mailbox.clock))).toEqual([]);
  expect(await findUnexplained(methodsOf(mailbox))).toEqual([]);
  expect(await findUnexplained(methodsOf(receiver))).toEqual([]);
});

test('no method of the client of Playwright answers a wrong argument with an error of V8', async () => {
  await using server = await servers.startServer({ port: 0 });
  const address = { baseUrl: server.url, control: server.control, token: server.controlToken };
  const constructors = {
    MailboxClient: (...input: never[]) => new MailboxClient(...(input as unknown as [typeof address])),
    create: (...input: never[]) => SandboxClient.create(...(input as unknown as [typeof address])),
  };
  expect(await findUnexplained(constructors)).toEqual([]);
  const client = new MailboxClient(address);
  expect(await findUnexplained({ ...methodsOf(client), ...methodsOf(client.clock) })).toEqual([]);
});

test('no matcher answers a wrong value or a wrong expectation with an error of V8', async () => {
  const mailbox = main.createMailbox();
  expect.extend(matchers);
  const calls = Object.keys(matchers).map((name) => [
    name,
    (received: unknown, expected: unknown) =>
      (expect(received === 'text' ? mailbox : received) as never as Record<string, AnyFunction>)[name]?.(
        expected as never,
      ),
  ]);
  expect(await findUnexplained(Object.fromEntries(calls))).toEqual([]);
});

test('no wrong type of an option is answered with an error of V8', async () => {
  const functions: Readonly<Record<string, readonly [AnyFunction, readonly string[]]>> = {
    createMailbox: [main.createMailbox as AnyFunction, ['baseUrl', ...SHARED_OPTION_NAMES]],
    createReceiver: [receivers.createReceiver as AnyFunction, ['secret', 'answers', 'now']],
    createMailboxMiddleware: [express.createMailboxMiddleware as AnyFunction, SHARED_OPTION_NAMES],
    runSamples: [
      ((options: never) => samples.runSamples(() => {}, options)) as AnyFunction,
      ['samples', 'seed', 'to', 'createMailbox'],
    ],
    addWebhook: [
      main.createMailbox().addWebhook as AnyFunction,
      ['url', 'events', 'inbox', 'workspace', 'tenant', 'receiver'],
    ],
  };
  for (const [name, [call, options]] of Object.entries(functions)) {
    for (const option of options) {
      const wrong = (value: unknown) => call({ [option]: value } as never);
      expect(await findUnexplained({ [`${name} with ${option}`]: wrong })).toEqual([]);
    }
  }
});

test('the errors say what would be right', async () => {
  const call = (each: unknown, ...input: unknown[]) => (each as AnyFunction)(...(input as never[]));
  const mailbox = main.createMailbox();
  expect(() => call(main.createMailbox, null)).toThrow('createMailbox takes an object of options, not null.');
  expect(() => call(main.createMailbox, { journalSize: Number.NaN })).toThrow('from 0 to 100000, not NaN.');
  for (const [name, value, shown] of [
    ['maxMailBytes', 7n, 'a whole number of bytes above 0, not 7.'],
    ['baseUrl', 7n, 'without query, fragment or password, not 7.'],
    ['persist', mailbox, '"session" or "local", not an object.'],
  ] as const) {
    expect(() => call(main.createMailbox, { [name]: value })).toThrow(`The option ${name} must be`);
    expect(() => call(main.createMailbox, { [name]: value })).toThrow(shown);
  }
  expect(() => call(mailbox.receives)).toThrow('receives takes an address, not undefined.');
  expect(() => call(receivers.createReceiver, { respond: 500 })).toThrow(
    'createReceiver has no option "respond"; there are: secret, answers, now.',
  );
  await expect(call(samples.runSamples)).rejects.toThrow(
    'runSamples takes an agent, which is a function, not undefined.',
  );
  expect(() => call(samples.getSample)).toThrow('The name of a sample must be a text, not undefined.');
  expect(() => call(mailbox.clock.now, { tennant: 'x' })).toThrow(
    'The input of the clock is not valid: has unknown fields: "tennant" (did you mean tenant?).',
  );
  await expect(call(mailbox.addWebhook)).rejects.toThrow('The webhook is not valid: url must be a URL.');
  await expect(call(mailbox.addWebhook, { receiver: {} })).rejects.toThrow('receiver must be one that createReceiver');
});
