import { FlaskConical } from 'lucide';
import { createContext, type VNode } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../../../basics/text.ts';
import type { ControlClient, ReplyTo } from '../../../control/table/client.ts';
import { linkTo, open, useRoute } from '../../page-route.ts';
import { Button, Chip, Failure, Field, Form, Loading, Select, TextField, textIn } from '../../parts.tsx';
import { type Scope, useScope } from '../../scope.ts';
import { noEvent, useAction, useLoaded } from '../../use-loaded.ts';

type Sample = ReplyTo<'listKnownSamples'>['samples'][number];

const INJECTIONS = 'injection';

/** Opens the dialog of the samples, in which the given ones are chosen. */
export type ShowSamples = (...names: readonly string[]) => void;

/** Provides the function that opens the dialog of the samples. */
export const SamplesContext = createContext<ShowSamples>(() => {});

/** A button that opens the dialog of the samples: mails that agents often handle wrongly. */
export function SamplesButton({ text }: { readonly text: string }) {
  const show = useContext(SamplesContext);
  return <Button icon={FlaskConical} text={text} onClick={() => show()} />;
}

/** Returns the function that opens the dialog of the samples, and the dialog. */
export function useSamplesDialog(): [show: ShowSamples, dialog: VNode | undefined] {
  const dialog = useRef<HTMLDialogElement>(null);
  const [names, setNames] = useState<readonly string[]>();
  useLayoutEffect(() => {
    if (names) dialog.current?.showModal();
  }, [names]);
  return [
    (...names) => setNames(names),
    names && (
      <dialog
        key="samples"
        ref={dialog}
        class="samples"
        aria-labelledby="samples-title"
        onClose={() => setNames(undefined)}
      >
        <SamplesForm names={names} close={() => dialog.current?.close()} />
      </dialog>
    ),
  ];
}

interface SamplesFormProps {
  /** The samples that are chosen at first. */
  readonly names: readonly string[];
  close(): void;
}

/** The samples by family, of which several can be chosen, and the inbox to which they are delivered. */
function SamplesForm({ names, close }: SamplesFormProps) {
  const scope = useScope();
  const { options } = useRoute();
  const { value, error } = useLoaded((client) => client.listKnownSamples(), 'known-samples', noEvent);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(() => new Set(names));
  const inboxes = listInboxes(scope);
  const [to, setTo] = useState(inboxes.find(({ id }) => id === options.inbox)?.id ?? inboxes[0]?.id ?? '');
  const action = useAction();
  const samples = value?.samples ?? [];
  // The injections come first, because they are what most agents are tested with.
  const families = [...new Set([INJECTIONS, ...samples.map(({ family }) => family)])];
  const namesOf = (family: string) => samples.flatMap((sample) => (sample.family === family ? sample.name : []));
  const change = (names: readonly string[], isOn: boolean) =>
    setChosen(new Set([...[...chosen].filter((name) => !names.includes(name)), ...(isOn ? names : [])]));
  const injections = namesOf(INJECTIONS);
  const deliver = async (client: ControlClient, times: number) => {
    const inbox = inboxes.find(({ id }) => id === to);
    if (!inbox) throw new Error('Choose an inbox.');
    const once = value ? samples.flatMap(({ name }) => (chosen.has(name) ? name : [])) : [...chosen];
    const names = Array.from({ length: times }, () => once).flat();
    for (const [index, sample] of names.entries()) {
      try {
        await client.receiveMessage({ sample, to: inbox.address }, { sandbox: inbox.sandbox });
      } catch (error) {
        const delivered = `${index} of ${plural(names.length, 'sample was', 'samples were')} delivered.`;
        throw new Error(`${sample}: ${(error as Error).message} ${delivered}`);
      }
    }
    close();
    // The results of the samples are in the run.
    open(linkTo('run', undefined, { tenant: options.tenant }));
  };
  return (
    <Form label="Samples" submit={(data) => action.run((client) => deliver(client, Number(textIn(data, 'times'))))}>
      <h1 id="samples-title">Samples</h1>
      <p class="hint">
        Mails that agents often handle wrongly. The view Run shows what the agent did with the latest 20 of each tenant.
      </p>
      <Field label="To">
        <Select label="To" value={to} options={inboxes.map(({ id, name }) => [id, name] as const)} choose={setTo} />
      </Field>
      <TextField label="How many times each" name="times" type="number" min={1} max={100} required defaultValue="1" />
      {!value && <Loading error={error} />}
      {value && (
        <p class="buttons">
          <Button text="All injections" onClick={() => change(injections, true)} />
          <Button text="None" disabled={chosen.size === 0} onClick={() => setChosen(new Set())} />
        </p>
      )}
      <div class="families">
        {value &&
          families.map((family) => (
            <Family
              key={family}
              family={family}
              samples={samples.filter((sample) => sample.family === family)}
              chosen={chosen}
              change={change}
            />
          ))}
      </div>
      <Failure error={action.error} />
      <p class="buttons">
        <Button
          icon={FlaskConical}
          text={`Deliver ${plural(chosen.size, 'sample', 'samples')}`}
          type="submit"
          class="primary"
          autofocus={names.length > 0}
          disabled={action.isRunning || chosen.size === 0}
        />
        <Button text="Cancel" onClick={close} />
      </p>
    </Form>
  );
}

interface FamilyProps {
  readonly family: string;
  readonly samples: readonly Sample[];
  readonly chosen: ReadonlySet<string>;
  change(names: readonly string[], isOn: boolean): void;
}

function Family({ family, samples, chosen, change }: FamilyProps) {
  const names = samples.map(({ name }) => name);
  const count = names.filter((name) => chosen.has(name)).length;
  return (
    <fieldset aria-label={family}>
      <label class="check family">
        <input
          type="checkbox"
          checked={count === names.length}
          indeterminate={count > 0 && count < names.length}
          onChange={({ currentTarget }) => change(names, currentTarget.checked)}
        />
        <strong>{family}</strong> <span class="soft small">{names.length}</span>
      </label>
      {samples.map(({ name, should, mustNot, hasOracle }) => (
        <label key={name} class="check sample-choice">
          <input
            type="checkbox"
            checked={chosen.has(name)}
            onChange={({ currentTarget }) => change([name], currentTarget.checked)}
          />
          <span>
            <code>{name}</code> {!hasOracle && <Chip text="no verdict" />}
            <span class="small soft">
              <br />
              Should: {should}
              <br />
              Must not: {mustNot}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Returns the inboxes of the chosen tenant or of all, each with its sandbox. */
function listInboxes({ tenants, tenant }: Scope) {
  return tenants
    .filter(({ id }) => tenant === undefined || id === tenant)
    .flatMap(({ id: tenantId, name, isSandbox, workspaces }) =>
      workspaces.flatMap(({ inboxes }) =>
        inboxes.map(({ id, address }) => ({
          id,
          address,
          name: isSandbox ? `${address} (sandbox ${name})` : address,
          sandbox: isSandbox ? tenantId : undefined,
        })),
      ),
    );
}
