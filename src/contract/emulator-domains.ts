/** The domain that the inboxes of every tenant may use. */
export const DEFAULT_DOMAIN = 'mailbox.test';

/** The domain of the simulator addresses; no inbox may use it. */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** The domain below which each sandbox has its own. */
export const SANDBOX_DOMAIN = 'sandbox.test';

/**
 * Returns whether a domain belongs to the emulator itself, so that no tenant may register it. A sandbox may register its
 * own domain and those below it.
 */
export function isEmulatorDomain(domain: string, sandboxDomain?: string): boolean {
  if (isSandboxDomain(domain)) return sandboxDomain === undefined || !isWithin(domain, sandboxDomain);
  return domain === DEFAULT_DOMAIN || domain === SIMULATOR_DOMAIN;
}

/** Returns whether a domain is the one of all sandboxes, or below it. */
export function isSandboxDomain(domain: string): boolean {
  return isWithin(domain.toLowerCase().replace(/\.$/, ''), SANDBOX_DOMAIN);
}

function isWithin(domain: string, parent: string): boolean {
  return domain === parent || domain.endsWith(`.${parent}`);
}

/** Returns the part of an address after its last `@`, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
