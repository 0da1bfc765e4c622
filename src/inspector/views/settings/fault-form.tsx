import { useState } from 'preact/hooks';
import type { ControlClient, InputTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { Button, Failure, Field, Form, Select, textIn } from '../../parts.tsx';
import { useScope } from '../../scope.ts';
import { never, useAction, useLoaded } from '../../use-loaded.ts';

/** A part of the schema of a fault in the OpenAPI document of the control plane. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly oneOf?: readonly Schema[];
}

/** What the fields that take JSON may have. */
const EXAMPLES: Readonly<Record<string, string>> = {
  body: '{"error":"Down"} or "hello"',
  headers: '{"Retry-After":"2"}',
};

/** What can go wrong with a request, and the fields that belong to it. */
const REQUEST_KINDS: Readonly<Record<string, readonly string[]>> = {
  'another reply': ['status', 'body', 'headers', 'latency', 'effect'],
  'a slow reply': ['latency'],
  'no reply: the connection is cut': ['cut', 'effect'],
  'a rate limit': ['rateLimit'],
};

/** Fields that only some kinds of faults have, each with its kinds. */
const ONLY_FOR: Readonly<Record<string, readonly string[]>> = {
  delay: ['delay', 'disconnect', 'slow'],
  code: ['close'],
  commands: ['disconnect'],
};

/** What a field is called, where its name does not say it. */
const LABELS: Readonly<Record<string, string>> = {
  'latency.ms': 'latency, in ms',
  'latency.jitterMs': 'random further latency, at most, in ms',
  'rateLimit.limit': 'requests',
  'rateLimit.per': 'in, such as 1m',
  after: 'after how many that go well',
  times: 'how many times',
};

/** Resolves with the schemas of the faults, by what goes wrong. */
async function loadSchemas(client: ControlClient): Promise<ReadonlyMap<string, Schema>> {
  const document = await client.getControlOpenApi();
  const call = document.paths['/__mock/faults']?.post as {
    requestBody: { content: { 'application/json': { schema: Schema } } };
  };
  const { oneOf = [] } = call.requestBody.content['application/json'].schema;
  return new Map(oneOf.map((schema) => [String(schema.properties?.on?.const), schema]));
}

type Fields = readonly (readonly [name: string, schema: Schema])[];

/** Returns the fields that a fault of a kind can have; those of an object are named by a path. */
function fieldsOf({ properties = {} }: Schema, kind: string): Fields {
  const isRequest = properties.rateLimit !== undefined;
  const ofKinds = Object.values(REQUEST_KINDS).flat();
  const applies = (name: string) => {
    if (isRequest) return !ofKinds.includes(name) || REQUEST_KINDS[kind]?.includes(name);
    return ONLY_FOR[name]?.includes(kind) ?? true;
  };
  return Object.entries(properties)
    .filter(([name]) => name !== 'on' && name !== 'kind' && name !== 'cut' && name !== 'tenant' && applies(name))
    .flatMap(([name, schema]): Fields => {
      const parts = Object.entries(schema.properties ?? {});
      return parts.length === 0 ? [[name, schema]] : parts.map(([part, field]) => [`${name}.${part}`, field]);
    });
}

/** A form for a new fault, made from the schema that the control plane describes. */
export function FaultForm() {
  const { client } = useInspector();
  const { tenant } = useScope();
  const { value: schemas, error } = useLoaded(loadSchemas, 'schemas', never);
  const [on, setOn] = useState('request');
  const [chosenKind, setKind] = useState('');
  const action = useAction();
  const schema = schemas?.get(on) ?? {};
  const kinds = on === 'request' ? Object.keys(REQUEST_KINDS) : (schema.properties?.kind?.enum ?? []);
  const kind = kinds.includes(chosenKind) ? chosenKind : (kinds[0] ?? '');
  const fields = fieldsOf(schema, kind);
  const add = async (data: FormData) => {
    const isCut = on === 'request' && REQUEST_KINDS[kind]?.includes('cut');
    const own = { ...(isCut && { cut: true }), ...(on !== 'request' && kind && { kind }) };
    await client.addFault({ on, ...own, tenant, ...readFields(data, fields) } as InputTo<'addFault'>);
  };
  return (
    <Form className="fields narrow" label="New fault" submit={(data) => action.run(() => add(data))}>
      <Failure error={action.error ?? error} />
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
  );
}

/** A field of the kind that the schema asks for. */
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

/** Returns what the fields contain; empty ones are left out. */
function readFields(data: FormData, fields: Fields): object {
  const read: Record<string, unknown> = {};
  for (const [name, schema] of fields) {
    const text = textIn(data, name);
    if (text === '') continue;
    const [field = '', part] = name.split('.');
    const value = parseField(name, text, schema);
    read[field] = part === undefined ? value : { ...(read[field] as object), [part]: value };
  }
  return read;
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
