import { withoutTag } from '../contract/email-address.ts';

/** Every address that receives, in lower case, whatever tenant has it; `Holder` is where its mail goes. */
export interface AddressIndex<Holder> {
  get(address: string): Holder | undefined;
  /** The holders of the tagged forms of an address: of `helpdesk+orders@acme.test` for `helpdesk@acme.test`. */
  tagged(address: string): Holder[];
  has(address: string): boolean;
  set(address: string, holder: Holder): void;
  delete(address: string): void;
  clear(): void;
}

/** Creates an index without addresses. */
export function createAddressIndex<Holder>(): AddressIndex<Holder> {
  const holders = new Map<string, Holder>();
  /** The tagged forms of each address, whether anybody has the address itself or not. */
  const forms = new Map<string, Map<string, Holder>>();
  return {
    get: (address) => holders.get(address),
    tagged: (address) => [...(forms.get(address)?.values() ?? [])],
    has: (address) => holders.has(address),
    set(address, holder) {
      holders.set(address, holder);
      const base = withoutTag(address);
      if (base !== address) forms.set(base, (forms.get(base) ?? new Map()).set(address, holder));
    },
    delete(address) {
      const base = withoutTag(address);
      holders.delete(address);
      forms.get(base)?.delete(address);
      if (forms.get(base)?.size === 0) forms.delete(base);
    },
    clear() {
      holders.clear();
      forms.clear();
    },
  };
}
