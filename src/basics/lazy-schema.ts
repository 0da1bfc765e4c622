import type { z } from 'zod';

/** Returns a function that creates a value at its first call and returns the same value from then on. */
export function lazy<Value extends object | string>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}

type Leaf =
  | (string | number | boolean | bigint | symbol | null | undefined)
  | (Date | RegExp | Uint8Array)
  | ((...parameters: never[]) => unknown);

/** A value that is read-only at any depth. */
export type ReadonlyDeep<Value> = unknown extends Value
  ? Value
  : Value extends Leaf
    ? Value
    : { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> };

/** The input of each field. If a field accepts any value, such as the text of a query, its output is used instead. */
type KnownInput<Input, Output> = {
  [Name in keyof Input]: unknown extends Input[Name] ? Output[Name & keyof Output] : Input[Name];
};

/**
 * The input of an object schema with these fields; arrays may be read-only. It is derived from the fields, because
 * declaration files lose the comments on fields in the type of the schema itself.
 */
export type InputOf<Fields extends z.ZodRawShape> = ReadonlyDeep<
  KnownInput<z.input<z.ZodObject<Fields>>, z.output<z.ZodObject<Fields>>>
>;

/** The output of an object schema with these fields; see `InputOf`. */
export type OutputOf<Fields extends z.ZodRawShape> = ReadonlyDeep<z.output<z.ZodObject<Fields>>>;
