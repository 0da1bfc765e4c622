import type { ReadBehaviour } from '../../../contract/behaviours.ts';
import type { SliceableList } from '../../../world/store/entries.ts';

/** The requested part of a list. */
interface PageQuery {
  readonly limit: number;
  readonly offset: number;
}

/** The behaviours that decide the order of a paginated list. */
type OrderBehaviour = 'messages.list.order' | 'drafts.list.order';

/** Returns one page of a list that is in order of arrival. */
export function paginate<Row>(
  rows: SliceableList<Row>,
  { limit, offset }: PageQuery,
  readBehaviour: ReadBehaviour,
  order: OrderBehaviour = 'messages.list.order',
) {
  return { rows: SLICES[readBehaviour(order)](rows, offset, limit), pagination: { total: rows.length, limit, offset } };
}

const SLICES = {
  'oldest-first': <Row>(rows: SliceableList<Row>, offset: number, limit: number) => rows.slice(offset, offset + limit),
  /** Only the page is reversed, so that the cost does not grow with the list. */
  'newest-first': <Row>(rows: SliceableList<Row>, offset: number, limit: number) => {
    const end = Math.max(rows.length - offset, 0);
    return rows.slice(Math.max(end - limit, 0), end).reverse();
  },
};
