import { styleText } from 'node:util';
import type { MailboxServer } from '../adapters/server/start-server.ts';
import type { TenantKeys } from '../contract/fixture-keys.ts';
import { TIER_PREFIX, TIERS, type Tier } from '../contract/tiers.ts';
import { NAME, VERSION } from '../version.ts';

/** A server whose fixture is whatever the user gave. */
export type AnyServer = MailboxServer<Readonly<Record<string, string | TenantKeys>>>;

/** One key of each tier that the fixture has: the operator's, and the first tenant's with its first of each. */
export function keyPerTier({ mailbox }: AnyServer): Partial<Record<Tier, string>> {
  const { operator, ...tenants } = mailbox.keys;
  const [tenant] = Object.values(tenants as Record<string, TenantKeys>);
  const candidates: Record<Tier, string | undefined> = {
    operator: operator as string,
    tenant: tenant?.tenant,
    workspace: Object.values(tenant?.workspaces ?? {})[0],
    inbox: Object.values(tenant?.inboxes ?? {})[0],
  };
  return Object.fromEntries(Object.entries(candidates).filter(([, key]) => key !== undefined));
}

/** What a person sees once the server listens. */
export function bannerText(server: AnyServer, colour: boolean): string {
  const bold = (text: string) => (colour ? styleText('bold', text) : text);
  const dim = (text: string) => (colour ? styleText('dim', text) : text);
  const keys = keyPerTier(server);
  const rows: [label: string, value: string][] = [
    ['URL', bold(server.url)],
    ...TIERS.flatMap((tier): [string, string][] => (keys[tier] ? [[`${TIER_PREFIX[tier]} key`, keys[tier]]] : [])),
    ['Control', server.control],
    ...(server.controlToken ? [['Token', `X-Mock-Token: ${server.controlToken}`] as [string, string]] : []),
  ];
  return [
    `${bold(NAME)} ${VERSION}`,
    ...rows.map(([label, value]) => `  ${dim(label.padEnd(8))} ${value}`),
    'Ready.',
  ].join('\n');
}

/** What a program reads once the server listens: one line of JSON. */
export function readyLine(server: AnyServer): string {
  const { url, port, control, controlToken } = server;
  return JSON.stringify({ url, port, version: VERSION, keys: keyPerTier(server), control, controlToken });
}
