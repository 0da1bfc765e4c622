import { useEffect, useState } from 'preact/hooks';
import type { ControlClient, InputTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { linkTo } from '../../page-route.ts';
import { Failure, Field } from '../../parts.tsx';
import { Time } from '../../time.tsx';
import { type Loaded, useAction, useLoaded } from '../../use-loaded.ts';

type ClockChange = InputTo<'changeClock'>;

/** The time of all tenants, what falls due next, and the faults. */
export function TimeView() {
  const { client } = useInspector();
  const clock = useLoaded(() => client.getClock(), 'clock');
  return (
    <div class="page">
      <h1>Time and faults</h1>
      <Clock clock={clock} />
      <Due />
      <Faults />
    </div>
  );
}

const STEPS = ['1m', '10m', '1h', '1d', '3d', '30d'] as const;

interface ClockState {
  readonly now: string;
  readonly frozen: boolean;
}

function Clock({ clock }: { readonly clock: Loaded<ClockState> }) {
  const { client } = useInspector();
  const action = useAction();
  const change = (body: ClockChange) => void action.run(() => client.changeClock(body));
  return (
    <section aria-label="Clock">
      <Failure error={action.error ?? clock.error} />
      {clock.value && <Now clock={clock.value} />}
      <p class="buttons">
        {clock.value?.frozen ? (
          <button type="button" onClick={() => change({ resume: true })}>
            Resume
          </button>
        ) : (
          <button type="button" onClick={() => change({ freeze: true })}>
            Freeze
          </button>
        )}
        {STEPS.map((step) => (
          <button key={step} type="button" disabled={action.isRunning} onClick={() => change({ advance: step })}>
            Advance {step}
          </button>
        ))}
      </p>
      <FreezeAt change={change} />
    </section>
  );
}

/** The time, which goes on while the clock is not frozen. */
function Now({ clock }: { readonly clock: ClockState }) {
  const [, tick] = useState({});
  const [readAt, setReadAt] = useState(Date.now);
  useEffect(() => setReadAt(Date.now()), [clock]);
  useEffect(() => {
    const timer = setInterval(() => tick({}), 1_000);
    return () => clearInterval(timer);
  }, []);
  const elapsedMs = clock.frozen ? 0 : Date.now() - readAt;
  return (
    <p class="now">
      <Time at={new Date(Date.parse(clock.now) + elapsedMs).toISOString()} /> UTC{' '}
      <span class="mark">{clock.frozen ? 'Frozen' : 'Running'}</span>
    </p>
  );
}

function FreezeAt({ change }: { change(body: ClockChange): void }) {
  const [at, setAt] = useState('');
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault();
        change({ freeze: at });
      }}
    >
      <Field label="Freeze at">
        <input
          required
          placeholder="2026-03-01T09:00:00Z"
          value={at}
          onInput={({ currentTarget }) => setAt(currentTarget.value)}
        />
      </Field>
      <button type="submit">Freeze there</button>
    </form>
  );
}

const MAX_DUE = 10;

/** The deliveries that are sent next. */
function Due() {
  const { client } = useInspector();
  const { value, error } = useLoaded(() => client.listDeliveries({ state: 'pending' }), 'deliveries');
  const due = (value?.deliveries ?? [])
    .flatMap(({ id, event, nextAttemptAt }) => (nextAttemptAt === null ? [] : [{ id, event, at: nextAttemptAt }]))
    .sort((one, other) => (one.at < other.at ? -1 : 1));
  return (
    <section aria-label="Due next">
      <h2>Due next</h2>
      <Failure error={error} />
      {value && due.length === 0 && <p class="hint">No delivery waits for an attempt.</p>}
      <ul class="rows">
        {due.slice(0, MAX_DUE).map(({ id, event, at }) => (
          <li key={id}>
            <Time at={at} /> <a href={linkTo('webhooks', id)}>{event}</a>
          </li>
        ))}
      </ul>
      {due.length > MAX_DUE && <p class="hint">And {due.length - MAX_DUE} more.</p>}
    </section>
  );
}

/** Any event may be one that a fault has let pass before it applies. */
const isAnything = () => true;

function Faults() {
  const { client } = useInspector();
  const action = useAction();
  const { run } = action;
  const { value, error } = useLoaded(() => client.listFaults(), 'faults', isAnything);
  const faults = value?.faults ?? [];
  return (
    <section aria-label="Faults">
      <h2>Faults</h2>
      <Failure error={action.error ?? error} />
      {value && faults.length === 0 && <p class="hint">Nothing goes wrong by a fault.</p>}
      <ul class="rows">
        {faults.map((fault) => (
          <li key={fault.id}>
            <code>{describeFault(fault)}</code>
            <span class="buttons">
              <button type="button" onClick={() => run(() => client.removeFault({ id: fault.id }))}>
                Remove
              </button>
            </span>
          </li>
        ))}
      </ul>
      {faults.length > 1 && (
        <button type="button" onClick={() => run(() => client.clearFaults())}>
          Remove all
        </button>
      )}
      <h2>Add a fault</h2>
      <FaultForm />
    </section>
  );
}

/** Returns the fields of a fault that are set, in one line. */
function describeFault({ id: _, ...fault }: { readonly id: string }): string {
  const given = Object.entries(fault).filter(([, value]) => value !== null);
  return given
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
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
