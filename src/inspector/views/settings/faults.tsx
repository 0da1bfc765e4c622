import { useState } from 'preact/hooks';
import { type ControlClient, type InputTo, type ReplyTo, undefinedIfRefused } from '../../../control/table/client.ts';
import type { FaultName } from '../../../world/named-faults.ts';
import { useInspector } from '../../inspector.ts';
import { Button, Chip, Failure, Field, Form, Loading, Select, textIn } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { formatSpan } from '../../text.tsx';
import { RemovalButton } from '../../undo.tsx';
import { noEvent, useAction, useLoaded } from '../../use-loaded.ts';

type Fault = ReplyTo<'listFaults'>['faults'][number];

/** The list of faults is loaded again after any event, because it may use up a fault, or lower its field `after`. */
const anyEvent = () => true;

/** The faults that are set, and how to add one: by a preset, or by a form with every field. */
export function Faults({ chosen }: { readonly chosen: string | undefined }) {
  const { client } = useInspector();
  const scope = useScope();
  const { run, error: actionError, isRunning } = useAction();
  const { value, error } = useLoaded((client) => client.listFaults(), 'faults', anyEvent);
  const { value: schemas, error: schemaError } = useLoaded(loadSchemas, 'schemas', noEvent);
  const faults = value?.faults.filter((fault) => isInScope(scope, fault));
  const createAddCall = (name: FaultName) => (client: ControlClient) => client.addFault({ name, tenant: scope.tenant });
  // What strikes other tenants, too, stays.
  const own = faults?.filter(({ tenantId }) => scope.tenant === undefined || tenantId === scope.tenant) ?? [];
  const removeAll = async () => {
    for (const { id } of own) await client.removeFault({ id }).catch(undefinedIfRefused);
    return undefined;
  };
  return (
    <section class="card" aria-label="Faults">
      <div class="head">
        <h2>Faults</h2>
        {own.length > 1 && (
          <RemovalButton
            label="Remove all"
            question={{ title: `Remove ${own.length} faults?`, text: REMOVAL }}
            change={removeAll}
          />
        )}
      </div>
      {faults ? <Failure error={actionError} /> : <Loading error={error} />}
      {faults?.length === 0 && <p class="hint">No fault is set.</p>}
      <ul class="rows">
        {faults?.map((fault) => (
          <FaultRow key={fault.id} fault={fault} isChosen={fault.id === chosen} />
        ))}
      </ul>
      {chosen !== undefined && faults?.every(({ id }) => id !== chosen) && (
        <p class="hint">The fault that the link names is no longer set: it was used up or removed.</p>
      )}
      <div class="buttons">
        {schemas?.names.map(({ name, help }) => (
          <Button text={name} title={help} key={name} disabled={isRunning} onClick={() => run(createAddCall(name))} />
        ))}
      </div>
      <Failure error={schemaError} />
      <FaultForm schemas={schemas?.fullForms} />
    </section>
  );
}

/** What the removal of a fault means. A fault that is added again has another id, and counts from the start. */
const REMOVAL = 'A removed fault is lost for good: it can only be added anew.';

function FaultRow({ fault, isChosen }: { fault: Fault; isChosen: boolean }) {
  const { client } = useInspector();
  const remove = async () => {
    await client.removeFault({ id: fault.id });
    return undefined;
  };
  return (
    <li aria-current={isChosen ? 'true' : undefined}>
      <Chip tone="warn" text={fault.on} />
      <span>{describeFault(fault)}</span>
      <span class="buttons">
        <RemovalButton label="Remove" question={{ title: 'Remove the fault?', text: REMOVAL }} change={remove} />
      </span>
    </li>
  );
}

/** Says in one line what a fault does, to what it applies, and how often. */
function describeFault({ id: _, on: __, ...fault }: Fault): string {
  const { kind, after, times, tenantId: ___, ...otherFields } = fault as Record<string, unknown>;
  const fields = Object.entries(otherFields).filter(([, value]) => value !== null && value !== 'none' && value !== 0);
  const howOften =
    times === null || times === undefined ? 'until it is removed' : `${times} more ${times === 1 ? 'time' : 'times'}`;
  const afterText = after ? `after ${after} that go well` : '';
  return [kind, ...fields.map(describeField), howOften, afterText].filter(Boolean).join(' · ');
}

