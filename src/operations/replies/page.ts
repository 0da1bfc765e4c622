import type { Choose } from '../../contract/behaviours.ts';

/** Which part of a list is wanted. */
interface PageQuery {
  readonly limit: number;
  readonly offset: number;
}

/** The behaviours that say in which order a list is paged. */
type OrderBehaviour = 'messages.list.order' | 'drafts.list.order';

/** Cuts a page out of a whole list, which is in the order of arrival. */
export function cutPage<Row>(
  rows: readonly Row[],
  { limit, offset }: PageQuery,
  choose: Choose,
  order: OrderBehaviour = 'messages.list.order',
) {
  return { rows: CUT[choose(order)](rows, offset, limit), pagination: { total: rows.length, limit, offset } };
}

const CUT = {
  'oldest-first': <Row>(rows: readonly Row[], offset: number, limit: number) => rows.slice(offset, offset + limit),
  /** Only the page is turned around, so that a long list costs no more than a short one. */
  'newest-first': <Row>(rows: readonly Row[], offset: number, limit: number) => {
    const end = Math.max(rows.length - offset, 0);
    return rows.slice(Math.max(end - limit, 0), end).reverse();
  },
};
