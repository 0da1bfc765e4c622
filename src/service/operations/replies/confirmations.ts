/** The bodies that every delete operation supports, by the value of its behaviour. */
export const DELETED = { 'deleted-and-id': (id: string) => ({ deleted: true as const, id }), empty: () => ({}) };

/** Returns the body for an update whose reply does not contain the updated resource. */
export function updated(id: string) {
  return { updated: true as const, id };
}
