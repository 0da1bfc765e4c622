/** The domain on which any tenant may have inboxes. */
export const DEFAULT_DOMAIN = 'mailbox.test';

/** The domain of the simulators, where no inbox receives. */
export const SIMULATOR_DOMAIN = 'simulator.test';

/** Domains of the emulator itself, which no tenant has. */
export const EMULATOR_DOMAINS: readonly string[] = [DEFAULT_DOMAIN, SIMULATOR_DOMAIN];

/** The part of an address behind its last `@`, in lower case. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
