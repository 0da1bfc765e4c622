import { z } from 'zod';
import { name } from '../contract/schemas.ts';
import { parseSeed, SEED_RULE } from '../seeded-randomness.ts';

/** The schema of the options of `createSandbox`. */
export const sandboxOptions = z.strictObject(
  {
    fixture: z.record(z.string(), z.unknown(), 'must be a fixture').optional(),
    seed: z
      .custom<number>((value) => parseSeed(value) !== undefined, `must be ${SEED_RULE}`)
      .meta({ type: 'integer', minimum: 0 })
      .optional(),
    name: name(200).nullable().optional(),
  },
  'must be an object',
);
