import { useState } from 'preact/hooks';
import type { ControlClient, InputTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { Failure, Field } from '../../parts.tsx';
import { useAction } from '../../use-action.ts';
import { useLoaded } from '../../use-loaded.ts';

/** A part of the schema of a fault in the OpenAPI document of the control plane. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly oneOf?: readonly Schema[];
}

/** What the fields that take JSON may have. */
const EXAMPLES: Readonly<Record<string, string>> = {
  body: '{"error":"Down"} or "hello"',
  headers: '{"Retry-After":"2"}',
  latency: '{"ms":500,"jitterMs":100}',
  rateLimit: '{"limit":10,"per":"1m"}',
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

/** A form for a new fault, made from the schema that the control plane describes. */
export function FaultForm() {
  const { client } = useInspector();
  const { value: schemas, error } = useLoaded(
    () => loadSchemas(client),
    'schemas',
    () => false,
  );
  const [on, setOn] = useState('request');
  const action = useAction();
  const schema = schemas?.get(on);
  return (
    <form
      class="fields narrow"
      aria-label="New fault"
      onSubmit={(event) => {
        event.preventDefault();
        const data = new FormData(event.currentTarget);
        void action.run(async () => client.addFault(faultOf(data, schema)));
      }}
    >
      <Failure error={action.error ?? error} />
      <Field label="What goes wrong">
        <select name="on" value={on} onChange={({ currentTarget }) => setOn(currentTarget.value)}>
          {[...(schemas?.keys() ?? [])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <Inputs key={on} schema={schema ?? {}} />
      <span>
        <button type="submit" class="primary" disabled={action.isRunning}>
          Add the fault
        </button>
      </span>
    </form>
  );
}

/** The fields of the kind of fault that is chosen. */
function Inputs({ schema: { properties = {}, required = [] } }: { readonly schema: Schema }) {
  const fields = Object.entries(properties).filter(([name]) => name !== 'on');
  return (
    <>
      {fields.map(([name, field]) => (
        <Field key={name} label={name}>
          <Input name={name} schema={field} isRequired={required.includes(name)} />
        </Field>
      ))}
    </>
  );
}

interface InputProps {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** A field of the kind that the schema asks for. */
function Input({ name, schema, isRequired }: InputProps) {
  const values = schema.const === undefined ? schema.enum : [String(schema.const)];
  const placeholder = schema.default === undefined ? undefined : String(schema.default);
  if (values) {
    return (
      <select name={name} required={isRequired}>
        <option value="" />
        {values.map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    );
  }
  if (schema.type === 'integer') {
    return <input name={name} type="number" min={schema.minimum} max={schema.maximum} placeholder={placeholder} />;
  }
  return <input name={name} required={isRequired} placeholder={isJson(schema) ? EXAMPLES[name] : placeholder} />;
}

/** Whether a field takes JSON: an object, or any value. */
function isJson({ type }: Schema): boolean {
  return type === undefined || type === 'object';
}

/** Returns the fault that the fields describe; empty fields are left out. */
function faultOf(data: FormData, schema: Schema | undefined): InputTo<'addFault'> {
  const given = [...data].filter(([, text]) => text !== '');
  const fields = given.map(([name, text]) => [name, parseField(name, String(text), schema?.properties?.[name])]);
  return Object.fromEntries(fields) as InputTo<'addFault'>;
}

function parseField(name: string, text: string, schema: Schema = {}): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.type === 'integer') return Number(text);
  if (!isJson(schema)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`The field ${name} must be JSON, such as ${EXAMPLES[name]}.`);
  }
}
