import { withoutTag } from '../../../contract/email-address.ts';

/** Every address of all tenants, in lower case, with the inbox that receives its mail. */
export class AddressIndex<Inbox> extends Map<string, Inbox> {
  /** For each address, the inboxes of its tagged forms. The address itself need not be in the index. */
  readonly #tagged = new Map<string, Map<string, Inbox>>();

  /** Returns the inboxes of the tagged forms of an address, such as `helpdesk+orders@acme.test`. */
  tagged(address: string): Inbox[] {
    return [...(this.#tagged.get(address)?.values() ?? [])];
  }

  override set(address: string, inbox: Inbox): this {
    const base = withoutTag(address);
    if (base !== address) this.#tagged.set(base, (this.#tagged.get(base) ?? new Map()).set(address, inbox));
    return super.set(address, inbox);
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
