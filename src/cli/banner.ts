import { styleText } from 'node:util';
import { TIERS } from '../contract/tiers.ts';
import { NAME, VERSION } from '../version.ts';
import { type AnyServer, findKeyHolders, type KeyHolders } from './key-holders.ts';
import { toColumns } from './layout.ts';

/** What was started, and from what. */
interface Started {
  readonly server: AnyServer;
  /** The fixture file; `undefined` where the default fixture is used. */
  readonly fixtures: string | undefined;
}

/** Newer versions of Node would decide on colour once more. */
const AS_DECIDED = { validateStream: false };

/** What a person sees once the server listens. */
export function bannerText({ server, fixtures }: Started, colour: boolean): string {
  const style = (format: 'bold' | 'dim', text: string) => (colour ? styleText(format, text, AS_DECIDED) : text);
  const dim = (text: string) => style('dim', text);
  const holders = findKeyHolders(server);
  const places: readonly (readonly [label: string, value: string | undefined])[] = [
    ['URL', style('bold', server.url)],
    ['SMTP', server.smtp && `port ${server.smtp.port}`],
    ['Control', server.control],
    ['Token', server.controlToken && `X-Mock-Token: ${server.controlToken}`],
    ['Fixture', fixtures && toPlain(fixtures)],
    ['Write to', holders.inbox?.who],
  ];
  const keys = TIERS.flatMap((tier) => {
    const holder = holders[tier];
    return holder ? [[tier, shorten(toPlain(holder.who)), holder.key]] : [];
  });
  return [
    `${style('bold', NAME)} ${VERSION}`,
    ...toColumns(
      places.flatMap(([label, value]) => (value ? [[label, value]] : [])),
      dim,
    ),
    '',
    ...toColumns(keys, dim),
    '',
    `  ${exampleRequest(server.url, holders)}`,
    '',
    'Ready.',
  ].join('\n');
}

/** A request to copy into a shell: it reads the mail of the narrowest key, or makes the first tenant. */
function exampleRequest(url: string, { operator, tenant, workspace, inbox }: KeyHolders): string {
  const reader = inbox ?? workspace ?? tenant;
  if (reader) return `curl ${url}/v1/messages -H 'X-API-Key: ${reader.key}'`;
  return `curl ${url}/v1/tenants -H 'X-API-Key: ${operator?.key}' -d '{"name":"Acme"}'`;
}

/** Control characters of a fixture must not reach the terminal. */
function toPlain(text: string): string {
  return text.replace(/\p{C}/gu, '');
}

const MAX_NAME_LENGTH = 32;

function shorten(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}…` : name;
}

/** What a program reads once the server listens: one line of JSON. */
export function readyLine({ server, fixtures }: Started): string {
  const { url, port, control, controlToken, smtp, mailbox } = server;
  const keys = Object.fromEntries(Object.entries(findKeyHolders(server)).map(([tier, { key }]) => [tier, key]));
  return JSON.stringify({ url, port, version: VERSION, keys, ids: mailbox.ids, control, controlToken, smtp, fixtures });
}
