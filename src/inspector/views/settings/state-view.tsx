import { Bookmark, Download, Minus, Pencil, Plus, RotateCcw } from 'lucide';
import type { ControlClient } from '../../../control/table/client.ts';
import { useInspector } from '../../inspector.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import {
  Button,
  ButtonLink,
  Chip,
  Facts,
  Failure,
  Form,
  Frame,
  Icon,
  Loading,
  Select,
  saveFile,
  TextField,
  textIn,
} from '../../parts.tsx';
import { createNameFinder, useScope } from '../../scope.ts';
import { Time, UserText } from '../../text.tsx';
import { RemovalButton, useUndoableChange } from '../../undo.tsx';
import { useAction, useLoaded } from '../../use-loaded.ts';
import { describeRestore, useReset } from '../../use-reset.ts';
import { countItems, describeChanges, nameItem, showValue } from './describe-difference.ts';

/** Resets the data, saves and compares checkpoints, and exports everything: of the chosen sandbox, or of the emulator. */
export function StateView({ route }: { readonly route: Route }) {
  const { sandbox, tenant } = useScope();
  const { run, error: actionError } = useAction();
  const { value, error } = useLoaded((client) => client.listCheckpoints({}, { sandbox }), `checkpoints of ${sandbox}`);
  const reset = useReset();
  const names = value?.checkpoints.map(({ name }) => name) ?? [];
  return (
    <>
      <Frame title="State">
        <Button icon={Download} text="Export as a fixture" onClick={() => run(createExportCall(sandbox))} />
        <RemovalButton {...reset} />
      </Frame>
      <div class="page">
        {sandbox !== undefined && <p class="hint">This is the state of the chosen sandbox alone.</p>}
        {sandbox === undefined && tenant !== undefined && (
          <p class="hint">Tenants have no state of their own: this is the state of the whole emulator.</p>
        )}
        <Failure error={actionError} />
        <section class="card" aria-label="Checkpoints">
          <h2>Checkpoints</h2>
          <Form
            className="inline"
            submit={(data, { currentTarget }) => run(createSaveCall(data, currentTarget, sandbox))}
          >
            <TextField label="Name" name="name" required />
            <Button text="Save a checkpoint" type="submit" class="primary" />
          </Form>
          {!value && <Loading error={error} />}
          {value?.checkpoints.length === 0 && (
            <p class="hint">No checkpoint has been saved yet. Give one a name and save it.</p>
          )}
          <ul class="rows">
            {value?.checkpoints.map(({ name, createdAt }) => (
              <Checkpoint key={name} name={name} createdAt={createdAt} isOpen={name === route.id} />
            ))}
          </ul>
        </section>
        {route.id !== undefined && <Difference from={route.id} to={route.options.to ?? 'now'} names={names} />}
      </div>
    </>
  );
}

const createExportCall = (sandbox: string | undefined) => async (client: ControlClient) => {
  const fixture = await client.exportState({}, { sandbox });
  saveFile('mailbox.json', new Blob([JSON.stringify(fixture, null, 2)]));
};

/** Returns the call that saves a checkpoint and then empties the form. */
const createSaveCall =
  (data: FormData, form: HTMLFormElement, sandbox: string | undefined) => async (client: ControlClient) => {
    await client.addCheckpoint({ name: textIn(data, 'name') }, { sandbox });
    form.reset();
  };

type CheckpointProps = { name: string; createdAt: string; isOpen: boolean };

