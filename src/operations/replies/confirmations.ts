/** The bodies that every delete can have, by the choice of the ledger. */
export const DELETED = {
  'deleted-and-id': (id: string) => ({ deleted: true as const, id }),
  empty: () => ({}),
};

/** What a change answers where it does not show what was changed. */
export function updated(id: string) {
  return { updated: true as const, id };
}
