/**
 * The four tiers of keys, each with the prefix of its keys (service document, section 5). The tier with the widest
 * scope is the first.
 */
export const TIER_PREFIX = { operator: 'sa_', tenant: 'tk_', workspace: 'wk_', inbox: 'ak_' } as const;

/** The scope of a key: the whole platform, a tenant, one workspace or one inbox. */
export type Tier = keyof typeof TIER_PREFIX;

/** Every tier. The tier with the widest scope is the first. */
export const TIERS = Object.keys(TIER_PREFIX) as Tier[];

/** Sets of tiers, by name. The names are values of the behaviours that decide which tiers may call an operation. */
export const TIER_SETS = {
  'tenant-only': ['tenant'],
  'tenant-and-workspace': ['tenant', 'workspace'],
  'tenant-workspace-and-inbox': ['tenant', 'workspace', 'inbox'],
} as const satisfies Record<string, readonly Tier[]>;

/** The tiers that can access inboxes. */
export const TIERS_WITH_INBOX_ACCESS = TIER_SETS['tenant-workspace-and-inbox'];

/** A key is the prefix of its tier and at least ten characters of `A-Z a-z 0-9 _ -` (reference, "Keys"). */
const KEY_PATTERN = /^(sa|tk|wk|ak)_[A-Za-z0-9_-]{10,}$/;

/** Returns whether a text has the form of an API key; the key need not exist. */
export function isKeyText(text: string): boolean {
  return KEY_PATTERN.test(text);
}

/** Returns whether a text has the form of a key of this tier. */
export function isKeyOfTier(text: string, tier: Tier): boolean {
  return isKeyText(text) && text.startsWith(TIER_PREFIX[tier]);
}

/** Returns the part of a key that lists show: its first nine characters (reference, "Keys"). */
export function keyPrefix(key: string): string {
  return key.slice(0, 9);
}
