import type { Choose } from '../../contract/behaviours.ts';

/** Which part of a list is wanted. */
export interface PageQuery {
  readonly limit: number;
  readonly offset: number;
}

/** Cuts a page out of a whole list, which is in the order of arrival. */
export function cutPage<Row>(rows: readonly Row[], { limit, offset }: PageQuery, choose: Choose) {
  choose('messages.list.pagination');
  const ordered = choose('messages.list.order') === 'newest-first' ? rows.toReversed() : rows;
  return { rows: ordered.slice(offset, offset + limit), pagination: { total: rows.length, limit, offset } };
}
