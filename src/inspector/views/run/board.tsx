import { plural } from '../../../basics/text.ts';
import { linkTo, type Route } from '../../page-route.ts';
import { RESULTS, type Sample } from '../../samples.tsx';
import { SampleTable } from './sample-table.tsx';

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
      <strong>{plural(samples.length, 'sample', 'samples')}</strong>
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
      <SampleTable samples={samples} />
    </section>
  );
}
