import type { RequestEntry } from '../../../control/journal/request-entry.ts';
import type { ReplyTo } from '../../../control/table/client.ts';
import { linkTo } from '../../page-route.ts';
import { Failure } from '../../parts.tsx';
import { useLoaded } from '../../use-loaded.ts';

/** The behaviours on which a reply depended, with what the document says and how to change them. */
export function ShapingBehaviours({ entry }: { readonly entry: RequestEntry }) {
  const { behaviours, error } = useBehaviours();
  const { assumptions, choices } = entry;
  const ids = [...Object.keys(choices), ...assumptions];
  if (ids.length === 0) return <p class="hint">This reply depends on no point that the document leaves open.</p>;
  const shown = behaviours?.filter(({ id }) => ids.includes(id)) ?? [];
  return (
    <>
      <Failure error={error} />
      <ul class="rows">
        {shown.map((behaviour) => (
          <li key={behaviour.id} class="block">
            <ShapingBehaviour behaviour={behaviour} value={(choices as Record<string, string>)[behaviour.id]} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A behaviour on which the reply depended. `value` is its value at that time; `undefined` for an assumption. */
function ShapingBehaviour({ behaviour, value = '' }: { behaviour: Behaviour; value: string | undefined }) {
  const { id, question } = behaviour;
  const isChangeable = 'choices' in behaviour;
  return (
    <details>
      <summary>
        {question} <code>{id}</code>
      </summary>
      {isChangeable ? (
        <p>
          Here: <code>{value}</code>, {behaviour.choices[value] ?? 'a value of your own'}
        </p>
      ) : (
        <p>Here: {behaviour.assumption}</p>
      )}
      <p class="soft">
        {describeOrigin(behaviour)} <a href={linkTo('choices', undefined, { search: id })}>Show it in Behaviours</a>
      </p>
      {isChangeable ? <OtherValues behaviour={behaviour} value={value} /> : <p class="soft">It cannot be changed.</p>}
    </details>
  );
}

/** The other values of a behaviour, each with the flag that starts the emulator with it. */
function OtherValues({ behaviour, value }: { behaviour: ChangeableBehaviour; value: string }) {
  const { id, choices, otherValues } = behaviour;
  const others = Object.entries(choices).filter(([name]) => name !== value);
  return (
    <>
      <p>To change it, choose another value there, or start the emulator with:</p>
      <ul>
        {others.map(([name, meaning]) => (
          <li key={name}>
            <code>
              --behaviour {id}={name}
            </code>{' '}
            {meaning}
          </li>
        ))}
        {otherValues && <li class="soft">Other values: {otherValues.rule}</li>}
      </ul>
    </>
  );
}

/** A point at which the service could behave in more than one way. */
export type Behaviour = ReplyTo<'listBehaviours'>['behaviours'][number];

/** A behaviour that can be changed. */
export type ChangeableBehaviour = Extract<Behaviour, { choices: unknown }>;

/** Loads all behaviours with their current values. */
export function useBehaviours() {
  const { value, error } = useLoaded((client) => client.listBehaviours(), 'behaviours');
  return { behaviours: value?.behaviours, error };
}

const ORIGINS: Readonly<Record<Behaviour['origin'], string>> = {
  document: 'The service document says so',
  reference: 'The document leaves this open; the public reference says so',
  assumed: 'Neither the document nor the public reference says this; the emulator assumes it',
};

/** Says in one sentence where a default value or an assumption comes from. */
export function describeOrigin({ origin, section }: Behaviour): string {
  return `${ORIGINS[origin]} (section ${section}).`;
}
