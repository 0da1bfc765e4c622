import { Ban, Clock, Copy, type IconNode, PlugZap, Trash2, Zap } from 'lucide';
import { useState } from 'preact/hooks';
import { type ControlClient, type InputTo, type ReplyTo, undefinedIfRefused } from '../../../control/table/client.ts';
import { Button, Chip, Failure, Field, Form, Loading, Select, textIn } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { formatSpan } from '../../text.tsx';
import { type Action, never, useAction, useLoaded } from '../../use-loaded.ts';

type Fault = ReplyTo<'listFaults'>['faults'][number];

/** Faults that are often needed. */
const PRESETS: readonly (readonly [text: string, icon: IconNode, fault: InputTo<'addFault'>])[] = [
  ['Next 2 sends answer 503', Ban, { on: 'request', operation: 'sendMessage', status: 503, times: 2 }],
  ['Every reply 2 s late', Clock, { on: 'request', latency: { ms: 2_000 } }],
  ['Rate limit: 5 a minute', Zap, { on: 'request', rateLimit: { limit: 5, per: '1m' } }],
  ['Receiver down for 3 deliveries', PlugZap, { on: 'delivery', kind: 'unreachable', times: 3 }],
  ['Next 3 deliveries come twice', Copy, { on: 'delivery', kind: 'duplicate', times: 3 }],
];

/** The filter for the list of faults. Any event may use up a fault, or count for one that applies after some events. */
const always = () => true;

/** The faults that are set, and how to add one: by a preset, or by a form with every field. */
export function Faults({ chosen }: { readonly chosen: string | undefined }) {
  const scope = useScope();
  const { run, error: failure, isRunning } = useAction();
  const { value, error } = useLoaded((client) => client.listFaults(), 'faults', always);
  const faults = value?.faults.filter((fault) => isInScope(scope, fault));
  const createAddCall = (fault: InputTo<'addFault'>) => (client: ControlClient) =>
    client.addFault({ ...fault, tenant: scope.tenant } as InputTo<'addFault'>);
  // Faults of other tenants stay, because the filter hides them.
  const removeAll = async (client: ControlClient) => {
    for (const { id } of faults ?? []) await client.removeFault({ id }).catch(undefinedIfRefused);
  };
  return (
    <section class="card" aria-label="Faults">
      <div class="head">
        <h2>Faults</h2>
        {faults && faults.length > 1 && (
          <Button icon={Trash2} text="Remove all" class="quiet danger" onClick={() => run(removeAll)} />
        )}
      </div>
      {faults ? <Failure error={failure} /> : <Loading error={error} />}
      {faults?.length === 0 && <p class="hint">Nothing goes wrong by a fault.</p>}
      <ul class="rows">
        {faults?.map((fault) => (
          <FaultRow key={fault.id} fault={fault} isChosen={fault.id === chosen} run={run} />
        ))}
      </ul>
      {chosen !== undefined && faults?.every(({ id }) => id !== chosen) && (
        <p class="hint">The fault of the link is no longer set: it was used up or removed.</p>
      )}
      <div class="buttons">
        {PRESETS.map(([text, icon, fault]) => (
          <Button icon={icon} text={text} key={text} disabled={isRunning} onClick={() => run(createAddCall(fault))} />
        ))}
      </div>
      <FaultForm />
    </section>
  );
}

function FaultRow({ fault, isChosen, run }: { fault: Fault; isChosen: boolean; run: Action['run'] }) {
  const remove = (client: ControlClient) => client.removeFault({ id: fault.id });
  return (
    <li aria-current={isChosen ? 'true' : undefined}>
      <Chip tone="warn" text={fault.on} />
      <span>{describeFault(fault)}</span>
      <span class="buttons">
        <Button icon={Trash2} text="Remove" class="quiet danger" onClick={() => run(remove)} />
      </span>
    </li>
  );
}

/** Says what a fault does, where, and how often, in one line. */
function describeFault({ id: _, on: __, ...fault }: Fault): string {
  const { kind, after, times, tenantId: ___, ...rest } = fault as Record<string, unknown>;
  const fields = Object.entries(rest).filter(([, value]) => value !== null && value !== 'none' && value !== 0);
  const often =
    times === null || times === undefined ? 'until it is removed' : `${times} more ${times === 1 ? 'time' : 'times'}`;
  const later = after ? `after ${after} more` : '';
  return [kind, ...fields.map(describeField), often, later].filter(Boolean).join(' · ');
}

