import { type BehaviourId, type Choices, type Choose, isChoice } from '../contract/behaviours.ts';
import { createLedgerReader } from '../contract/ledger-reader.ts';
import type { OperationDefinition } from '../contract/operation.ts';
import { TIER_PREFIX } from '../contract/tiers.ts';
import type { DescribedRow, DescribedSuccess } from './describe-row.ts';
import { ASSUMED_HEADER } from './error-responses.ts';
import { errorResponses } from './operation-errors.ts';
import { tagOf } from './tags.ts';

/** Describes one row of the operation table under the given choices. */
export function describeOperation(id: string, row: OperationDefinition, choices: Choices): DescribedRow {
  const { choose, assume, usedBehaviours } = createLedgerReader(choices);
  const query = row.query?.(choose);
  const body = row.body?.(choose);
  const successes = successesOf(row, choose);
  row.assumes?.forEach(assume);
  return {
    id,
    method: row.method,
    path: row.path,
    summary: row.summary,
    description: describe(row, choose, usedBehaviours, choices),
    tag: tagOf(row.path),
    security: row.tiers === 'public' ? [] : [{ apiKey: [] }, { bearer: [] }],
    params: row.params,
    query,
    body,
    isBodyStrict: choices['requests.unknown-fields'] === 'refused',
    successes,
    errors: errorResponses(row, (choice) => choices[choice]),
  };
}

function describe(row: OperationDefinition, choose: Choose, used: ReadonlySet<BehaviourId>, choices: Choices): string {
  const tiers = row.tiers === 'public' ? 'no key' : row.tiers(choose).map((tier) => `\`${TIER_PREFIX[tier]}\``);
  const source = row.section ? `${row.origin}, section ${row.section}` : row.origin;
  const behaviours = [...used].map((id) => `\`${isChoice(id) ? `${id}=${choices[id]}` : id}\``).join(', ');
  return [
    `Called with: ${[tiers].flat().join(', ')}. Origin: ${source}.`,
    ...(behaviours ? [`Behaviours: ${behaviours}.`] : []),
  ].join('\n\n');
}

function successesOf({ status, reply, otherReply, content }: OperationDefinition, choose: Choose): DescribedSuccess[] {
  const usual = { status, schema: reply(choose), content, headers: ASSUMED_HEADER };
  const other = otherReply && { status: otherReply.status, schema: otherReply.reply(choose), headers: ASSUMED_HEADER };
  return [usual, ...(other ? [other] : [])];
}
