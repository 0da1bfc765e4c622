/** Returns a function that creates a value at its first call and returns the same value from then on. */
export function lazy<Value extends object | string>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}
