import { Download } from 'lucide';
import type { ControlClient } from '../../../control/table/client.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import {
  Button,
  ButtonLink,
  Failure,
  Field,
  Form,
  Json,
  Loading,
  Select,
  saveFile,
  TextField,
  textIn,
} from '../../parts.tsx';
import { UserText } from '../../text.tsx';
import { Time } from '../../time.tsx';
import { type Action, useAction, useLoaded } from '../../use-loaded.ts';
import { RemovingButton, useUndoableChange } from './undo.tsx';

/** Resets the data, saves and compares checkpoints, and exports everything. */
export function StateView({ route }: { readonly route: Route }) {
  const action = useAction();
  const { run } = action;
  const { value, error } = useLoaded((client) => client.listCheckpoints(), 'checkpoints');
  const reset = useUndoableChange('Before the reset', (client) => client.reset());
  return (
    <div class="page">
      <div class="head">
        <h1>State</h1>
        <Button icon={Download} text="Export as a fixture" onClick={() => run(exportState)} />
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

async function exportState(client: ControlClient): Promise<void> {
  const fixture = await client.exportState();
  saveFile('mailbox.json', new Blob([JSON.stringify(fixture, null, 2)]));
}

function NewCheckpoint({ run }: { readonly run: Run }) {
  const add = (data: FormData, { currentTarget }: { readonly currentTarget: HTMLFormElement }) => {
    void run((client) => client.addCheckpoint({ name: textIn(data, 'name') }));
    currentTarget.reset();
  };
  return (
    <Form className="inline" submit={add}>
      <TextField label="Name" name="name" required />
      <Button text="Save a checkpoint" type="submit" class="primary" />
    </Form>
  );
}

function Checkpoint({ name, createdAt, run }: { name: string; createdAt: string; run: Run }) {
  const restore = useUndoableChange(`Before restoring ${name.slice(0, 60)}`, (client) =>
    client.restoreCheckpoint({ name }),
  );
  return (
    <li>
      <UserText inside="strong" text={name} /> <Time at={createdAt} />
      <span class="buttons">
        <ButtonLink text="Compare" href={linkTo('state', name)} />
        <RemovingButton label="Restore" warning={warningOf(`“${name}”`)} change={restore} />
        <Button text="Remove" class="quiet danger" onClick={() => run((client) => client.removeCheckpoint({ name }))} />
      </span>
    </li>
  );
}

const CHANGES = ['added', 'removed', 'changed'] as const;

/** Shows what differs between a checkpoint and another one, or the present state. */
function Difference({ from, to, names }: { from: string; to: string; names: readonly string[] }) {
  const { value, error } = useLoaded((client) => client.diffCheckpoints({ from, to }), `${from}/${to}`);
  const kinds = value && CHANGES.filter((change) => Object.keys(value[change]).length > 0);
  return (
    <section class="card" aria-label="Difference">
      <h2>What differs from {from}</h2>
      <Field label="In">
        <Select
          label="In"
          value={to}
          options={['now', ...names]}
          choose={(to) => open(linkTo('state', from, { to }))}
        />
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
