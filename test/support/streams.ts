import { createMailbox } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import { isInProcess } from './control.ts';
import type { Service } from './everywhere.ts';
import { IDS } from './ids.ts';
import { ADDRESS } from './inbox-clients.ts';
import { beginPageStream, type Frame, openSocket, refusalOf, type StreamClient } from './stream-client.ts';

const { acme, globex } = IDS;
const { helpdesk, billing, outreach } = acme.inboxes;
const { support, sales } = acme.workspaces;

/** The keys of `fixtures/default.json`. */
export const KEYS = createMailbox().keys;

/** Every kind of event. */
export const ALL_KINDS = ['message.received', 'message.sent', 'message.bounced'];

/** The frozen time in tests of streams. */
export const NOON = '2026-03-01T12:00:00.000Z';

/** The older path of a stream, which subscribes to an inbox by itself. */
export const aliasOf = (inboxId: string) => `/v1/inboxes/${inboxId}/ws`;

/** Opens a stream as clients do: in process by the global `WebSocket`, over HTTP by `ws` with the key in a header. */
export async function open(service: Service, key: string, path = '/v1/ws'): Promise<StreamClient> {
  if (isInProcess(service)) return beginPageStream(`${service.url}${path}?api_key=${key}`);
  return openSocket(service.url + path, { 'X-API-Key': key });
}

/** Opens a stream and subscribes to the wanted events. */
export async function listen(service: Service, key: string, wanted: Frame = {}): Promise<StreamClient> {
  const client = await open(service, key);
  await client.next('connected');
  await client.subscribe(wanted);
  return client;
}

/** The kind of error with which a stream is refused: the body over HTTP, the close code in process. */
export async function refusal(service: Service, query: string, path = '/v1/ws'): Promise<number> {
  const url = `${service.url}${path}${query}`;
  if (!isInProcess(service)) return (await refusalOf(openSocket(url))).status;
  const client = beginPageStream(url);
  const { code, reason } = await client.closed;
  expect(reason).toMatch(/^[A-Z]/);
  expect(client.frames).toEqual([]);
  return code - 4000;
}

/** The inboxes of both tenants. */
export const PLACES: readonly string[] = [helpdesk, billing, outreach, globex.inboxes.info];

/** Fires an event in each existing inbox, in this order, and returns the ids of the inboxes. */
export function fireEverywhere({ mailbox }: Service): string[] {
  const addresses = [ADDRESS.helpdesk, ADDRESS.billing, ADDRESS.outreach, ADDRESS.info];
  const there = PLACES.filter((_, index) => mailbox.receives(addresses[index] ?? ''));
  for (const inboxId of there) mailbox.trigger('message.received', { inboxId });
  return there;
}

/** The inboxes that event frames are about. */
export const inboxesOf = (frames: readonly Frame[]) => frames.map(({ message }) => message.inbox_id);

/** Fires an event in every inbox, and returns the ids of the inboxes whose events the client receives. */
export async function receivedInboxes(service: Service, client: StreamClient): Promise<string[]> {
  await client.news();
  fireEverywhere(service);
  return inboxesOf(await client.news());
}

type Reach = readonly [key: string, inboxes: readonly string[], workspaces: readonly string[]];

/** The inboxes and workspaces that each key of Acme reaches; it reaches no others. */
export const REACHES: Record<string, Reach> = {
  'a tenant key': [KEYS.acme.tenant, [helpdesk, billing, outreach], [support, sales]],
  'the key of support': [KEYS.acme.workspaces.support, [helpdesk, billing], [support]],
  'the key of sales': [KEYS.acme.workspaces.sales, [outreach], [sales]],
  'the key of helpdesk': [KEYS.acme.inboxes.helpdesk, [helpdesk], []],
  'the key of outreach': [KEYS.acme.inboxes.outreach, [outreach], []],
};

/** Returns the inboxes that a key reaches; every key that is not of Acme is of Globex. */
export const inboxesBy = (wanted: string) =>
  Object.values(REACHES).find(([key]) => key === wanted)?.[1] ?? [globex.inboxes.info];
