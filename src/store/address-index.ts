import { withoutTag } from '../contract/email-address.ts';

/** Every address of all tenants, in lower case, with the inbox (`Holder`) that receives its mail. */
export class AddressIndex<Holder> extends Map<string, Holder> {
  /** For each address, the holders of its tagged forms. The address itself need not be in the index. */
  readonly #tagged = new Map<string, Map<string, Holder>>();

  /** Returns the holders of the tagged forms of an address, such as `helpdesk+orders@acme.test`. */
  tagged(address: string): Holder[] {
    return [...(this.#tagged.get(address)?.values() ?? [])];
  }

  override set(address: string, holder: Holder): this {
    const base = withoutTag(address);
    if (base !== address) this.#tagged.set(base, (this.#tagged.get(base) ?? new Map()).set(address, holder));
    return super.set(address, holder);
  }

  override delete(address: string): boolean {
    const base = withoutTag(address);
    this.#tagged.get(base)?.delete(address);
    if (this.#tagged.get(base)?.size === 0) this.#tagged.delete(base);
    return super.delete(address);
  }

  override clear(): void {
    super.clear();
    this.#tagged.clear();
  }
}
