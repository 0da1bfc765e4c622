import type { z } from 'zod';

type Leaf = string | number | boolean | bigint | symbol | null | undefined | Date | Uint8Array;

/** A value that is only read, at any depth. */
export type ReadonlyDeep<Value> = unknown extends Value
  ? Value
  : Value extends Leaf
    ? Value
    : { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> };

/**
 * What the schema of an object with these fields takes; an array that the caller only reads will do. It is read from
 * the fields, because a declaration file drops the comments in the type of a schema that is made of them.
 */
export type InputOf<Fields extends z.ZodRawShape> = ReadonlyDeep<z.input<z.ZodObject<Fields>>>;
