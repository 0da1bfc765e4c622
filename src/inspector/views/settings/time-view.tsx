import { FastForward, Pause, Play, Square } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import type { InputTo } from '../../../control/table/client.ts';
import { linkTo, type Route } from '../../page-route.ts';
import { Button, Chip, Failure, Form, Icon, Loading, TextField, textIn } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { FullTime, fullTime, Time, useNow } from '../../time.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { type Delivery, summarise } from '../webhooks/explain-delivery.ts';
import { Faults } from './faults.tsx';

/** The time, what falls due next, and the faults. */
export function TimeView({ route }: { readonly route: Route }) {
  const { tenant } = useScope();
  const { value, error } = useLoaded((client) => client.listDeliveries({ tenant }), `deliveries ${tenant}`);
  const waiting = value?.deliveries.filter(({ state }) => state === 'pending' || state === 'held');
  return (
    <div class="page">
      <h1>Time and faults</h1>
      <Clock waiting={waiting?.length ?? 0} />
      {waiting ? <Due waiting={waiting} /> : <Loading error={error} />}
      <Faults chosen={route.id} />
    </div>
  );
}

const DAY_MS = 86_400_000;

const STEPS: readonly (readonly [text: string, ms: number])[] = [
  ['1m', 60_000],
  ['10m', 600_000],
  ['1h', 3_600_000],
  ['1d', DAY_MS],
  ['3d', 3 * DAY_MS],
  ['30d', 30 * DAY_MS],
];

/** In how many parts the clock is advanced if much falls due meanwhile, so that somebody can stop it. */
const PARTS = 20;

/** The clock of the chosen tenant, or of all. */
function Clock({ waiting }: { readonly waiting: number }) {
  const { tenant } = useScope();
  const { isFrozen } = useNow();
  const action = useAction();
  const change = (body: InputTo<'changeClock'>) => action.run((client) => client.changeClock({ ...body, tenant }));
  const { done, isStopped, advance } = useAdvance(waiting, (advance) => change({ advance }));
  return (
    <section class="card" aria-label="Clock">
      <ClockTime />
      <div class="buttons">
        <Button
          icon={isFrozen ? Play : Pause}
          text={isFrozen ? 'Resume' : 'Freeze'}
          onClick={() => change(isFrozen ? { resume: true } : { freeze: true })}
        />
        {STEPS.map(([text, ms]) => (
          <button key={text} type="button" disabled={done !== undefined} onClick={() => advance(ms)}>
            <Icon of={FastForward} /> <span class="hidden">Advance</span> {text}
          </button>
        ))}
      </div>
      {done !== undefined && (
        <p class="buttons" role="status">
          <progress value={done} aria-label="Advanced" />
          <Button
            icon={Square}
            text="Stop"
            onClick={() => {
              isStopped.current = true;
            }}
          />
        </p>
      )}
      <FreezeAt change={change} />
      <Failure error={action.error} />
    </section>
  );
}

function ClockTime() {
  const { offsetMs, isFrozen, realMs } = useNow();
  return (
    <div class="head">
      <strong class="title">
        <time>{fullTime(new Date(realMs + offsetMs).toISOString())}</time>
      </strong>
      <Chip tone={isFrozen ? 'warn' : 'good'} text={isFrozen ? 'Frozen' : 'Running'} />
    </div>
  );
}

/** Advances the clock: at once, or in parts that somebody can stop if many deliveries are waiting. */
function useAdvance(waiting: number, change: (ms: number) => Promise<boolean>) {
  const [done, setDone] = useState<number>();
  const isStopped = useRef(false);
  const advance = async (ms: number) => {
    const parts = waiting > PARTS ? PARTS : 1;
    isStopped.current = false;
    for (let part = 0; part < parts && !isStopped.current; part += 1) {
      setDone(part / parts);
      if (!(await change(ms / parts))) break;
    }
    setDone(undefined);
  };
  return { done, isStopped, advance };
}

function FreezeAt({ change }: { change(body: InputTo<'changeClock'>): unknown }) {
  return (
    <Form className="inline" submit={(data) => change({ freeze: textIn(data, 'at') })}>
      <TextField label="Freeze at" name="at" required placeholder="2026-03-01T09:00:00Z" />
      <Button text="Freeze there" type="submit" />
    </Form>
  );
}

const MAX_DUE = 10;

/** The deliveries that wait: what is sent, to whom, when, and what each one waits for. */
function Due({ waiting }: { readonly waiting: readonly Delivery[] }) {
  const scope = useScope();
  // A delivery without a time waits for another one, or until it is released.
  const timeOf = ({ nextAttemptAt }: Delivery) => nextAttemptAt ?? '9';
  const due = waiting
    .filter((delivery) => isInScope(scope, delivery))
    .sort((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1));
  return (
    <section class="card" aria-label="Due next">
      <h2>Due next</h2>
      {due.length === 0 && <p class="hint">No delivery waits for an attempt.</p>}
      <ul class="rows">
        {due.slice(0, MAX_DUE).map((delivery) => (
          <li key={delivery.id}>
            <Chip text={delivery.nextAttemptAt === null ? delivery.state : <Time at={delivery.nextAttemptAt} />} />
            <a href={linkTo('webhooks', delivery.id)}>{delivery.event}</a>
            <span class="soft">
              {delivery.nextAttemptAt === null ? (
                summarise(delivery)
              ) : (
                <>
                  attempt {delivery.attempts.length + 1}, <FullTime at={delivery.nextAttemptAt} />
                </>
              )}{' '}
              {delivery.attempts.at(-1)?.error}
            </span>
          </li>
        ))}
      </ul>
      {due.length > MAX_DUE && <p class="hint">And {due.length - MAX_DUE} more.</p>}
    </section>
  );
}
