import { createMailbox } from 'agent-mailbox-mock';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type AssumptionId, createSilentReader, parseBehaviours } from '../../src/contract/behaviours.ts';
import type { OperationDefinition } from '../../src/contract/operation.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../../src/contract/operations.ts';
import { findInOperations, type OperationFinding } from '../../src/verify/operation-findings.ts';
import type { Recording } from '../../src/verify/recording.ts';
import { TOLD_BY_OPERATIONS } from '../../src/verify/told-by-operations.ts';
import { BROKEN_SERVERS, type Break, INTACT, OLD_LEAK } from './broken-servers.ts';
import { recordSequence } from './record-sequence.ts';
import { TOLD_SERVERS } from './told-servers.ts';
import { UNFORESEEN } from './unforeseen-servers.ts';

/** Runs the sequence of operations on an emulator whose replies are changed. */
const record = (broken: Break) => recordSequence(createMailbox(), broken);

/** The fields that no client can cause: a new list has no entries, and a real domain is verified by its DNS records. */
const NOT_COMPARED_FIELDS = [
  ...['email', 'displayName', 'metadata'].map((name) => `createList: ${name}`),
  ...['status', 'inboundEnabled', 'outboundEnabled', 'verifiedAt'].map((name) => `verifyDomain: ${name}`),
];

const { readBehaviour } = createSilentReader(parseBehaviours());

function replySchema(id: OperationId): z.ZodType | undefined {
  const row: OperationDefinition = OPERATIONS[id];
  return row.content ? undefined : row.reply(readBehaviour);
}

/** The names of all fields in a value of any depth. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => [name, ...namesIn(each)]);
}

/** The names of all fields in a JSON schema. */
function namesInSchema(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(namesInSchema);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { properties?: Record<string, unknown> };
  const { properties: _, ...rest } = schema as Record<string, unknown>;
  return [
    ...Object.keys(properties),
    ...Object.values(properties).flatMap(namesInSchema),
    ...namesInSchema(Object.values(rest)),
  ];
}

/** All broken servers by `npm run test:all -- verify-breaks`, which takes minutes; otherwise one of each kind or so. */
const ASKED = BROKEN_SERVERS.filter((_, index) => process.env.BROKEN_SERVERS === 'all' || index % 15 === 0);

/** Those that show what was there before the run. */
const OLD_LEAKS = BROKEN_SERVERS.filter(({ name }) => name.startsWith(OLD_LEAK)).filter(
  (_, index) => process.env.BROKEN_SERVERS === 'all' || index === 0,
);

/** Some rows of a table that begin with their names; all of them in the suite, because each is a run of thousands of requests. */
const someOf = <Row>(table: readonly (readonly [name: string, row: Row])[], count: number) => {
  const distance = process.env.BROKEN_SERVERS === 'all' ? 1 : Math.ceil(table.length / count);
  return table.filter((_, index) => index % distance === 0);
};

const differing = (findings: readonly OperationFinding[]) => findings.filter(({ verdict }) => verdict === 'differs');

describe('the comparison of operations', () => {
  let emulator: Recording;
  beforeAll(async () => {
    emulator = await record(INTACT);
  });

  test('an emulator agrees with itself in everything', async () => {
    const findings = findInOperations(await record(INTACT), emulator);
    expect(findings.filter(({ verdict }) => verdict !== 'agrees').map(({ id }) => id)).toEqual([
      'streams: what each key is told of',
    ]);
    expect(findings.length).toBeGreaterThan(150);
  });

  test('there are at least 120 broken servers', () => {
    expect(new Set(BROKEN_SERVERS.map(({ name }) => name)).size).toBeGreaterThanOrEqual(120);
  });

  test.for(ASKED.map((server) => [server.name, server] as const))(
    'what is broken is named, and nothing that does not follow from it: %s',
    async ([, { named, create }]) => {
      const findings = differing(findInOperations(await record(create()), emulator));
      expect([...new Set(findings.map(({ operation }) => operation))]).toEqual(named);
    },
  );

  test.for(
    someOf(
      UNFORESEEN.map((server) => [server.name, server] as const),
      12,
    ),
  )('a server is named that is broken in a way for which no check was written: %s', async ([, { create }]) => {
    const findings = differing(findInOperations(await record(create()), emulator));
    expect(findings.map(({ id }) => id)).not.toEqual([]);
  });

  test.for(someOf(Object.entries(TOLD_SERVERS), 2))(
    'an assumption that needs no experiment is told by the statements about operations: %s',
    async ([id, create]) => {
      const findings = findInOperations(await record(create()), emulator);
      const told = findings.filter((finding) => TOLD_BY_OPERATIONS[id as AssumptionId]?.includes(finding.id as never));
      expect(told.filter(({ verdict, followsFrom }) => verdict === 'differs' || followsFrom)).not.toEqual([]);
    },
  );

  test('no finding shows a secret or a key', async () => {
    const leak = BROKEN_SERVERS.find(({ name }) => name === 'leak of the other tenant: listWebhooks');
    const server = await record(leak?.create() ?? INTACT);
    const text = JSON.stringify(findInOperations(server, emulator));
    expect(text).toContain('of the other tenant, which this key must not see');
    expect(text).not.toMatch(/whsec_[\w+/]{8}|(?:sa|tk|wk|ak)_[\w-]{10,}/);
  });

  test.for(OLD_LEAKS.map((server) => [server.name, server] as const))(
    'of objects that were there before, only their number is printed: %s',
    async ([, { named, create }]) => {
      const [finding] = differing(findInOperations(await record(create()), emulator));
      const request = `${named[0]}(?: with limit=200)? by the key of the other tenant`;
      expect(finding?.id).toBe(`${named[0]}: items`);
      expect(finding?.found).toMatch(
        new RegExp(
          `^items: \\d+ ids? that the list of the tenant key shows too, of objects that this run did not create \\(${request}\\)$`,
        ),
      );
    },
  );

  test('each statement that tells an assumption is made', () => {
    const made = findInOperations(emulator, emulator).map(({ id }) => id);
    expect(Object.values(TOLD_BY_OPERATIONS).flat()).not.toEqual([]);
    expect(
      Object.values(TOLD_BY_OPERATIONS)
        .flat()
        .filter((id) => !made.includes(id)),
    ).toEqual([]);
  });

  test('each operation is in a comparison of a success', () => {
    const succeeded = [...emulator.requests.values()].filter(({ reply }) => reply && reply.status < 300);
    const compared = new Set(succeeded.map(({ operation }) => operation));
    expect(OPERATION_IDS.filter((id) => !compared.has(id))).toEqual([]);
  });

  test('each field of each reply is in a comparison', () => {
    const shown = new Map<string, Set<string>>();
    for (const { operation, reply, ignored = [] } of emulator.requests.values()) {
      if (!reply || reply.status >= 300) continue;
      const names = shown.get(operation) ?? new Set();
      for (const name of namesIn(reply.body)) if (!ignored.includes(name)) names.add(name);
      shown.set(operation, names);
    }
    const missing = OPERATION_IDS.flatMap((id) => {
      const schema = replySchema(id);
      const names = schema ? namesInSchema(z.toJSONSchema(schema, { unrepresentable: 'any' })) : [];
      return [...new Set(names)].filter((name) => !shown.get(id)?.has(name)).map((name) => `${id}: ${name}`);
    });
    expect(missing).toEqual(NOT_COMPARED_FIELDS);
  });
});