function describeField([name, value]: readonly [string, unknown]): string {
  const span = /^(.*)Ms$/.exec(name)?.[1];
  if (span !== undefined) return `${span} ${formatSpan(Number(value))}`;
  return `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

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

/** An example for each field that contains JSON. */
const EXAMPLES: Readonly<Record<string, string>> = {
  body: '{"error":"Down"} or "hello"',
  headers: '{"Retry-After":"2"}',
};

type FieldNames = Readonly<Record<string, readonly string[]>>;

/** What can go wrong with a request, and the fields of such a fault. */
const REQUEST_KINDS: FieldNames = {
  'another reply': ['status', 'body', 'headers', 'latency', 'effect'],
  'a slow reply': ['latency'],
  'no reply: the connection is cut': ['cut', 'effect'],
  'a rate limit': ['rateLimit'],
};

/** Fields that only some kinds of faults have, each with its kinds. */
const ONLY_FOR: FieldNames = { delay: ['delay', 'disconnect', 'slow'], code: ['close'], commands: ['disconnect'] };

/** The label of a field whose name is not clear. */
const LABELS: Readonly<Record<string, string>> = {
  'latency.ms': 'latency, in ms',
  'latency.jitterMs': 'random further latency, at most, in ms',
  'rateLimit.limit': 'requests',
  'rateLimit.per': 'in, such as 1m',
  after: 'after how many that go well',
  times: 'how many times',
};

/** Loads the schemas of the faults, by what a fault applies to, such as `request`. */
async function loadSchemas(client: ControlClient): Promise<ReadonlyMap<string, Schema>> {
  const document = await client.getControlOpenApi();
  const call = document.paths['/__mock/faults']?.post as {
    requestBody: { content: { 'application/json': { schema: Schema } } };
  };
  const { oneOf = [] } = call.requestBody.content['application/json'].schema;
  return new Map(oneOf.map((schema) => [String(schema.properties?.on?.const), schema]));
}

type Fields = readonly (readonly [name: string, schema: Schema])[];

/** Returns the fields that a fault of a kind can have. A field of an object has a path as its name: `latency.ms`. */
function fieldsOf({ properties = {} }: Schema, kind: string): Fields {
  const isRequest = properties.rateLimit !== undefined;
  const fieldsOfKinds = Object.values(REQUEST_KINDS).flat();
  const applies = (name: string) => {
    if (isRequest) return !fieldsOfKinds.includes(name) || REQUEST_KINDS[kind]?.includes(name);
    return ONLY_FOR[name]?.includes(kind) ?? true;
  };
  return Object.entries(properties)
    .filter(([name]) => name !== 'on' && name !== 'kind' && name !== 'cut' && name !== 'tenant' && applies(name))
    .flatMap(([name, schema]): Fields => {
      const parts = Object.entries(schema.properties ?? {});
      return parts.length === 0 ? [[name, schema]] : parts.map(([part, field]) => [`${name}.${part}`, field]);
    });
}

/** A form for a new fault. Its fields come from the schemas in the OpenAPI document of the control plane. */
function FaultForm() {
  const { tenant } = useScope();
  const { value: schemas, error } = useLoaded(loadSchemas, 'schemas', never);
  const [on, setOn] = useState('request');
  const [chosenKind, setKind] = useState('');
  const action = useAction();
  const schema = schemas?.get(on) ?? {};
  const kinds = on === 'request' ? Object.keys(REQUEST_KINDS) : (schema.properties?.kind?.enum ?? []);
  const kind = kinds.includes(chosenKind) ? chosenKind : (kinds[0] ?? '');
  const fields = fieldsOf(schema, kind);
  const add = (data: FormData) => (client: ControlClient) => {
    const isCut = on === 'request' && REQUEST_KINDS[kind]?.includes('cut');
    const kindFields = { ...(isCut && { cut: true }), ...(on !== 'request' && kind && { kind }) };
    return client.addFault({ on, ...kindFields, tenant, ...readFields(data, fields) } as InputTo<'addFault'>);
  };
  return (
    <details>
      <summary>More: any fault</summary>
      <Form className="fields narrow" label="New fault" submit={(data) => action.run(add(data))}>
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

/** Returns the values of the fields. Empty fields are left out. */
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
