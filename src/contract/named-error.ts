/**
 * Creates the `instanceof` check of an error class, which goes by the name: a test runner that resets modules, such as
 * Jest, can load a part of this package a second time, with classes of its own.
 */
export function isNamed(name: string) {
  return (value: unknown): boolean =>
    typeof value === 'object' && value !== null && 'name' in value && value.name === name;
}
