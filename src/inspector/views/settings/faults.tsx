import { useRef, useState } from 'preact/hooks';
import type { FaultName } from '../../../control/faults/named-faults.ts';
import { type ControlClient, type InputTo, type ReplyTo, undefinedIfRefused } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { Button, Chip, Failure, Field, Form, Loading, Select, textIn } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { RemovalButton } from '../../undo.tsx';
import { noEvent, useAction, useLoaded } from '../../use-loaded.ts';
import { type DescribedFault, describeFault } from './describe-fault.ts';

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
  // What applies to other tenants, too, stays.
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
      {faults?.length === 0 && <p class="hint">No fault is set. Choose one below.</p>}
      <ul class="rows">
        {faults?.map((fault) => (
          <FaultRow key={fault.id} fault={fault} isChosen={fault.id === chosen} />
        ))}
      </ul>
      {chosen !== undefined && faults?.every(({ id }) => id !== chosen) && (
        <p class="hint">The fault that the link names is no longer set: it was used up or removed.</p>
      )}
      <h3>Add a fault that is often needed</h3>
      <div class="presets">
        {schemas?.names.map(({ name, help }) => (
          <p key={name}>
            <Button text={name} disabled={isRunning} onClick={() => run(createAddCall(name))} />
            <small class="soft">{help}</small>
          </p>
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
  const { tenant } = useScope();
  const remove = async () => {
    await client.removeFault({ id: fault.id });
    return undefined;
  };
  return (
    <li aria-current={isChosen ? 'true' : undefined}>
      <Chip tone="warn" text={fault.on} />
      <span>
        {describeFault(fault as DescribedFault)}
        {tenant !== undefined && fault.tenantId === null && ' It applies to every tenant.'}
      </span>
      <span class="buttons">
        <RemovalButton label="Remove" question={{ title: 'Remove the fault?', text: REMOVAL }} change={remove} />
      </span>
    </li>
  );
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

/** What a fault can apply to. */
const TARGETS: Readonly<Record<string, string>> = {
  request: 'requests of the API',
  delivery: 'deliveries to webhooks',
  stream: 'events on streams',
  smtp: 'recipients of mail over SMTP',
  imap: 'sessions over IMAP',
};

/** The kinds of faults of a request, each with the fields that only some kinds have. */
const REQUEST_KINDS: NameLists = {
  'another reply': ['status', 'body', 'headers', 'latency', 'effect'],
  'a slow reply': ['latency'],
  'no reply: the connection is cut': ['cut', 'effect'],
  'a rate limit': ['rateLimit'],
};

/** The names of the same kinds in a fault that is set. */
const REQUEST_KIND_NAMES: Readonly<Record<string, string>> = {
  'another reply': 'reply',
  'a slow reply': 'latency',
  'no reply: the connection is cut': 'cut',
  'a rate limit': 'rate-limit',
};

/** For faults of other things than requests: the fields that only some kinds have, each with these kinds. */
const KINDS_OF_FIELD: NameLists = { delay: ['delay', 'disconnect', 'slow'], code: ['close'], commands: ['disconnect'] };

/** The label of a field whose name is not clear. */
const LABELS: Readonly<Record<string, string>> = {
  status: 'Status of the reply',
  'latency.ms': 'Delay, in ms',
  'latency.jitterMs': 'Largest random extra delay, in ms',
  'rateLimit.limit': 'Requests that are allowed',
  'rateLimit.per': 'In each period, such as 1m',
  delay: 'Delay, such as 2s or 1m',
  times: 'How many times',
  after: 'How many go well first',
  operation: 'Only this operation',
  key: 'Only this API key',
  tier: 'Only keys of this tier',
  webhookId: 'Only the webhook with this id',
  recipient: 'Only this recipient',
  inbox: 'Only the inbox with this address',
  effect: 'Does the operation run?',
  body: 'Body of the reply, as JSON',
  headers: 'Headers of the reply, as JSON',
  code: 'Code with which the stream is closed',
  commands: 'How many commands are answered first',
  message: 'Text after the status',
};

/** What the values of a field mean, if they are not clear. */
const VALUE_LABELS: Readonly<Record<string, string>> = { applied: 'yes', none: 'no' };

/** The fields that come first in the form, in this order. */
const FIRST_FIELDS = [
  'operation',
  'status',
  'latency.ms',
  'rateLimit.limit',
  'rateLimit.per',
  'delay',
  'times',
  'after',
];

/** The fields that most faults need. The others are in a part that can be opened. */
const COMMON_FIELDS: ReadonlySet<string> = new Set([
  ...FIRST_FIELDS,
  'latency.jitterMs',
  'body',
  'headers',
  'code',
  'commands',
]);

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
function faultFields({ properties = {} }: Schema, kind: string): Fields {
  const isRequest = properties.rateLimit !== undefined;
  const fieldsOfSomeKinds = Object.values(REQUEST_KINDS).flat();
  const applies = (name: string) => {
    if (isRequest) return !fieldsOfSomeKinds.includes(name) || REQUEST_KINDS[kind]?.includes(name);
    return KINDS_OF_FIELD[name]?.includes(kind) ?? true;
  };
  const orderOf = (name: string) => FIRST_FIELDS.indexOf(name) + 1 || FIRST_FIELDS.length + 1;
  return Object.entries(properties)
    .filter(([name]) => name !== 'on' && name !== 'kind' && name !== 'cut' && name !== 'tenant' && applies(name))
    .flatMap(([name, schema]): Fields => {
      const subfields = Object.entries(schema.properties ?? {});
      if (subfields.length === 0) return [[name, schema]];
      return subfields.map(([subname, field]) => [`${name}.${subname}`, field]);
    })
    .sort(([one], [other]) => orderOf(one) - orderOf(other));
}

/** A form for a new fault. Its fields come from the schemas in the OpenAPI document of the control plane. */
function FaultForm({ schemas }: { readonly schemas: Schemas['fullForms'] | undefined }) {
  const { tenant } = useScope();
  const [on, setOn] = useState('request');
  const [chosenKind, setKind] = useState('');
  const action = useAction();
  const sentence = useRef<HTMLParagraphElement>(null);
  const [data, setData] = useState<FormData>();
  const readData = () => {
    const form = sentence.current?.closest('form');
    if (form) setData(new FormData(form));
  };
  const schema = schemas?.get(on) ?? {};
  const kinds = on === 'request' ? Object.keys(REQUEST_KINDS) : (schema.properties?.kind?.enum ?? []);
  const kind = kinds.includes(chosenKind) ? chosenKind : (kinds[0] ?? '');
  const fields = faultFields(schema, kind);
  const createAddCall = (data: FormData) => (client: ControlClient) => {
    const isCut = on === 'request' && REQUEST_KINDS[kind]?.includes('cut');
    const kindFields = { ...(isCut && { cut: true }), ...(on !== 'request' && kind && { kind }) };
    return client.addFault({ on, ...kindFields, tenant, ...readFields(data, fields) } as InputTo<'addFault'>);
  };
  return (
    <details>
      <summary>More: any fault</summary>
      <Form
        className="fields pairs"
        label="New fault"
        submit={(data) => action.run(createAddCall(data))}
        change={readData}
      >
        <Failure error={action.error} />
        <Field label="What it applies to">
          <Select
            label="What it applies to"
            value={on}
            options={[...(schemas?.keys() ?? [])].map((each) => [each, TARGETS[each] ?? each] as const)}
            choose={setOn}
          />
        </Field>
        {kinds.length > 0 && (
          <Field label="What goes wrong">
            <Select label="What goes wrong" value={kind} options={kinds} choose={setKind} />
          </Field>
        )}
        <FaultFields fields={fields.filter(([name]) => COMMON_FIELDS.has(name))} on={on} />
        <details class="whole">
          <summary>Rarely needed</summary>
          <div class="fields pairs">
            <FaultFields fields={fields.filter(([name]) => !COMMON_FIELDS.has(name))} on={on} />
          </div>
        </details>
        <div class="outcome whole">
          <p class="reason plain-edge" role="status" ref={sentence}>
            {sentenceOf(data, fields, on, REQUEST_KIND_NAMES[kind] ?? kind)}
            {tenant !== undefined && ' It applies only to the tenant that is chosen above.'}
          </p>
          <Button text="Add the fault" type="submit" class="primary" disabled={action.isRunning} />
        </div>
      </Form>
    </details>
  );
}

function FaultFields({ fields, on }: { readonly fields: Fields; readonly on: string }) {
  return fields.map(([name, field]) => (
    <Field key={`${on} ${name}`} label={LABELS[name] ?? name}>
      <Input name={name} schema={field} />
    </Field>
  ));
}

/** Says what the fault of a form will do. What is not valid yet is left out. */
function sentenceOf(data: FormData | undefined, fields: Fields, on: string, kind: string): string {
  const valid = fields.filter(([name, schema]) => {
    try {
      return (
        data !== undefined && textIn(data, name) !== '' && parseField(name, textIn(data, name), schema) !== undefined
      );
    } catch {
      // Somebody still types the JSON. The form says what is wrong when it is sent.
      return false;
    }
  });
  const values = data ? readFields(data, valid) : {};
  return describeFault({ ...values, on, kind });
}

/** An input for the type of value that the schema requires. */
function Input({ name, schema }: { readonly name: string; readonly schema: Schema }) {
  const placeholder = schema.default === undefined ? EXAMPLES[name] : String(schema.default);
  if (schema.enum) {
    return (
      <select name={name}>
        <option value="" />
        {schema.enum.map((value) => (
          <option key={value} value={value}>
            {VALUE_LABELS[value] ?? value}
          </option>
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
