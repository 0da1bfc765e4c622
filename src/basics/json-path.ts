/** Formats a path such as `['tenants', 'acme', 'to', 0]` as the JSON path `$.tenants.acme.to[0]`. */
export function toJsonPath(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^[A-Za-z_$][\w$]*$/.test(String(step)) ? `.${String(step)}` : `[${JSON.stringify(String(step))}]`;
  });
  return `$${steps.join('')}`;
}

/** Formats a path like {@link toJsonPath}, but shortens long names. Use it in messages. */
export function showJsonPath(path: readonly PropertyKey[]): string {
  return toJsonPath(
    path.map((step) => (typeof step === 'string' && step.length > 200 ? `${step.slice(0, 200)}…` : step)),
  );
}
