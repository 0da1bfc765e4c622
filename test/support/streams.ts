import { createMailbox } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import { isInProcess } from './control.ts';
import { ADDRESS } from './desk.ts';
import type { World } from './everywhere.ts';
import { IDS } from './ids.ts';
import { beginPageStream, type Frame, openSocket, refusalOf, type StreamClient } from './stream-client.ts';

const { acme, globex } = IDS;
const { helpdesk, billing, outreach } = acme.inboxes;
const { support, sales } = acme.workspaces;

/** The keys of `fixtures/default.json`. */
export const KEYS = createMailbox().keys;

/** Every kind of event. */
export const ALL_KINDS = ['message.received', 'message.sent', 'message.bounced'];

/** When time stands still in tests of streams. */
export const NOON = '2026-03-01T12:00:00.000Z';

/** The older path of a stream, which subscribes to an inbox by itself. */
export const aliasOf = (inboxId: string) => `/v1/inboxes/${inboxId}/ws`;

/** Opens a stream as clients do: in process by the global `WebSocket`, over HTTP by `ws` with the key in a header. */
export async function open(world: World, key: string, path = '/v1/ws'): Promise<StreamClient> {
  if (isInProcess(world)) return beginPageStream(`${world.url}${path}?api_key=${key}`);
  return openSocket(world.url + path, { 'X-API-Key': key });
}

/** Opens a stream and says what it is to hear of. */
export async function listen(world: World, key: string, wanted: Frame = {}): Promise<StreamClient> {
  const client = await open(world, key);
  await client.next('connected');
  await client.subscribe(wanted);
  return client;
}

/** The kind of error with which a stream is refused: the body over HTTP, the close code in process. */
export async function refusal(world: World, query: string, path = '/v1/ws'): Promise<number> {
  const url = `${world.url}${path}${query}`;
  if (!isInProcess(world)) return (await refusalOf(openSocket(url))).status;
  const client = beginPageStream(url);
  const { code } = await client.closed;
  expect(client.frames).toEqual([]);
  return code - 4000;
}

/** The inboxes of both tenants. */
export const PLACES: readonly string[] = [helpdesk, billing, outreach, globex.inboxes.info];

/** Lets something happen in each inbox that is there, in this order. */
export function happenEverywhere({ mailbox }: World): string[] {
  const addresses = [ADDRESS.helpdesk, ADDRESS.billing, ADDRESS.outreach, ADDRESS.info];
  const there = PLACES.filter((_, index) => mailbox.receives(addresses[index] ?? ''));
  for (const inboxId of there) mailbox.trigger('message.received', { inboxId });
  return there;
}

/** The inboxes that event frames are about. */
export const inboxesOf = (frames: readonly Frame[]) => frames.map(({ message }) => message.inbox_id);

/** The events that a client gets, once something has happened everywhere. */
export async function hears(world: World, client: StreamClient): Promise<string[]> {
  await client.news();
  happenEverywhere(world);
  return inboxesOf(await client.news());
}

type Reach = readonly [key: string, inboxes: readonly string[], workspaces: readonly string[]];

/** What each key of Acme reaches; it reaches nothing else. */
export const REACHES: Record<string, Reach> = {
  'a tenant key': [KEYS.acme.tenant, [helpdesk, billing, outreach], [support, sales]],
  'the key of support': [KEYS.acme.workspaces.support, [helpdesk, billing], [support]],
  'the key of sales': [KEYS.acme.workspaces.sales, [outreach], [sales]],
  'the key of helpdesk': [KEYS.acme.inboxes.helpdesk, [helpdesk], []],
  'the key of outreach': [KEYS.acme.inboxes.outreach, [outreach], []],
};

/** The inboxes that a key reaches; what is none of Acme's is Globex's. */
export const inboxesBy = (wanted: string) =>
  Object.values(REACHES).find(([key]) => key === wanted)?.[1] ?? [globex.inboxes.info];
