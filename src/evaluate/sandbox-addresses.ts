/** The domain of the agent in the fixture, and the one that it has in a sandbox. */
export interface SandboxDomain {
  /** The first domain of the tenant in the fixture, such as `acme.test`. */
  readonly written: string;
  /** The domain of the sandbox, such as `3f9c2a71b04d.sandbox.test`. */
  readonly actual: string;
}

/**
 * Replaces the domain of the fixture by that of the sandbox in each address of a value, at any depth. Names of fields
 * stay. Patterns of expectations are not changed: they are compared with both forms of a text, see `TextPattern`.
 */
export function toSandbox<Value>(value: Value, domain: SandboxDomain): Value {
  if (domain.written === domain.actual) return value;
  const pattern = new RegExp(`@${domain.written.replaceAll('.', '\\.')}(?![\\w-]|\\.\\w)`, 'gi');
  return mapTexts(value, (text) => text.replace(pattern, `@${domain.actual}`)) as Value;
}

/** Replaces the domain of the sandbox by that of the fixture, for a text that people read. */
export function toWritten(text: string, { written, actual }: SandboxDomain): string {
  return text.replaceAll(actual, written);
}

/** Replaces each text in a value, at any depth. What is neither a list nor a plain object stays as it is. */
function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, change)]));
}
