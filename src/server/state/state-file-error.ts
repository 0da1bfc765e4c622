/** Thrown when a state file cannot be read or written. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError';
}
