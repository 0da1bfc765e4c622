const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** Parses a size such as `512MiB` or `512` (bytes), in any letter case. Returns bytes, or `undefined` if invalid. */
export function parseSize(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,15})\s?([kmg]ib|b|)$/i.exec(text) ?? [];
  const factor = Object.entries(UNITS).find(([name]) => name.toLowerCase() === (unit.toLowerCase() || 'b'))?.[1] ?? 1;
  const bytes = Number(digits) * factor;
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Formats a size for a message, such as `1.5 MiB`. */
export function showSize(bytes: number): string {
  const [name, factor] = Object.entries(UNITS).findLast(([, each]) => bytes >= each) ?? ['B', 1];
  return `${Math.round((Math.max(0, bytes) / factor) * 10) / 10} ${name}`;
}
