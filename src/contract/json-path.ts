/** Writes a path such as `['tenants', 'acme', 'to', 0]` as the JSON path `$.tenants.acme.to[0]`. */
export function toJsonPath(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^[A-Za-z_$][\w$]*$/.test(String(step)) ? `.${String(step)}` : `[${JSON.stringify(String(step))}]`;
  });
  return `$${steps.join('')}`;
}