function describeField([name, value]: readonly [string, unknown]): string {
  const spanName = /^(.*)Ms$/.exec(name)?.[1];
  if (spanName !== undefined) return `${spanName} ${formatSpan(Number(value))}`;
  return `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

/** A part of the schema of a fault in the OpenAPI document of the control plane. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

/** An example for each field that contains JSON. */
const EXAMPLES: Readonly<Record<string, string>> = {
  body: '{"error":"Down"} or "hello"',
  headers: '{"Retry-After":"2"}',
};

type NameLists = Readonly<Record<string, readonly string[]>>;

/** The kinds of faults of a request, each with the fields that only some kinds have. */
const REQUEST_KINDS: NameLists = {
  'another reply': ['status', 'body', 'headers', 'latency', 'effect'],
  'a slow reply': ['latency'],
  'no reply: the connection is cut': ['cut', 'effect'],
  'a rate limit': ['rateLimit'],
};

/** For faults of other things than requests: the fields that only some kinds have, each with these kinds. */
const KINDS_OF_FIELD: NameLists = { delay: ['delay', 'disconnect', 'slow'], code: ['close'], commands: ['disconnect'] };

/** The label of a field whose name is not clear. */
const LABELS: Readonly<Record<string, string>> = {
  'latency.ms': 'latency, in ms',
  'latency.jitterMs': 'largest random extra latency, in ms',
  'rateLimit.limit': 'requests',
  'rateLimit.per': 'in each period, such as 1m',
  after: 'how many go well first',
  times: 'how many times',
};

interface Schemas {
  /** The names of faults, each with what happens. */
  readonly names: readonly { readonly name: FaultName; readonly help: string }[];
  /** The schemas of the full forms, by what a fault applies to, such as `request`. */
  readonly fullForms: ReadonlyMap<string, Schema>;
}

/** Loads the names of faults, and the schemas of their full forms. */
async function loadSchemas(client: ControlClient): Promise<Schemas> {
  const document = await client.getControlOpenApi();
  const call = document.paths['/__mock/faults']?.post as {
    requestBody: { content: { 'application/json': { schema: Schema } } };
  };
  const { anyOf = [] } = call.requestBody.content['application/json'].schema;
  const names = anyOf.flatMap(({ properties }) => properties?.name?.anyOf ?? []);
  const fullForms = anyOf.filter(({ properties }) => properties?.on !== undefined);
  return {
    names: names.map((schema) => ({ name: schema.const as FaultName, help: schema.description ?? '' })),
    fullForms: new Map(fullForms.map((schema) => [String(schema.properties?.on?.const), schema])),
  };
}

type Fields = readonly (readonly [name: string, schema: Schema])[];

/** Returns the fields that a fault of a kind can have. An object is replaced by its fields, such as `latency.ms`. */
function fieldsOf({ properties = {} }: Schema, kind: string): Fields {
  const isRequest = properties.rateLimit !== undefined;
  const fieldsOfSomeKinds = Object.values(REQUEST_KINDS).flat();
  const applies = (name: string) => {
    if (isRequest) return !fieldsOfSomeKinds.includes(name) || REQUEST_KINDS[kind]?.includes(name);
    return KINDS_OF_FIELD[name]?.includes(kind) ?? true;
  };
  return Object.entries(properties)
    .filter(([name]) => name !== 'on' && name !== 'kind' && name !== 'cut' && name !== 'tenant' && applies(name))
    .flatMap(([name, schema]): Fields => {
      const subfields = Object.entries(schema.properties ?? {});
      if (subfields.length === 0) return [[name, schema]];
      return subfields.map(([subname, field]) => [`${name}.${subname}`, field]);
    });
}

/** A form for a new fault. Its fields come from the schemas in the OpenAPI document of the control plane. */
function FaultForm({ schemas }: { readonly schemas: Schemas['fullForms'] | undefined }) {
  const { tenant } = useScope();
  const [on, setOn] = useState('request');
  const [chosenKind, setKind] = useState('');
  const action = useAction();
  const schema = schemas?.get(on) ?? {};
  const kinds = on === 'request' ? Object.keys(REQUEST_KINDS) : (schema.properties?.kind?.enum ?? []);
  const kind = kinds.includes(chosenKind) ? chosenKind : (kinds[0] ?? '');
  const fields = fieldsOf(schema, kind);
  const createAddCall = (data: FormData) => (client: ControlClient) => {
    const isCut = on === 'request' && REQUEST_KINDS[kind]?.includes('cut');
    const kindFields = { ...(isCut && { cut: true }), ...(on !== 'request' && kind && { kind }) };
    return client.addFault({ on, ...kindFields, tenant, ...readFields(data, fields) } as InputTo<'addFault'>);
  };
  return (
    <details>
      <summary>More: any fault</summary>
      <Form className="fields narrow" label="New fault" submit={(data) => action.run(createAddCall(data))}>
        <Failure error={action.error} />
        <Field label="What it strikes">
          <Select label="What it strikes" value={on} options={[...(schemas?.keys() ?? [])]} choose={setOn} />
        </Field>
        {kinds.length > 0 && (
          <Field label="What goes wrong">
            <Select label="What goes wrong" value={kind} options={kinds} choose={setKind} />
          </Field>
        )}
        {fields.map(([name, field]) => (
          <Field key={`${on} ${name}`} label={LABELS[name] ?? name}>
            <Input name={name} schema={field} />
          </Field>
        ))}
        <span>
          <Button text="Add the fault" type="submit" class="primary" disabled={action.isRunning} />
        </span>
      </Form>
    </details>
  );
}

/** An input for the type of value that the schema requires. */
function Input({ name, schema }: { readonly name: string; readonly schema: Schema }) {
  const placeholder = schema.default === undefined ? EXAMPLES[name] : String(schema.default);
  if (schema.enum) {
    return (
      <select name={name}>
        <option value="" />
        {schema.enum.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    );
  }
  if (schema.type === 'integer') {
    return <input name={name} type="number" min={schema.minimum} max={schema.maximum} placeholder={placeholder} />;
  }
  return <input name={name} placeholder={placeholder} />;
}

/** Returns the values of the fields in the form of a fault: `{ latency: { ms: 5 } }`. Empty fields are left out. */
function readFields(data: FormData, fields: Fields): object {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of fields) {
    const text = textIn(data, name);
    if (text === '') continue;
    const [field = '', subfield] = name.split('.');
    const value = parseField(name, text, schema);
    values[field] = subfield === undefined ? value : { ...(values[field] as object), [subfield]: value };
  }
  return values;
}

function parseField(name: string, text: string, { type }: Schema): unknown {
  if (type === 'integer') return Number(text);
  if (type !== undefined && type !== 'object') return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`The field ${name} must be JSON, such as ${EXAMPLES[name]}.`);
  }
}
