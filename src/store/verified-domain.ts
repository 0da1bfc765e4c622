import type { World } from './world.ts';

/** Says whether a tenant has a domain that is verified. */
export function hasVerified({ domains }: World, domain: string): boolean {
  return domains.by('domain', domain).some(({ status }) => status === 'verified');
}
