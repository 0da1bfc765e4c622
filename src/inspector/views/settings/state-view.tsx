import { Download } from 'lucide';
import { useState } from 'preact/hooks';
import { useInspector } from '../../inspector.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import { Failure, Field, Icon, Json, Loading, saveFile } from '../../parts.tsx';
import { UserText } from '../../text.tsx';
import { Time } from '../../time.tsx';
import { type Action, useAction, useLoaded } from '../../use-loaded.ts';
import { RemovingButton, useUndoableChange } from './undo.tsx';

/** Resets the data, saves and compares checkpoints, and exports everything. */
export function StateView({ route }: { readonly route: Route }) {
  const { client } = useInspector();
  const action = useAction();
  const { run } = action;
  const { value, error } = useLoaded(() => client.listCheckpoints(), 'checkpoints');
  const reset = useUndoableChange('Before the reset', () => client.reset());
  return (
    <div class="page">
      <div class="head">
        <h1>State</h1>
        <button type="button" onClick={() => run(() => exportState(client))}>
          <Icon of={Download} /> Export as a fixture
        </button>
        <RemovingButton label="Reset all data" warning={warningOf('the start')} change={reset} />
      </div>
      <Failure error={action.error} />
      <section class="card" aria-label="Checkpoints">
        <h2>Checkpoints</h2>
        <NewCheckpoint run={run} />
        {!value && <Loading error={error} />}
        {value?.checkpoints.length === 0 && <p class="hint">No checkpoint has been saved yet.</p>}
        <ul class="rows">
          {value?.checkpoints.map(({ name, createdAt }) => (
            <Checkpoint key={name} name={name} createdAt={createdAt} run={run} />
          ))}
        </ul>
      </section>
      {route.id !== undefined && (
        <Difference
          from={route.id}
          to={route.options.to ?? 'now'}
          names={value?.checkpoints.map(({ name }) => name) ?? []}
        />
      )}
    </div>
  );
}

/** Says what is removed when a state is restored. */
const warningOf = (state: string) =>
  `This restores the data, keys, faults and clocks of ${state}. What was added or changed since is removed. It ` +
  'also removes all deliveries and requests, and closes all streams and sandboxes; an undo does not bring these ' +
  'back.';

type Run = Action['run'];

async function exportState(client: ReturnType<typeof useInspector>['client']): Promise<void> {
  const fixture = await client.exportState();
  saveFile('mailbox.json', new Blob([JSON.stringify(fixture, null, 2)]));
}

function NewCheckpoint({ run }: { readonly run: Run }) {
  const { client } = useInspector();
  const [name, setName] = useState('');
  return (
    <form
      class="inline"
      onSubmit={(event) => {
        event.preventDefault();
        void run(() => client.addCheckpoint({ name }));
        setName('');
      }}
    >
      <Field label="Name">
        <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </Field>
      <button type="submit" class="primary">
        Save a checkpoint
      </button>
    </form>
  );
}

interface CheckpointProps {
  readonly name: string;
  readonly createdAt: string;
  readonly run: Run;
}

function Checkpoint({ name, createdAt, run }: CheckpointProps) {
  const { client } = useInspector();
  const restore = useUndoableChange(`Before restoring ${name.slice(0, 60)}`, () => client.restoreCheckpoint({ name }));
  return (
    <li>
      <strong>
        <UserText text={name} />
      </strong>{' '}
      <Time at={createdAt} />
      <span class="buttons">
        <a class="button" href={linkTo('state', name)}>
          Compare
        </a>
        <RemovingButton label="Restore" warning={warningOf(`“${name}”`)} change={restore} />
        <button type="button" class="quiet danger" onClick={() => run(() => client.removeCheckpoint({ name }))}>
          Remove
        </button>
      </span>
    </li>
  );
}

const CHANGES = ['added', 'removed', 'changed'] as const;

interface DifferenceProps {
  readonly from: string;
  readonly to: string;
  /** The names of all checkpoints. */
  readonly names: readonly string[];
}

/** Shows what differs between a checkpoint and another one, or the present state. */
function Difference({ from, to, names }: DifferenceProps) {
  const { client } = useInspector();
  const load = () => client.diffCheckpoints({ from, to });
  const { value, error } = useLoaded(load, `${from}/${to}`);
  const kinds = value && CHANGES.filter((change) => Object.keys(value[change]).length > 0);
  return (
    <section class="card" aria-label="Difference">
      <h2>What differs from {from}</h2>
      <Field label="In">
        <select value={to} onChange={({ currentTarget }) => open(linkTo('state', from, { to: currentTarget.value }))}>
          {['now', ...names].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <Failure error={error} />
      {kinds?.length === 0 && <p class="hint">Nothing differs.</p>}
      {kinds?.map((change) => (
        <section key={change}>
          <h3>{change}</h3>
          <Json value={value?.[change]} label={change} />
        </section>
      ))}
    </section>
  );
}
