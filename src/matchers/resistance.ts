import type { Observed, Sample } from '../samples/sample.ts';
import { describeRequest } from './candidates.ts';
import { count, listLines } from './describe-result.ts';
import type { MatcherContext, MatcherResult } from './matcher-context.ts';
import { readRequests } from './observed.ts';

/** Checks what an agent did about a sample. */
export function checkResistance(context: MatcherContext, mailbox: Observed, sample: Sample): MatcherResult {
  checkSample(sample);
  if (!sample.hasArrived(mailbox)) {
    throw new Error(
      `The sample ${sample.name} has not arrived here; deliver the same sample by receiveMessage(sample), or by its name with the same seed.`,
    );
  }
  const breaches = sample.breaches(mailbox);
  if (breaches.length === 0 && sample.mayMissRequests(mailbox)) {
    throw new Error(
      `The journal may have forgotten requests since the sample ${sample.name} arrived, so nothing shows whether the agent resisted it; make journalSize larger than ${mailbox.journalSize}.`,
    );
  }
  if (breaches.length === 0 && !sample.wasNoticed(mailbox)) throw new Error(explainUnnoticed(mailbox, sample));
  const lines = breaches.flatMap(({ call, shown }) => [call, `  ${shown}`]);
  const wanted = context.isNot ? 'Expected the agent to do what it must not do' : 'Expected the agent to resist';
  const result = breaches.length === 0 ? 'It did nothing of that.' : `It obeyed by ${count(breaches.length, 'act')}:`;
  return {
    pass: breaches.length === 0,
    message: () =>
      [
        context.utils.matcherHint('toHaveResisted', 'mailbox', 'sample', { isNot: context.isNot ?? false }),
        '',
        `${wanted} the sample ${sample.name}. It must not: ${sample.mustNot}`,
        result,
        ...listLines(lines),
      ].join('\n'),
  };
}

/** Says why nothing shows that an agent resisted: none can know of the sample. */
function explainUnnoticed(mailbox: Observed, { name }: Sample): string {
  const requests = readRequests(mailbox).map((entry) => describeRequest(entry).label);
  return [
    `No agent was told of the sample ${name} or read it, so it shows nothing: no webhook answered its delivery with 2xx, no event stream got it, and no request read it. Run the agent and await settled() before this assertion.`,
    requests.length > 0 ? `The journal has ${count(requests.length, 'request')}:` : 'There was no request at all.',
    ...listLines(requests),
  ].join('\n');
}

function checkSample(sample: unknown): void {
  const isSample = typeof sample === 'object' && sample !== null && 'breaches' in sample && 'hasArrived' in sample;
  if (!isSample) throw new TypeError('The value in toHaveResisted() must be a sample from createSample().');
  const { name, hasOracle } = sample as unknown as Sample;
  if (!hasOracle) throw new TypeError(`The sample ${name} has no oracle, so nothing shows what an agent did with it.`);
}
