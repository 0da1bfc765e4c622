import type { z } from 'zod';
import type { ReadonlyDeep } from '../../basics/lazy-schema.ts';
import type { OPERATIONS, OperationId, ReplyOf } from '../operations.ts';
import type { QueryValue } from '../query.ts';

type Table = typeof OPERATIONS;

/** Each parameter of a path as an argument. The labels are the names that an editor shows. */
interface PathArguments {
  id: [id: string];
  key_id: [keyId: string];
  address: [address: string];
  messageId: [messageId: string];
  attachmentId: [attachmentId: string];
  threadId: [threadId: string];
  draftId: [draftId: string];
  listId: [listId: string];
  entryId: [entryId: string];
  domain: [domain: string];
}

/** The arguments for the parameters of a path, in their order. */
type ArgumentsIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [...PathArguments[Name & keyof PathArguments], ...ArgumentsIn<Rest>]
  : [];

/** The schema that the function in a field of a row returns. */
type SchemaIn<Row, Field extends string> =
  Row extends Record<Field, (...input: never[]) => infer Schema extends z.ZodType> ? Schema : never;

/** The fields of a body. A field that can be left out under some behaviours is optional. */
type BodyInput<Row> =
  z.input<SchemaIn<Row, 'body'>> extends infer Fields
    ? Flat<
        {
          readonly [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: ReadonlyDeep<Fields[Name]>;
        } & {
          readonly [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: ReadonlyDeep<Fields[Name]>;
        }
      >
    : never;

/** Writes an intersection as one object, so that an editor shows its fields. */
type Flat<Type> = Type extends unknown ? { readonly [Name in keyof Type]: Type[Name] } : never;

/** The argument for the body: optional if every field is. An operation without a body has no such argument. */
type BodyArgument<Row> = Row extends { readonly body: unknown }
  ? Record<never, never> extends BodyInput<Row>
    ? [body?: BodyInput<Row>]
    : [body: BodyInput<Row>]
  : [];

type QueryInput<Row> =
  SchemaIn<Row, 'query'> extends infer Schema extends z.ZodObject
    ? { readonly [Name in keyof z.input<Schema>]: QueryValue<z.input<Schema>[Name], Parsed<Schema, Name>> }
    : never;

type Parsed<Schema extends z.ZodObject, Name extends PropertyKey> = z.output<Schema>[Name & keyof z.output<Schema>];

/** What a call can have besides its path and its body. */
export interface CallOptions {
  /** Further headers of the request. They replace those that the client sets. */
  readonly headers?: HeadersInit | undefined;
  /** Ends the call when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** The last argument of a method. */
type OptionsArgument<Row> = Row extends { readonly query: unknown }
  ? [options?: CallOptions & { readonly query?: QueryInput<Row> | undefined }]
  : [options?: CallOptions];

/** Every key of every type of a union. An object that has no fields, or any fields, has none. */
type KeyOf<Type> = Type extends unknown ? (string extends keyof Type ? never : keyof Type) : never;

/** What a key has in the types of a union: also `undefined`, if a type of the union does not have the key. */
type ValueAt<Type, Key extends PropertyKey> = Type extends unknown
  ? string extends keyof Type
    ? undefined
    : Key extends keyof Type
      ? Type[Key]
      : undefined
  : never;

type List = readonly unknown[];

/**
 * A reply whose form depends on behaviours is one object, in which what only some of the forms have can be `undefined`.
 * A test can then read each field without finding out first which form it has. All of these types are conditional,
 * because the declarations then have their results.
 */
type Joined<Type> = [Extract<Type, object>] extends [never]
  ? Type
  : Exclude<Type, object> | Extract<Type, Uint8Array> | JoinedList<Extract<Type, List>> | JoinedObject<ObjectIn<Type>>;

type ObjectIn<Type> = Exclude<Extract<Type, object>, List | Uint8Array>;

type JoinedList<Type extends List> = [Type] extends [never] ? never : readonly Joined<Type[number]>[];

type JoinedObject<Type> = [Type] extends [never]
  ? never
  : [KeyOf<Type>] extends [never]
    ? Type
    : { readonly [Key in KeyOf<Type>]: Joined<ValueAt<Type, Key>> };

/** A method for each operation, by its id. */
export type ServiceClient = {
  readonly [Id in OperationId]: (
    ...input: [...ArgumentsIn<Table[Id]['path']>, ...BodyArgument<Table[Id]>, ...OptionsArgument<Table[Id]>]
  ) => Promise<Joined<ReplyOf<Id>>>;
};
