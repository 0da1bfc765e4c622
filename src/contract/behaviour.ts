/**
 * The source of a default value or of an assumption: the service document, the public reference, or `assumed` if
 * neither states it. See README.md.
 */
export type Origin = 'document' | 'reference' | 'assumed';

/** Values that a behaviour accepts in addition to the listed ones. */
export interface OtherValues {
  /** A description of the valid values, for the end of a sentence. */
  readonly rule: string;
  /** Returns the normalised value, or `undefined` if the text is not valid. */
  parse(text: string): string | undefined;
}

/**
 * What a client needs to find out the value of a behaviour of a running service. `key` means a tenant key. Each other
 * value means a tenant key and something else: a key of another tenant, a key of the operator, an address for
 * deliveries, a mail from outside, or time that passes. If no client can find out the value, the text after
 * `not from outside` says why. The command `agent-mailbox-mock verify` uses this.
 */
export type NeedOfClient =
  | 'key'
  | 'two tenants'
  | 'operator'
  | 'receiver'
  | 'mail from outside'
  | 'time'
  | `not from outside: ${string}`;

/** The fields of every behaviour, with or without choices. */
interface CommonFields {
  /** A question about what the service does. */
  readonly question: string;
  /** The section of the service document that leaves the question open, such as `4.4`. See README.md. */
  readonly section: string;
  /** The source of the default or of the assumption. */
  readonly origin: Origin;
  /** What a client needs to find out the answer for a running service. */
  readonly observableWith: NeedOfClient;
}

/** A behaviour with several values, which a test author can change. */
export interface ChangeableDefinition extends CommonFields {
  /** Each value with its meaning. */
  readonly choices: Readonly<Record<string, string>>;
  /** Values that the behaviour accepts in addition to those of `choices`. */
  readonly otherValues?: OtherValues;
  /** The value that the behaviour has if a test author does not set one. */
  readonly default: string;
}

/** A behaviour with a single value, which cannot be changed. */
export interface AssumptionDefinition extends CommonFields {
  /** What the emulator does. */
  readonly assumption: string;
  /**
   * The ids of the operations that it is about. Without this field, it is about every request, or about something else
   * than operations, such as deliveries.
   */
  readonly operations?: readonly string[];
  /** The names of the fields of a query or a body that it is about, if it is about some fields only. */
  readonly fields?: readonly string[];
}

/** A behaviour: one entry of the ledger. */
export type BehaviourDefinition = ChangeableDefinition | AssumptionDefinition;

/** The answer to the question of a behaviour: an assumption, or the choices. */
type Answer = AssumptionDefinition['assumption'] | ChangeableDefinition['choices'];

/** The fields that a row of a table of behaviours can have in addition to its question, origin and answer. */
type OptionalFields<Value> = Partial<Pick<CommonFields, 'section' | 'observableWith'>> &
  Pick<AssumptionDefinition, 'operations' | 'fields'> &
  Pick<ChangeableDefinition, 'otherValues'> & { readonly default?: Value };

/** A row of a table of behaviours, with the exact types of its texts. */
type Row<Source, Question, Given, More> = More & {
  readonly question: Question;
  readonly origin: Source;
} & AnswerOf<Given>;

/** The field of a row that has its answer: `assumption` for a text, `choices` for an object. */
type AnswerOf<Given> = Given extends string ? { readonly assumption: Given } : { readonly choices: Given };

/** Creates a function that creates rows whose default value, or whose assumption, has this source. */
function createRowWriter<const Source extends Origin>(origin: Source) {
  return <
    const Question extends string,
    const Given extends Answer,
    const More extends OptionalFields<keyof Given> = Record<never, never>,
  >(
    question: Question,
    answer: Given,
    more?: More,
  ) => {
    const answerField = typeof answer === 'string' ? { assumption: answer } : { choices: answer };
    return { question, ...answerField, ...more, origin } as unknown as Row<Source, Question, Given, NoInfer<More>>;
  };
}

/** Creates a row of a table: a question with its choices or with an assumption. No document states the answer. */
export const assumed = createRowWriter('assumed');

/** Creates a row whose default value, or whose assumption, the public reference states. */
export const byReference = createRowWriter('reference');

/** Creates a row whose default value, or whose assumption, the service document states. */
export const byDocument = createRowWriter('document');

/** The operations that send a mail which the request contains. */
export const SENDS = ['sendMessage', 'replyToMessage', 'replyAllToMessage', 'forwardMessage'] as const;

/** Every operation that sends a mail. */
export const EVERY_SEND = [...SENDS, 'sendDraft'] as const;

/** The choices for the reply to deleting a resource, for most kinds of resource. */
export const DELETED = { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' } as const;

/** A row as it is written in a table, before the defaults are added. */
type WrittenRow = Row<Origin, string, Answer, OptionalFields<string>>;

/** The fields that `defineBehaviours` adds to a row. */
interface AddedFields<Section, Row> {
  readonly section: Section;
  readonly observableWith: NeedOfClient;
  readonly default: Row extends { readonly choices: infer Choices } ? keyof Choices : never;
}

/** The names of the fields of a completed row. A row without choices has no default. */
type FieldsOf<Row> =
  | keyof Row
  | 'section'
  | 'observableWith'
  | (Row extends { readonly choices: unknown } ? 'default' : never);

/** A row with the added fields. A field that the row has itself stays. */
type Completed<Section, Row> = {
  readonly [Field in FieldsOf<Row>]: Field extends keyof Row
    ? Row[Field]
    : Field extends keyof AddedFields<Section, Row>
      ? AddedFields<Section, Row>[Field]
      : never;
};

/** The rows of a table with the added fields. */
type CompletedRows<Section, Rows> = { readonly [Id in keyof Rows]: Completed<Section, Rows[Id]> };

/**
 * Completes the behaviours of one area. A row without `section` or `observableWith` gets that of `common`. A row without `default`
 * gets its first choice as the default.
 */
export function defineBehaviours<const Section extends string, Rows extends Readonly<Record<string, WrittenRow>>>(
  common: { readonly section: Section; readonly observableWith: NeedOfClient },
  rows: Rows,
): CompletedRows<Section, Rows> {
  const complete = ({ question, origin, ...row }: WrittenRow) => ({
    question,
    ...common,
    ...row,
    ...('choices' in row && { default: row.default ?? Object.keys(row.choices)[0] }),
    origin,
  });
  const completed: unknown = Object.fromEntries(Object.entries(rows).map(([id, row]) => [id, complete(row)]));
  return completed as CompletedRows<Section, Rows>;
}
