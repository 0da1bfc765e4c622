/** The domain that the inboxes of every tenant may use. */
export const DEFAULT_DOMAIN = 'mailbox.test';

/** The domain of the simulator addresses; no inbox may use it. */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** The domain below which each sandbox has its own. */
export const SANDBOX_DOMAIN = 'sandbox.test';

/** Domains of the emulator itself, which no tenant may register. */
export const EMULATOR_DOMAINS: readonly string[] = [DEFAULT_DOMAIN, SIMULATOR_DOMAIN];

/** Returns the part of an address after its last `@`, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
