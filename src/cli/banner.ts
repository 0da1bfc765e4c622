import { styleText } from 'node:util';
import type { MailboxServer } from '../adapters/server/start-server.ts';
import type { TenantKeys } from '../contract/fixture/keys.ts';
import { TIER_PREFIX, TIERS, type Tier } from '../contract/tiers.ts';
import { NAME, VERSION } from '../version.ts';

/** A server whose fixture is whatever the user gave. */
export type AnyServer = MailboxServer<Readonly<Record<string, string | TenantKeys>>>;

/** One key of each tier that the fixture has: the operator's, and the first tenant's with its first of each. */
function keyPerTier({ mailbox }: AnyServer): Partial<Record<Tier, string>> {
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

/** Newer versions of Node would decide on colour once more. */
const AS_DECIDED = { validateStream: false };

/** What a person sees once the server listens. */
export function bannerText(server: AnyServer, colour: boolean): string {
  const style = (format: 'bold' | 'dim', text: string) => (colour ? styleText(format, text, AS_DECIDED) : text);
  const bold = (text: string) => style('bold', text);
  const dim = (text: string) => style('dim', text);
  const keys = keyPerTier(server);
  const rows: [label: string, value: string][] = [
    ['URL', bold(server.url)],
    ...TIERS.flatMap((tier): [string, string][] => (keys[tier] ? [[`${TIER_PREFIX[tier]} key`, keys[tier]]] : [])),
    ...(server.smtp ? [['SMTP', `port ${server.smtp.port}`] as [string, string]] : []),
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
  const { url, port, control, controlToken, smtp } = server;
  return JSON.stringify({ url, port, version: VERSION, keys: keyPerTier(server), control, controlToken, smtp });
}
