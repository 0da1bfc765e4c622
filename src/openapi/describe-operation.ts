import { createRecordingReader } from '../contract/behaviour-reader.ts';
import { type BehaviourId, type BehaviourValues, isChangeable, type ReadBehaviour } from '../contract/behaviours.ts';
import type { BuildReply, OperationDefinition } from '../contract/operation.ts';
import type { OperationId } from '../contract/operations.ts';
import { OTHER_REPLIES, REPLIES } from '../contract/replies/index.ts';
import { TIER_PREFIX } from '../contract/tiers.ts';
import type { DescribedRow, DescribedSuccess } from './describe-row.ts';
import { ASSUMED_HEADER } from './error-responses.ts';
import { errorResponses } from './operation-errors.ts';
import { tagOf } from './tags.ts';

/** Describes one row of the operation table under these behaviours. */
export function describeOperation(
  id: OperationId,
  row: OperationDefinition,
  behaviours: BehaviourValues,
): DescribedRow {
  const { readBehaviour, assume, usedBehaviours } = createRecordingReader(behaviours);
  const query = row.query?.(readBehaviour);
  const body = row.body?.(readBehaviour);
  const successes = successesOf(id, row, readBehaviour);
  row.assumes?.forEach(assume);
  return {
    id,
    method: row.method,
    path: row.path,
    summary: row.summary,
    description: describe(row, readBehaviour, usedBehaviours, behaviours),
    tag: tagOf(row.path),
    security: row.tiers === 'public' ? [] : [{ apiKey: [] }, { bearer: [] }],
    params: row.params,
    query,
    body,
    isBodyStrict: behaviours['requests.unknown-fields'] === 'refused',
    successes,
    errors: errorResponses(row, (id) => behaviours[id]),
  };
}

function describe(
  row: OperationDefinition,
  readBehaviour: ReadBehaviour,
  used: ReadonlySet<BehaviourId>,
  behaviours: BehaviourValues,
): string {
  const tiers = row.tiers === 'public' ? 'no key' : row.tiers(readBehaviour).map((tier) => `\`${TIER_PREFIX[tier]}\``);
  const source = row.section ? `${row.origin}, section ${row.section}` : row.origin;
  const listed = [...used].map((id) => `\`${isChangeable(id) ? `${id}=${behaviours[id]}` : id}\``).join(', ');
  return [
    `Called with: ${[tiers].flat().join(', ')}. Origin: ${source}.`,
    ...(listed ? [`Behaviours: ${listed}.`] : []),
  ].join('\n\n');
}

function successesOf(
  id: OperationId,
  { status, otherStatus, content }: OperationDefinition,
  readBehaviour: ReadBehaviour,
): DescribedSuccess[] {
  const usual = { status, schema: REPLIES[id](readBehaviour), content, headers: ASSUMED_HEADER };
  if (otherStatus === undefined) return [usual];
  const others: Partial<Record<OperationId, BuildReply>> = OTHER_REPLIES;
  return [usual, { status: otherStatus, schema: others[id]?.(readBehaviour), headers: ASSUMED_HEADER }];
}
