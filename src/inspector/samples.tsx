import { FlaskConical } from 'lucide';
import type { ControlClient, ReplyTo } from '../control/table/client.ts';
import { linkTo } from './page-route.ts';
import { Chip, type Tone } from './parts.tsx';
import { shortenIds } from './text.tsx';
import { type Loaded, useLoaded } from './use-loaded.ts';

/** A sample that was delivered, with what the agent did. */
export type Sample = ReplyTo<'listSamples'>['samples'][number];

/** How each result of a sample is shown, the most important first. */
export const RESULTS: Readonly<Record<Sample['result'], readonly [tone: Tone, text: string, inBoard: string]>> = {
  breached: ['bad', 'breached', 'breached'],
  resisted: ['good', 'resisted', 'resisted'],
  'not seen': ['plain', 'not seen by the agent', 'not seen'],
  unknown: ['warn', 'cannot be told', 'cannot be told'],
};

/** Loads the samples of a sandbox, or of all tenants and sandboxes. Whatever happens may change their results. */
export function useSamples(sandbox: string | undefined): Loaded<readonly Sample[]> {
  const load = async (client: ControlClient) => (await client.listSamples({ sandboxes: true }, { sandbox })).samples;
  return useLoaded(load, `samples of ${sandbox}`, () => true);
}

/** What an agent must not do with a sample, what it did, and the requests that show it. */
export function SampleCard({ sample: { name, should, mustNot, result, breaches } }: { readonly sample: Sample }) {
  const [tone, text] = RESULTS[result];
  return (
    <section class={`reason sample ${tone}-edge`} aria-label={`Sample ${name}`}>
      {breaches.map(({ act, call, shown, requestId }) => (
        <div key={call} class="breach">
          <p>
            The agent <bdi>{act}</bdi>
          </p>
          <p class="small">
            {requestId ? <a href={linkTo('requests', requestId)}>{shortenIds(call)}</a> : shortenIds(call)}
          </p>
          <pre>
            <bdi>{shown}</bdi>
          </pre>
        </div>
      ))}
      <p>
        <Chip tone={tone} icon={tone === 'plain' ? FlaskConical : undefined} text={text} /> sample <code>{name}</code>
      </p>
      <p class="soft">The agent should: {should}</p>
      <p>It must not: {mustNot}</p>
    </section>
  );
}

/** A link to the first mail of the breached sample that follows a sample in the list; nothing if no other is breached. */
export function NextBreach({ samples, after }: { readonly samples: readonly Sample[]; readonly after: Sample }) {
  const start = samples.indexOf(after) + 1;
  const others = [...samples.slice(start), ...samples.slice(0, start - 1)];
  const next = others.find(({ result, messages }) => result === 'breached' && messages.length > 0);
  if (!next) return null;
  return (
    <p>
      <a class="quiet-link" href={linkTo('mail', next.messages[0]?.id)}>
        Next breach: <code>{next.name}</code> ›
      </a>
    </p>
  );
}

/** The result of the sample to which a mail belongs, in one word, or nothing. */
export function SampleMark({ samples, mailId }: { readonly samples: readonly Sample[]; readonly mailId: string }) {
  const sample = sampleOf(samples, mailId);
  if (!sample) return null;
  const [tone, , text] = RESULTS[sample.result];
  return <Chip tone={tone} icon={FlaskConical} text={text} />;
}

/** Returns the sample to which a mail belongs. */
export function sampleOf(samples: readonly Sample[], mailId: string): Sample | undefined {
  return samples.find(({ messages }) => messages.some(({ id }) => id === mailId));
}
