/** The domain of the agent in the fixture, and the one that it has in a sandbox. */
export interface SandboxDomain {
  /** The first domain of the tenant in the fixture, such as `acme.test`. */
  readonly written: string;
  /** The domain of the sandbox, such as `3f9c2a71b04d.sandbox.test`. */
  readonly actual: string;
}

/**
 * Replaces the domain of the fixture by that of the sandbox in each address of a value, at any depth, also in regular
 * expressions that are written as `/regex/`. Names of fields stay.
 */
export function toSandbox<Value>(value: Value, domain: SandboxDomain): Value {
  if (domain.written === domain.actual) return value;
  const escaped = domain.written.replace(/[.]/g, '\\.');
  // In a regular expression of a scenario, the dot of a domain is written as `\.`.
  const plain = new RegExp(`@${escaped}(?![\\w-]|\\.\\w)`, 'gi');
  const inRegex = new RegExp(`@${escaped.replaceAll('\\.', '\\\\\\.')}(?![\\w-]|\\\\\\.\\w)`, 'gi');
  const actualInRegex = domain.actual.replaceAll('.', '\\.');
  const replace = (text: string) =>
    text.replace(plain, `@${domain.actual}`).replace(inRegex, () => `@${actualInRegex}`);
  return mapTexts(value, replace) as Value;
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
