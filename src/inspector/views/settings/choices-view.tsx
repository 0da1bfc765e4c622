import { Pin, RotateCcw } from 'lucide';
import { linkTo, open, type Route } from '../../page-route.ts';
import { Button, Chip, countOf, Failure, Loading, SearchField } from '../../parts.tsx';
import { useAction } from '../../use-loaded.ts';
import {
  type Behaviour,
  type ChangeableBehaviour,
  describeOrigin,
  useBehaviours,
} from '../requests/shaping-behaviours.tsx';

/** The ledger: every point at which the service could behave in more than one way. */
export function ChoicesView({ route }: { readonly route: Route }) {
  const { behaviours, error } = useBehaviours();
  const search = route.options.search ?? '';
  const found = behaviours?.filter((behaviour) => hasWords(behaviour, search));
  const shown = route.id === undefined ? found : found?.filter(({ id }) => id === route.id);
  return (
    <div class="page">
      <div class="head">
        <h1>Behaviours</h1>
        {route.id !== undefined && <a href={linkTo('choices')}>All behaviours</a>}
        <SearchField
          label="Search behaviours"
          value={search}
          search={(text) => open(linkTo('choices', undefined, { search: text }), { replace: true })}
        />
      </div>
      <p class="hint">
        Where the service document is silent, the emulator behaves as listed here. A change holds at once, and until a
        reset; --behaviour id=value sets one for each start.
      </p>
      {!behaviours && <Loading error={error} />}
      {shown && <p role="status">{countOf(shown.length, 'behaviour', 'behaviours')}</p>}
      {shown?.length === 0 && <p class="hint">No behaviour has all of these words. Try fewer words, or other ones.</p>}
      <ul class="rows">
        {shown?.map((behaviour) => (
          <Choice key={behaviour.id} behaviour={behaviour} />
        ))}
      </ul>
    </div>
  );
}

/** Returns whether a behaviour has every word of a search, in any order. */
function hasWords(behaviour: Behaviour, search: string): boolean {
  const { id, question, section } = behaviour;
  const answers = 'choices' in behaviour ? Object.entries(behaviour.choices).flat() : [behaviour.assumption];
  const text = [id, question, section, ...answers].join('\n').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function Choice({ behaviour }: { readonly behaviour: Behaviour }) {
  const { id, question } = behaviour;
  return (
    <li class="block">
      <h2>
        <a href={linkTo('choices', id)}>{id}</a>
      </h2>
      <p>{question}</p>
      {'choices' in behaviour ? <Values behaviour={behaviour} /> : <p>{behaviour.assumption}</p>}
      <p class="soft">{describeOrigin(behaviour)}</p>
    </li>
  );
}

const SOURCES = { changed: 'changed here', option: 'set at the start', profile: 'set by the profile' } as const;

/** The values of a behaviour, of which a person can choose another one. */
function Values({ behaviour }: { readonly behaviour: ChangeableBehaviour }) {
  const { id, choices, value, default: usual, otherValues, source, start, isPinned } = behaviour;
  const action = useAction();
  const choose = (value: string | null) => action.run((client) => client.changeBehaviours({ [id]: value }));
  return (
    <fieldset>
      <legend class="hidden">{id}</legend>
      {Object.entries(choices).map(([name, meaning]) => (
        <label key={name} class="check">
          <input
            type="radio"
            name={id}
            checked={name === value}
            disabled={action.isRunning}
            onChange={() => choose(name)}
          />
          <span>
            <code>{name}</code> {meaning} {name === value && <strong>Now</strong>}{' '}
            {name === usual && <span class="soft">(default)</span>}
          </span>
        </label>
      ))}
      {!(value in choices) && (
        <p>
          Now <code>{value}</code>
        </p>
      )}
      {otherValues && <p class="hint">Other values: {otherValues.rule}</p>}
      <p class="buttons">
        {source !== 'default' && <Chip tone="warn" text={SOURCES[source]} />}
        {isPinned && <Chip icon={Pin} text="named by the profile" />}
        {value !== start && (
          <Button icon={RotateCcw} text="As at the start" class="quiet" onClick={() => choose(null)} />
        )}
      </p>
      <Failure error={action.error} />
    </fieldset>
  );
}
