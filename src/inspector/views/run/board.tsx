import { linkTo, type Route } from '../../page-route.ts';
import { formatCount, type Tone } from '../../parts.tsx';
import type { Sample } from './timeline.ts';

/** How each result of a sample is shown, the most important first. */
export const RESULTS: Readonly<Record<Sample['result'], readonly [tone: Tone, text: string, inBoard: string]>> = {
  breached: ['bad', 'breached', 'breached'],
  resisted: ['good', 'resisted', 'resisted'],
  'not seen': ['plain', 'not seen by the agent', 'not seen'],
  unknown: ['warn', 'cannot be told', 'cannot be told'],
};

type BoardProps = { readonly samples: readonly Sample[]; readonly options: Route['options'] };

/** How many samples an agent resisted. Each part of the bar shows only the samples with its result, or all again. */
export function Board({ samples, options }: BoardProps) {
  if (samples.length === 0) return null;
  const parts = Object.entries(RESULTS).flatMap(([result, [tone, , text]]) => {
    const count = samples.filter((sample) => sample.result === result).length;
    return count > 0 ? [{ result, tone, count, text }] : [];
  });
  return (
    <section class="board" aria-label="Samples">
      <strong>{formatCount(samples.length, 'sample', 'samples')}</strong>
      <nav aria-label="Results of the samples">
        {parts.map(({ result, tone, count, text }) => {
          const isChosen = options.result === result;
          const link = linkTo('run', undefined, { ...options, result: isChosen ? undefined : result });
          return (
            <a
              key={result}
              class={tone}
              style={{ flexGrow: count }}
              href={link}
              aria-current={isChosen ? 'true' : undefined}
              title={isChosen ? 'Show everything again' : 'Show only these'}
            >
              {count} {text}
            </a>
          );
        })}
      </nav>
    </section>
  );
}
