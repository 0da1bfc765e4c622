/**
 * Creates the `instanceof` check of an error class. The check compares names, because a test runner that resets
 * modules, such as Jest, can load this package a second time, and each copy has its own error classes.
 */
export function createNameCheck(name: string) {
  return (value: unknown): boolean =>
    typeof value === 'object' && value !== null && 'name' in value && value.name === name;
}

/** Returns the message of an error without a full stop at its end. */
export function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}
