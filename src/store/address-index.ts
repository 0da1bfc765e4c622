import { withoutTag } from '../contract/email-address.ts';

/** Every address that receives, in lower case, whatever tenant has it; `Holder` is where its mail goes. */
export class AddressIndex<Holder> extends Map<string, Holder> {
  /** The tagged forms of each address, whether any inbox has the address itself or not. */
  readonly #tagged = new Map<string, Map<string, Holder>>();

  /** The holders of the tagged forms of an address: of `helpdesk+orders@acme.test` for `helpdesk@acme.test`. */
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
