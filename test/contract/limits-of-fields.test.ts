import { expect, test } from 'vitest';
import type { z } from 'zod';
import { parseBehaviours } from '../../src/contract/behaviours.ts';
import type { OperationDefinition } from '../../src/contract/operation.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { clientFrame } from '../../src/contract/stream-protocol.ts';
import { listControlRows } from '../../src/control/table/table.ts';
import { fixtureSchema } from '../../src/fixture/schema.ts';

interface Definition {
  readonly type?: string;
  readonly checks?: readonly {
    readonly _zod: { readonly def: { readonly check: string; readonly abort?: boolean } };
  }[];
}

/** Lists the texts in a schema whose further checks also run on what is too long, by their paths. */
function findUnbounded(value: unknown, path: string, seen: Set<unknown>): string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  const def = (value as { readonly _zod?: { readonly def: Definition } })._zod?.def;
  const checks = (def?.checks ?? []).map((check) => check._zod.def);
  const limit = checks.findIndex(({ check, abort }) => check === 'max_length' && !abort);
  const isUnbounded = def?.type === 'string' && limit >= 0 && limit < checks.length - 1;
  const parts = Array.isArray(value) ? Object.entries(value) : Object.entries(def ?? value);
  const within = parts.flatMap(([name, part]) =>
    name === 'checks' ? [] : findUnbounded(part, `${path}.${name}`, seen),
  );
  return isUnbounded ? [path, ...within] : within;
}

test('no check runs on a text that is too long', () => {
  const behaviours = parseBehaviours();
  const readBehaviour = (id: keyof typeof behaviours) => behaviours[id];
  const operations = Object.entries<OperationDefinition>(OPERATIONS).map(([id, { params, query, body }]) => {
    const schemas = [params, query?.(readBehaviour as never), body?.(readBehaviour as never)];
    return [id, schemas] as const;
  });
  const controls = listControlRows().map(({ id, params, query, body }) => [id, [params, query, body]] as const);
  const others: [string, readonly (z.ZodType | undefined)[]][] = [
    ['fixture', [fixtureSchema()]],
    ['frame', [clientFrame()]],
  ];
  const all = [...operations, ...controls, ...others];
  expect(all.flatMap(([id, schemas]) => findUnbounded(schemas, id, new Set()))).toEqual([]);
});
