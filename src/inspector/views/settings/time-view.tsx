import { FastForward, type IconNode, Pause, Play, Reply, Square, Webhook } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import { plural } from '../../../basics/text.ts';
import type { ControlClient, InputTo } from '../../../control/table/client.ts';
import { linkTo, type Route } from '../../page-route.ts';
import { Button, Chip, Failure, Form, Frame, Icon, Loading, TextField, textIn } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { formatFullTime, formatSpan, Time, UserText, useNow } from '../../text.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { markOf, summarise, urlOf } from '../webhooks/explain-delivery.ts';
import { Faults } from './faults.tsx';

/** The time, what falls due next, and the faults. */
export function TimeView({ route }: { readonly route: Route }) {
  const scope = useScope();
  const { sandbox } = scope;
  const { value, error } = useLoaded((client) => loadDue(client, sandbox), `due in ${sandbox}`);
  const due = value?.filter(({ item }) => isInScope(scope, item));
  return (
    <>
      <Frame title="Time and faults" />
      <div class="page">
        <Clock waitingCount={due?.length ?? 0} />
        {due ? <DueNext due={due} /> : <Loading error={error} />}
        <Faults chosen={route.id} />
      </div>
    </>
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
  /** What it is. */
  readonly what: string;
  /** The links to it, and to all that are due like it; undefined for an answer. */
  readonly link?: string;
  readonly groupLink?: string;
  readonly to: string;
  readonly waitsFor: string;
}

/** Things that are due for the same reason at the same place, the first due first. */
type DueGroup = readonly [first: Due, ...others: Due[]];

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
      const count = attempts.length;
      const failure = count === 0 ? '' : `; attempt ${count} failed: ${attempts.at(-1)?.error}`;
      return {
        id,
        item: delivery,
        at,
        icon: Webhook,
        what: event,
        link: linkTo('webhooks', id),
        groupLink: linkTo('webhooks', undefined, { webhook: delivery.webhookId, state: markOf(delivery).text }),
        to: urlOf(delivery, urls),
        waitsFor: at === null ? summarise(delivery) : `attempt ${count + 1}${failure}`,
      };
    });
  const answers = correspondents.flatMap(({ id, address, afterMs, due }) =>
    due.map((item, index): Due => {
      const what = `Answer of ${address}`;
      const { at, to, subject } = item;
      const waitsFor = `to “${subject}”, ${formatSpan(afterMs)} after it`;
      return { id: `${id} ${index}`, item, at, icon: Reply, what, to, waitsFor };
    }),
  );
  // A delivery that waits for another delivery or for a release has no time. `9` puts it after all times.
  return [...answers, ...waitingDeliveries].sort((one, other) => ((one.at ?? '9') < (other.at ?? '9') ? -1 : 1));
}

/** Joins what is due for the same reason at the same place, in the order in which the first of each is due. */
function groupDue(due: readonly Due[]): DueGroup[] {
  const groups = new Map<string, [Due, ...Due[]]>();
  for (const each of due) {
    const key = JSON.stringify([each.what, each.to, each.waitsFor]);
    const group = groups.get(key);
    if (group) group.push(each);
    else groups.set(key, [each]);
  }
  return [...groups.values()];
}

/** What falls due next: what, to whom, when, and what it waits for. What is alike is one line. */
function DueNext({ due }: { readonly due: readonly Due[] }) {
  const [shownCount, setShownCount] = useState(MAX_DUE);
  const groups = groupDue(due);
  const hidden = groups.length - shownCount;
  return (
    <section class="card" aria-label="Due next">
      <h2>Due next</h2>
      {due.length === 0 && (
        <p class="hint">
          No delivery waits for an attempt. No correspondent has an answer to send: add one in{' '}
          <a href={linkTo('run')}>Run</a>.
        </p>
      )}
      <ul class="rows due">
        {groups.slice(0, shownCount).map((group) => (
          <DueLine key={group[0].id} group={group} />
        ))}
      </ul>
      {hidden > 0 && (
        <Button text={`Show ${hidden.toLocaleString('en')} more`} onClick={() => setShownCount(groups.length)} />
      )}
    </section>
  );
}

/** One line of what is due: a delivery or an answer, or several that are alike, of which the first is due first. */
function DueLine({ group }: { readonly group: DueGroup }) {
  const [{ at, icon, what, link, groupLink, to, waitsFor }] = group;
  const last = group.at(-1)?.at ?? null;
  const isOne = group.length === 1;
  return (
    <li>
      <Chip icon={icon} text={at === null ? 'no set time' : <Time at={at} />} />
      <span>
        {link === undefined ? (
          <UserText text={what} />
        ) : (
          <a class="quiet-link" href={isOne ? link : (groupLink ?? link)}>
            {what}
          </a>
        )}{' '}
        <span class="soft">to</span> <UserText text={to} />{' '}
        {!isOne && <strong>{plural(group.length, 'time', 'times')}</strong>}
        <br />
        <UserText inside="small" class="soft" text={waitsFor} />{' '}
        {!isOne && last !== null && last !== at && (
          <small class="soft">
            · the last <Time at={last} />
          </small>
        )}
      </span>
    </li>
  );
}
