import { FastForward, type IconNode, Pause, Play, Reply, Square, Webhook } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { ControlClient, InputTo } from '../../../control/table/client.ts';
import { linkTo, type Route } from '../../page-route.ts';
import { Button, Chip, Failure, Form, Icon, Loading, TextField, textIn } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { formatFullTime, formatSpan, Time, UserText, useNow } from '../../text.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { summarise, urlOf } from '../webhooks/explain-delivery.ts';
import { Faults } from './faults.tsx';

/** The time, what falls due next, and the faults. */
export function TimeView({ route }: { readonly route: Route }) {
  const scope = useScope();
  const { sandbox } = scope;
  const { value, error } = useLoaded((client) => loadDue(client, sandbox), `due in ${sandbox}`);
  const due = value?.filter(({ item }) => isInScope(scope, item));
  return (
    <div class="page">
      <h1>Time and faults</h1>
      <Clock waitingCount={due?.length ?? 0} />
      {due ? <DueNext due={due} /> : <Loading error={error} />}
      <Faults chosen={route.id} />
    </div>
  );
}

const DAY_MS = 86_400_000;

/** By how much the clock can be advanced, in milliseconds. */
const STEPS = { '1m': 60_000, '10m': 600_000, '1h': 3_600_000, '1d': DAY_MS, '3d': 3 * DAY_MS, '30d': 30 * DAY_MS };

/** If more deliveries and answers than this wait, an advance has this many parts, so that a person can stop it. */
const PARTS = 20;

/** The clock of the chosen tenant, or of all tenants. `waitingCount` is how many deliveries and answers wait. */
function Clock({ waitingCount }: { readonly waitingCount: number }) {
  const { tenant } = useScope();
  const { offsetMs, isFrozen, realMs, clocksDiffer } = useNow();
  const action = useAction();
  const change = (body: InputTo<'changeClock'>) => action.run((client) => client.changeClock({ ...body, tenant }));
  const { progress, stop, advance } = useAdvance(waitingCount, (ms) => change({ advance: ms }));
  return (
    <section class="card" aria-label="Clock">
      <div class="head">
        <time class="title">{formatFullTime(new Date(realMs + offsetMs).toISOString())}</time>
        <Chip tone={isFrozen ? 'warn' : 'good'} text={isFrozen ? 'Frozen' : 'Running'} />
        {clocksDiffer && <Chip tone="warn" text="Clocks differ: choose a tenant above" />}
      </div>
      <div class="buttons">
        <Button
          icon={isFrozen ? Play : Pause}
          text={isFrozen ? 'Resume' : 'Freeze'}
          onClick={() => change(isFrozen ? { resume: true } : { freeze: true })}
        />
        {Object.entries(STEPS).map(([text, ms]) => (
          <button key={text} type="button" disabled={progress !== undefined} onClick={() => advance(ms)}>
            <Icon icon={FastForward} /> <span class="hidden">Advance</span> {text}
          </button>
        ))}
      </div>
      {progress !== undefined && (
        <p class="buttons" role="status">
          <progress value={progress} aria-label="Advanced" />
          <Button icon={Square} text="Stop" onClick={stop} />
        </p>
      )}
      <Form className="inline" submit={(data) => change({ freeze: textIn(data, 'at') })}>
        <TextField label="Freeze at" name="at" required placeholder="2026-03-01T09:00:00Z" />
        <Button text="Freeze there" type="submit" />
      </Form>
      <Failure error={action.error} />
    </section>
  );
}

/**
 * Returns `advance`, which advances the clock, and `stop`, which ends an advance early. If much is waiting, an advance
 * has several parts. `progress` is the share of the parts that are done, or `undefined` if no advance is running.
 */
function useAdvance(waitingCount: number, advanceBy: (ms: number) => Promise<boolean>) {
  const [progress, setProgress] = useState<number>();
  const isStopped = useRef(false);
  const advance = async (ms: number) => {
    const parts = waitingCount > PARTS ? PARTS : 1;
    isStopped.current = false;
    for (let part = 0; part < parts && !isStopped.current; part += 1) {
      setProgress(part / parts);
      if (!(await advanceBy(ms / parts))) break;
    }
    setProgress(undefined);
  };
  const stop = () => {
    isStopped.current = true;
  };
  return { progress, stop, advance };
}

const MAX_DUE = 10;

/** A delivery that waits, or an answer of a correspondent that is not sent yet. */
interface Due {
  readonly id: string;
  /** The delivery or the answer, from which the filter reads the tenant. */
  readonly item: Parameters<typeof isInScope>[1];
  /** When it is due, by the clock of the tenant; null if it does not wait for a time. */
  readonly at: string | null;
  readonly icon: IconNode;
  /** What it is, with a link to it. */
  readonly what: ComponentChildren;
  readonly to: string;
  readonly waitsFor: string;
}

/**
 * Loads the deliveries and the answers of correspondents that wait in a sandbox or, without one, in the whole emulator, in
 * the order in which they are due.
 */
async function loadDue(client: ControlClient, sandbox: string | undefined): Promise<Due[]> {
  const [{ deliveries }, { webhooks }, { correspondents }] = await Promise.all([
    client.listDeliveries({}, { sandbox }),
    client.listWebhookSettings({}, { sandbox }),
    client.listCorrespondents({}, { sandbox }),
  ]);
  const urls = new Map(webhooks.map(({ id, url }) => [id, url]));
  const waitingDeliveries = deliveries
    .filter(({ state }) => state === 'pending' || state === 'held')
    .map((delivery): Due => {
      const { id, nextAttemptAt: at, event, attempts } = delivery;
      const attempt = `attempt ${attempts.length + 1}, ${attempts.at(-1)?.error ?? 'the first one'}`;
      const what = <a href={linkTo('webhooks', id)}>{event}</a>;
      const waitsFor = at === null ? summarise(delivery) : attempt;
      return { id, item: delivery, at, icon: Webhook, what, to: urlOf(delivery, urls), waitsFor };
    });
  const answers = correspondents.flatMap(({ id, address, afterMs, due }) =>
    due.map((item, index): Due => {
      const what = <UserText text={`Answer of ${address}`} />;
      const { at, to, subject } = item;
      const waitsFor = `to “${subject}”, ${formatSpan(afterMs)} after it`;
      return { id: `${id} ${index}`, item, at, icon: Reply, what, to, waitsFor };
    }),
  );
  // A delivery that waits for another delivery or for a release has no time. `9` puts it after all times.
  return [...answers, ...waitingDeliveries].sort((one, other) => ((one.at ?? '9') < (other.at ?? '9') ? -1 : 1));
}

/** What falls due next: what, to whom, when, and what it waits for. */
function DueNext({ due }: { readonly due: readonly Due[] }) {
  return (
    <section class="card" aria-label="Due next">
      <h2>Due next</h2>
      {due.length === 0 && (
        <p class="hint">No delivery waits for an attempt. No correspondent has an answer to send.</p>
      )}
      <ul class="rows due">
        {due.slice(0, MAX_DUE).map(({ id, at, icon, what, to, waitsFor }) => (
          <li key={id}>
            <Chip icon={icon} text={at === null ? 'no set time' : <Time at={at} />} />
            <span>
              {what} <span class="soft">to</span> <UserText text={to} />
              <br />
              <UserText inside="small" class="soft" text={waitsFor} />
            </span>
          </li>
        ))}
      </ul>
      {due.length > MAX_DUE && <p class="hint">And {due.length - MAX_DUE} more.</p>}
    </section>
  );
}