function Checkpoint({ name, createdAt, isOpen }: CheckpointProps) {
  const { client } = useInspector();
  const { sandbox } = useScope();
  const change = (client: ControlClient) => client.restoreCheckpoint({ name }, { sandbox });
  const restore = useUndoableChange(`Before restoring ${name.slice(0, 60)}`, change, async () => sandbox);
  const remove = async () => {
    await client.removeCheckpoint({ name }, { sandbox });
    return undefined;
  };
  return (
    <li aria-current={isOpen ? 'true' : undefined}>
      <Icon icon={Bookmark} />
      <UserText inside="strong" text={name} /> <Time at={createdAt} />
      <span class="buttons">
        <ButtonLink text="Compare" href={linkTo('state', name)} />
        <RemovalButton
          icon={RotateCcw}
          label="Restore"
          question={{ title: `Restore “${name}”?`, text: describeRestore(`“${name}”`, sandbox) }}
          change={restore}
        />
        <RemovalButton
          label="Remove"
          question={{ title: `Remove the checkpoint “${name}”?`, text: 'What it keeps is lost for good.' }}
          change={remove}
        />
      </span>
    </li>
  );
}

const CHANGES = [
  ['added', 'good', Plus],
  ['removed', 'bad', Minus],
  ['changed', 'warn', Pencil],
] as const;

/** Shows what differs between a checkpoint and another checkpoint, or the present state. */
function Difference({ from, to, names }: { from: string; to: string; names: readonly string[] }) {
  const scope = useScope();
  const { sandbox } = scope;
  const nameOf = createNameFinder(scope);
  const load = (client: ControlClient) => client.diffCheckpoints({ from, to }, { sandbox });
  const { value, error } = useLoaded(load, `${sandbox}/${from}/${to}`);
  const changes = value && CHANGES.filter(([change]) => Object.keys(value[change]).length > 0);
  return (
    <section class="card" aria-label="Difference">
      <div class="head">
        <h2>What differs from {from}</h2>
        <Select
          label="Compared with"
          value={to}
          options={[['now', 'the present state'], ...names.map((name) => [name, name] as const)]}
          choose={(to) => open(linkTo('state', from, { to }))}
        />
      </div>
      <Failure error={error} />
      {changes?.length === 0 && <p class="hint">Nothing differs.</p>}
      {changes?.map(([change, tone, icon]) => (
        <details key={change} open>
          <summary>
            <Chip tone={tone} icon={icon} text={change} /> {countKinds(value?.[change] ?? {})}
          </summary>
          <ul class="rows" aria-label={change}>
            {Object.entries(value?.[change] ?? {}).map(([kind, items]) => (
              <DifferentItems
                key={kind}
                kind={kind}
                items={Object.entries(items)}
                isChange={change === 'changed'}
                nameOf={nameOf}
              />
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}

/** How many items of a kind are shown. */
const MAX_ITEMS = 100;

interface DifferentItemsProps {
  readonly kind: string;
  readonly items: readonly (readonly [id: string, item: object])[];
  /** Whether the items have the fields that changed, or else all their fields. */
  readonly isChange: boolean;
  readonly nameOf: ReturnType<typeof createNameFinder>;
}

/** The items of a kind that differ, each in a line: what it is, and what changed in it or, on demand, all that it has. */
function DifferentItems({ kind, items, isChange, nameOf }: DifferentItemsProps) {
  return (
    <>
      {items.slice(0, MAX_ITEMS).map(([id, item]) => {
        const name = <UserText text={nameItem(kind, id, isChange ? undefined : item, nameOf(id))} />;
        return (
          <li key={id} class="block">
            {isChange ? (
              <>
                <strong>{name}</strong>
                {describeChanges({ ...item }).map((text) => (
                  <UserText key={text} inside="p" text={text} />
                ))}
              </>
            ) : (
              <details>
                <summary>{name}</summary>
                <Facts
                  facts={Object.entries(item).map(([field, value]) => [
                    field,
                    <UserText key={field} text={showValue(value)} />,
                  ])}
                />
              </details>
            )}
          </li>
        );
      })}
      {items.length > MAX_ITEMS && (
        <li class="hint">{`and ${(items.length - MAX_ITEMS).toLocaleString('en')} more ${kind}`}</li>
      )}
    </>
  );
}

/** Returns how many items there are of each kind, such as `2 messages`. */
function countKinds(items: Readonly<Record<string, object>>): string {
  return Object.entries(items)
    .map(([kind, itemsById]) => countItems(kind, Object.keys(itemsById).length))
    .join(', ');
}
