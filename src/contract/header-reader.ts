/** Read access to request headers; the values of a repeated header are joined by commas. */
export interface HeaderReader {
  /** Returns the value of a header by its case-insensitive name; null if there is none. */
  get(name: string): string | null;
  /** Calls `visit` with each header; its name is in lower case. */
  forEach(visit: (value: string, name: string) => void): void;
}
