import type { z } from 'zod';

type Leaf = string | number | boolean | bigint | symbol | null | undefined | Date | Uint8Array;

/** A value that is only read, at any depth. */
export type ReadonlyDeep<Value> = unknown extends Value
  ? Value
  : Value extends Leaf
    ? Value
    : { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> };

/**
 * What a schema takes. An array that the caller only reads will do. The comments on the properties of the schema show
 * in an editor.
 */
export type InputOf<Schema extends z.ZodType> = ReadonlyDeep<z.input<Schema>>;
