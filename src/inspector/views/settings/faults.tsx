import { Ban, Clock, Copy, type IconNode, PlugZap, Plus, Trash2, Zap } from 'lucide';
import { type ControlClient, type InputTo, type ReplyTo, undefinedIfRefused } from '../../../control/table/client.ts';
import { Button, Chip, Failure, Icon, Loading } from '../../parts.tsx';
import { isInScope, useScope } from '../../scope.ts';
import { formatSpan } from '../../time.tsx';
import { type Action, useAction, useLoaded } from '../../use-loaded.ts';
import { FaultForm } from './fault-form.tsx';

type Fault = ReplyTo<'listFaults'>['faults'][number];

/** Faults that are often wanted. */
const PRESETS: readonly (readonly [text: string, icon: IconNode, fault: InputTo<'addFault'>])[] = [
  ['Next 2 sends answer 503', Ban, { on: 'request', operation: 'sendMessage', status: 503, times: 2 }],
  ['Every reply 2 s late', Clock, { on: 'request', latency: { ms: 2_000 } }],
  ['Rate limit: 5 a minute', Zap, { on: 'request', rateLimit: { limit: 5, per: '1m' } }],
  ['Receiver down for 3 deliveries', PlugZap, { on: 'delivery', kind: 'unreachable', times: 3 }],
  ['Next 3 deliveries come twice', Copy, { on: 'delivery', kind: 'duplicate', times: 3 }],
];

/** Any event may be one that a fault has let pass before it applies. */
const isAnything = () => true;

/** The faults that are set, and what adds one: a preset, or a form with every field. */
export function Faults({ chosen }: { readonly chosen: string | undefined }) {
  const scope = useScope();
  const { run, error: failure, isRunning } = useAction();
  const { value, error } = useLoaded((client) => client.listFaults(), 'faults', isAnything);
  const faults = value?.faults.filter((fault) => isInScope(scope, fault));
  // The filter hides those of other tenants, so they stay.
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
      {!faults && <Loading error={error} />}
      <Failure error={failure} />
      {faults?.length === 0 && <p class="hint">Nothing goes wrong by a fault.</p>}
      <ul class="rows">
        {faults?.map((fault) => (
          <FaultRow key={fault.id} fault={fault} isChosen={fault.id === chosen} run={run} />
        ))}
      </ul>
      {chosen !== undefined && faults?.every(({ id }) => id !== chosen) && (
        <p class="hint">The fault of the link is no longer set: it was used up or removed.</p>
      )}
      <Presets run={run} isRunning={isRunning} />
      <details>
        <summary>
          <Icon of={Plus} /> More: any fault
        </summary>
        <FaultForm />
      </details>
    </section>
  );
}

interface FaultRowProps {
  readonly fault: Fault;
  readonly isChosen: boolean;
  readonly run: Action['run'];
}

function FaultRow({ fault, isChosen, run }: FaultRowProps) {
  return (
    <li class={isChosen ? 'chosen' : undefined}>
      <Chip tone="warn" text={fault.on} />
      <span>{describeFault(fault)}</span>
      <span class="buttons">
        <Button
          icon={Trash2}
          text="Remove"
          class="quiet danger"
          onClick={() => run((client) => client.removeFault({ id: fault.id }))}
        />
      </span>
    </li>
  );
}

/** Adds a fault that is often wanted, for the chosen tenant or for all. */
function Presets({ run, isRunning }: Pick<Action, 'run' | 'isRunning'>) {
  const { tenant } = useScope();
  return (
    <div class="buttons">
      {PRESETS.map(([text, icon, fault]) => (
        <Button
          icon={icon}
          text={text}
          key={text}
          disabled={isRunning}
          onClick={() => run((client) => client.addFault({ ...fault, tenant } as InputTo<'addFault'>))}
        />
      ))}
    </div>
  );
}

/** Says what a fault does, where, and how often, in one line. */
export function describeFault({ id: _, on: __, ...fault }: Fault): string {
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
