import { linkTo, open, type Route } from '../../page-route.ts';
import { countOf, Failure, SearchField } from '../../parts.tsx';
import { type Behaviour, describeOrigin, useBehaviours } from '../requests/shaping-behaviours.tsx';

/** The ledger: every point at which the service could behave in more than one way. */
export function ChoicesView({ route }: { readonly route: Route }) {
  const { behaviours, error } = useBehaviours();
  const search = route.options.search ?? '';
  const found = behaviours?.filter((behaviour) => hasWords(behaviour, search));
  const shown = route.id === undefined ? found : found?.filter(({ id }) => id === route.id);
  return (
    <div class="page">
      <h1>Behaviours</h1>
      <p class="hint">
        Where the service document is silent, the emulator behaves as listed here. What can be changed is changed at the
        start, by --behaviour id=value.
      </p>
      <div class="tools">
        <SearchField
          label="Search behaviours"
          value={search}
          search={(text) => open(linkTo('choices', undefined, { search: text }), { replace: true })}
        />
        {route.id !== undefined && <a href={linkTo('choices')}>All behaviours</a>}
      </div>
      <Failure error={error} />
      {shown && <p role="status">{countOf(shown.length, 'behaviour', 'behaviours')}</p>}
      {shown?.length === 0 && <p class="hint">No behaviour has all of these words. Try fewer words, or other ones.</p>}
      <ul class="choices">
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
    <li>
      <h2>
        <a href={linkTo('choices', id)}>{id}</a>
      </h2>
      <p>{question}</p>
      {'choices' in behaviour ? <Values behaviour={behaviour} /> : <p class="answer">{behaviour.assumption}</p>}
      <p class="soft">{describeOrigin(behaviour)}</p>
    </li>
  );
}

type ChangeableBehaviour = Extract<Behaviour, { choices: unknown }>;

function Values({
  behaviour: { choices, value, default: usual, otherValues },
}: {
  readonly behaviour: ChangeableBehaviour;
}) {
  return (
    <>
      <dl class="keys">
        {Object.entries(choices).map(([name, meaning]) => (
          <div key={name}>
            <dt>
              <code class={name === value ? 'chosen' : undefined}>{name}</code>
            </dt>
            <dd>
              {meaning} {name === value && <strong>Now</strong>} {name === usual && <span class="soft">(default)</span>}
            </dd>
          </div>
        ))}
      </dl>
      {value !== usual && <span class="mark">Changed at the start</span>}
      {otherValues && <p class="hint">Other values: {otherValues.rule}</p>}
      {!(value in choices) && (
        <p>
          Now <code class="chosen">{value}</code>
        </p>
      )}
    </>
  );
}
