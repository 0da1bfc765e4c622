import { toPrintableJson } from '../../basics/printable.ts';
import { NAME, VERSION } from '../../basics/version.ts';
import { TIERS } from '../../contract/tiers.ts';
import type { MailboxState } from '../../mailbox/without-msw.ts';
import { createStyle, toColumns } from '../layout.ts';
import { type AnyServer, type ExampleKeys, findExampleKeys, findLogin, type Login } from './connection-variables.ts';

/** The server that was started, and its fixture file. */
interface Started {
  readonly server: AnyServer;
  /** The fixture file; `undefined` if the default fixture is used. */
  readonly fixtures: string | undefined;
  /** Whether the user set the control token, which is then not shown. */
  readonly isTokenSet: boolean;
}

/** Returns the text that is printed once the server listens. */
export function bannerText({ server, fixtures, isTokenSet }: Started, colour: boolean): string {
  const style = createStyle(colour);
  const dim = (text: string) => style('dim', text);
  const state = server.mailbox.snapshot();
  const exampleKeys = findExampleKeys(server, state);
  const facts: readonly (readonly [label: string, value: string | undefined])[] = [
    ['URL', style('bold', server.url)],
    ['SMTP', server.smtp && `port ${server.smtp.port}`],
    ['IMAP', server.imap && `port ${server.imap.port}`],
    ['Login', (server.imap ?? server.smtp) && describeLogin(findLogin(state, exampleKeys))],
    ['Control', server.control],
    ['Inspector', `${server.control}/`],
    ['Token', server.controlToken && `X-Mock-Token: ${isTokenSet ? 'as set' : server.controlToken}`],
    ['Fixture', fixtures && toPlain(fixtures)],
    ['Loaded', describeLoaded(state)],
    ['Write to', exampleKeys.inbox?.ownerName],
  ];
  const known = facts.flatMap(([label, value]) => (value ? [[label, value]] : []));
  const keys = TIERS.flatMap((tier) => {
    const example = exampleKeys[tier];
    return example ? [[tier, fitName(toPlain(example.ownerName)), example.key]] : [];
  });
  return [
    `${style('bold', NAME)} ${VERSION}`,
    ...toColumns(known, dim),
    '',
    ...toColumns(keys, dim),
    '',
    `  ${exampleRequest(server.url, exampleKeys)}`,
    '',
    'Ready.',
  ].join('\n');
}

/** Returns the user and the password of a login, with the note that no key is a password. */
function describeLogin(login: Login | undefined): string | undefined {
  return login && toPlain(`user ${login.user}, password ${login.password} (an API key is no password)`);
}

/** Returns a curl command that lists messages with the key of the smallest scope. Without a key, creates a tenant. */
function exampleRequest(url: string, { operator, tenant, workspace, inbox }: ExampleKeys): string {
  const reader = inbox ?? workspace ?? tenant;
  if (reader) return `curl ${url}/v1/messages -H 'X-API-Key: ${reader.key}'`;
  return `curl ${url}/v1/tenants -H 'X-API-Key: ${operator?.key}' -d '{"name":"Acme"}'`;
}

/** Removes control characters, because a text of a fixture must not control the terminal. */
function toPlain(text: string): string {
  return text.replace(/\p{C}/gu, '');
}

const MAX_NAME_LENGTH = 32;

function fitName(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}…` : name;
}

/** Returns the line of JSON that `--json` prints once the server listens. */
export function readyLine({ server, fixtures }: Started): string {
  const { url, port, control, controlToken, smtp, imap, mailbox } = server;
  const keys = Object.fromEntries(Object.entries(findExampleKeys(server)).map(([tier, { key }]) => [tier, key]));
  const { ids } = mailbox;
  return toPrintableJson({ url, port, version: VERSION, keys, ids, control, controlToken, smtp, imap, fixtures });
}

/** The collections that are counted. */
const COUNTED = ['workspaces', 'inboxes', 'messages', 'attachments', 'drafts', 'lists', 'domains', 'webhooks'] as const;

/** Returns the number of tenants, and of the items of each kind that they have, such as `1 tenant, 2 inboxes`. */
export function describeCounts(
  { tenants }: MailboxState,
  kinds: readonly (typeof COUNTED)[number][] = COUNTED,
): string {
  const counts = kinds.map((kind) => ({ count: tenants.reduce((sum, tenant) => sum + tenant[kind].length, 0), kind }));
  const present = counts.filter(({ count }) => count > 0).map(({ count, kind }) => countOf(count, kind));
  return [countOf(tenants.length, 'tenants'), ...present].join(', ');
}

/** Returns what was loaded, and the time since this process started, such as `1 tenant, 2 inboxes in 0.2 s`. */
export function describeLoaded(state: MailboxState): string {
  return `${describeCounts(state, ['inboxes', 'messages', 'webhooks'])} in ${process.uptime().toFixed(1)} s`;
}

function countOf(count: number, plural: string): string {
  // A locale is used only for large numbers, because its first use takes more than a tenth of the time of a start.
  const shown = count < 1000 ? String(count) : count.toLocaleString('en');
  return `${shown} ${count === 1 ? plural.replace(/(?<=x)es$|s$/, '') : plural}`;
}
