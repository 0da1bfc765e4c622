import { useEffect, useState } from 'preact/hooks';
import type { InputTo } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { linkTo } from '../../page-route.ts';
import { Failure, Field, Time } from '../../parts.tsx';
import { useAction } from '../../use-action.ts';
import { type Loaded, useLoaded } from '../../use-loaded.ts';
import { FaultForm } from './fault-form.tsx';

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
