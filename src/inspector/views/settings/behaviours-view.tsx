import { Pin, RotateCcw } from 'lucide';
import { plural } from '../../../basics/text.ts';
import { linkTo, open, type Route } from '../../page-route.ts';
import { Button, Chip, Failure, Frame, Loading, SearchField } from '../../parts.tsx';
import { useScope } from '../../scope.ts';
import { UserText, wordsOf } from '../../text.tsx';
import { useAction } from '../../use-loaded.ts';
import type { Behaviour, ChangeableBehaviour } from '../requests/shaping-behaviours.tsx';
import { describeOrigin, useBehaviours } from '../requests/shaping-behaviours.tsx';

/** The behaviours: the points at which the service could behave in more than one way, grouped by subject. */
export function BehavioursView({ route }: { readonly route: Route }) {
  const { sandbox } = useScope();
  if (sandbox === undefined) return <Behaviours route={route} />;
  return (
    <>
      <Frame title="Behaviours" />
      <div class="page">
        <p class="hint">
          A sandbox has no behaviours of its own: those of the whole emulator apply in it.{' '}
          <a href={linkTo('choices', route.id, { tenant: undefined })}>Show them for all tenants</a>
        </p>
      </div>
    </>
  );
}

function Behaviours({ route: { id: chosen, options } }: { readonly route: Route }) {
  const { behaviours, error } = useBehaviours();
  const { search = '' } = options;
  const words = wordsOf(search);
  const find = (search: string) => open(linkTo('choices', undefined, { search }), { replace: true });
  const shown = behaviours?.filter(
    (each) => (chosen ?? each.id) === each.id && words.every((word) => searchTextOf(each).includes(word)),
  );
  const groups = new Set(shown?.map(groupOf));
  const changed = behaviours?.filter((each) => marksOf(each).includes('is:changed')).length ?? 0;
  return (
    <>
      <Frame title="Behaviours">
        {chosen !== undefined && <a href={linkTo('choices')}>All behaviours</a>}
        <SearchField label="Search behaviours" value={search} search={find} />
      </Frame>
      <div class="page">
        <p class="hint">
          Where the service document does not say how the service behaves, the emulator behaves as listed here. A change
          applies at once, until a reset; <code>--behaviour id=value</code> sets one for each start.
        </p>
        {shown ? <Counts shown={shown.length} changed={changed} /> : <Loading error={error} />}
        {[...groups].map((group) => (
          <section key={group} class="card" aria-label={group}>
            <h2>{group}</h2>
            <ul class="rows">
              {shown?.map((each) => groupOf(each) === group && <Item key={each.id} behaviour={each} words={words} />)}
            </ul>
          </section>
        ))}
      </div>
    </>
  );
}

/** How many behaviours are shown, and how many are changed, with a link to the changed ones. */
function Counts({ shown, changed }: { readonly shown: number; readonly changed: number }) {
  return (
    <p class="buttons">
      <span role="status">{plural(shown, 'behaviour', 'behaviours')}</span>
      {changed > 0 && (
        <a href={linkTo('choices', undefined, { search: 'is:changed' })}>
          <Chip tone="warn" text={`${changed} changed`} />
        </a>
      )}
      {shown === 0 && <span class="hint">No behaviour has all of these words. Try fewer words, or other ones.</span>}
    </p>
  );
}

/** Returns the group of a behaviour: the first word of its id, such as `errors`. */
const groupOf = ({ id }: Behaviour) => id.replace(/\..*/, '');

/** Returns the words with which a search finds behaviours that are changed or that the profile names. */
function marksOf(behaviour: Behaviour): string[] {
  if (!('choices' in behaviour)) return [];
  const { source, isPinned } = behaviour;
  return [...(source === 'default' ? [] : ['is:changed']), ...(isPinned ? ['is:pinned'] : [])];
}

/** Returns the text of a behaviour in which a search looks for words, in lower case. */
function searchTextOf(behaviour: Behaviour): string {
  const { id, question, section } = behaviour;
  const answers = 'choices' in behaviour ? Object.entries(behaviour.choices).flat() : [behaviour.assumption];
  return [id, question, section, ...answers, ...marksOf(behaviour)].join('\n').toLowerCase();
}

function Item({ behaviour, words }: { readonly behaviour: Behaviour; readonly words: readonly string[] }) {
  const { id, question } = behaviour;
  return (
    <li class="block">
      <h3>
        <UserText text={question} find={words} />{' '}
        <small>
          <a href={linkTo('choices', id)}>{id}</a>
        </small>
      </h3>
      {'choices' in behaviour ? <Values behaviour={behaviour} /> : <p class="soft">{behaviour.assumption}</p>}
      <p class="small soft">{describeOrigin(behaviour)}</p>
    </li>
  );
}

const SOURCES = { changed: 'changed here', option: 'set at the start', profile: 'set by the profile' } as const;

/** The values of a behaviour. A person can choose one of them. */
function Values({ behaviour }: { readonly behaviour: ChangeableBehaviour }) {
  const { id, choices, value, default: defaultValue, otherValues, source, start, isPinned } = behaviour;
  const { run, error, isRunning } = useAction();
  const shownChoices = value in choices ? choices : { [value]: 'a value of your own', ...choices };
  const choose = (value: string | null) => run((client) => client.changeBehaviours({ [id]: value }));
  return (
    <fieldset>
      <legend class="hidden">{id}</legend>
      {Object.entries(shownChoices).map(([name, meaning]) => (
        <label key={name} class="choice">
          <input type="radio" name={id} checked={name === value} disabled={isRunning} onChange={() => choose(name)} />
          <code>{name}</code> <span>{meaning}</span> {name === value && <strong>Now</strong>}
          {name === defaultValue && <small class="soft">default</small>}
        </label>
      ))}
      {otherValues && <p class="small soft">Other values: {otherValues.rule}</p>}
      <p class="buttons">
        {source !== 'default' && <Chip tone="warn" text={SOURCES[source]} />}
        {isPinned && <Chip icon={Pin} text="named by the profile" />}
        {value !== start && (
          <Button icon={RotateCcw} text="Back to the value at the start" class="quiet" onClick={() => choose(null)} />
        )}
      </p>
      <Failure error={error} />
    </fieldset>
  );
}
