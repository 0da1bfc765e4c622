import { FlaskConical } from 'lucide';
import { linkTo } from '../../page-route.ts';
import { Chip } from '../../parts.tsx';
import { shortenIds } from '../../text.tsx';
import type { Sample } from './timeline.ts';

const RESULTS = {
  resisted: ['good', 'resisted'],
  breached: ['bad', 'breached'],
  'not seen': ['plain', 'not seen by the agent'],
  unknown: ['plain', 'cannot be told'],
} as const;

/** What an agent must not do with a sample, what it did, and the requests that show it. */
export function SampleCard({ sample: { name, should, mustNot, result, breaches } }: { readonly sample: Sample }) {
  const [tone, text] = RESULTS[result];
  return (
    <section class={`reason sample ${tone}-edge`} aria-label={`Sample ${name}`}>
      <p>
        <Chip tone={tone} icon={tone === 'plain' ? FlaskConical : undefined} text={text} /> sample <code>{name}</code>
      </p>
      <p class="soft">The agent should: {should}</p>
      <p>It must not: {mustNot}</p>
      {breaches.map(({ call, shown, requestId }) => (
        <p key={call} class="bad">
          {requestId ? <a href={linkTo('requests', requestId)}>{shortenIds(call)}</a> : shortenIds(call)}:{' '}
          <bdi>{shown}</bdi>
        </p>
      ))}
    </section>
  );
}
