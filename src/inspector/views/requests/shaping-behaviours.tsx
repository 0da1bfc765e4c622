import type { RequestEntry } from '../../../control/journal/request-entry.ts';
import type { ReplyTo } from '../../../control/table/client.ts';
import { linkTo } from '../../page-route.ts';
import { Failure } from '../../parts.tsx';
import { useLoaded } from '../../use-loaded.ts';

/**
 * The open points on which a reply depended: the choices that were read for it, and the assumptions of the ledger about
 * its operation. Each has what the document says, and how to change it.
 */
export function ShapingBehaviours({ entry }: { readonly entry: RequestEntry }) {
  const { behaviours = [], error } = useBehaviours();
  const { operation } = entry;
  const choices: Readonly<Record<string, string>> = entry.choices;
  const isAbout = (behaviour: Behaviour) =>
    'assumption' in behaviour && operation !== null && behaviour.operations?.includes(operation) === true;
  const read = behaviours.filter(({ id }) => Object.hasOwn(choices, id));
  const assumed = behaviours.filter(isAbout);
  return (
    <>
      <Failure error={error} />
      {Object.keys(choices).length === 0 && <p class="hint">This reply depends on no choice.</p>}
      <ul class="rows">
        {read.map((behaviour) => (
          <li key={behaviour.id} class="block">
            <ShapingBehaviour behaviour={behaviour} value={choices[behaviour.id]} />
          </li>
        ))}
      </ul>
      {assumed.length > 0 && (
        <details>
          <summary>What is assumed about {operation}</summary>
          <ul class="rows">
            {assumed.map((behaviour) => (
              <li key={behaviour.id} class="block">
                <ShapingBehaviour behaviour={behaviour} value={undefined} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** One open point. `value` is the value of a choice at that time; `undefined` for an assumption. */
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
