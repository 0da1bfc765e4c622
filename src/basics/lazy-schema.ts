import type { z } from 'zod';

/** Returns a function that creates a value at its first call and returns the same value from then on. */
export function lazy<Value extends object | string>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}

/** The types that `ReadonlyDeep` does not change. */
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

/**
 * The type of the input of each field. The schema of a number in a query, for example, accepts any value; such a field
 * has the type of its output.
 */
type KnownInput<Input, Output> = {
  [Name in keyof Input]: unknown extends Input[Name] ? Output[Name & keyof Output] : Input[Name];
};

/**
 * The type of the input of an object schema with these fields, in which arrays may be read-only. It is derived from the
 * fields, because in a declaration file, a type that is derived from the schema has no comments on its fields.
 */
export type InputOf<Fields extends z.ZodRawShape> = ReadonlyDeep<
  KnownInput<z.input<z.ZodObject<Fields>>, z.output<z.ZodObject<Fields>>>
>;

/** The type of the output of an object schema with these fields; see `InputOf`. */
export type OutputOf<Fields extends z.ZodRawShape> = ReadonlyDeep<z.output<z.ZodObject<Fields>>>;

/**
 * The schemas of the fields of a type that is written out. `z.strictObject({ … } satisfies FieldsOf<Type>)` does not
 * compile if a field is missing or has another type.
 */
export type FieldsOf<Type> = { readonly [Name in keyof Type]-?: z.ZodType<Type[Name]> };
