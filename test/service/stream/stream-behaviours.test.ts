import type { BehaviourOptions } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { CHANGEABLE_IDS, changeableDefinition } from '../../../src/contract/behaviours.ts';
import { isInProcess } from '../../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { beginPageStream, openSocket, provideWebSocket, refusalOf } from '../../support/stream-client.ts';
import { ALL_KINDS, aliasOf, KEYS, listen, open, receivedInboxes, refusal } from '../../support/streams.ts';

provideWebSocket();
interceptRequests();

const { acme, globex, nobody } = IDS;
const { helpdesk, billing, outreach } = acme.inboxes;

const STREAM_IDS = CHANGEABLE_IDS.filter((id) => id.startsWith('stream.'));

/** What shows a behaviour, and what it shows under each value. */
const READINGS: Record<string, { read: (service: Service) => Promise<unknown>; values: Record<string, unknown> }> = {
  'stream.key': {
    read: async (service) => {
      const query = `?api_key=${KEYS.acme.tenant}`;
      if (service.mailbox.behaviours['stream.key'] === 'header') return refusal(service, query);
      await using client = isInProcess(service)
        ? beginPageStream(`${service.url}/v1/ws${query}`)
        : await openSocket(`${service.url}/v1/ws${query}`);
      return (await client.next()).type;
    },
    values: { 'header-or-query': 'connected', header: 401 },
  },
  'stream.before-subscribe': {
    read: async (service) => {
      await using client = await open(service, KEYS.acme.workspaces.support);
      await client.next();
      return await receivedInboxes(service, client);
    },
    values: { nothing: [], everything: [helpdesk, billing] },
  },
  'stream.alias': {
    read: async (service) => {
      await using client = await open(service, KEYS.acme.tenant, aliasOf(outreach));
      await client.next();
      return [...(await client.news()), ...(await receivedInboxes(service, client))];
    },
    values: {
      subscribed: [{ type: 'subscribed', event_types: ALL_KINDS, inbox_ids: [outreach], workspace_ids: [] }, outreach],
      silent: [outreach],
    },
  },
  'stream.event.message': {
    read: async (service) => {
      await using client = await listen(service, KEYS.acme.tenant);
      service.mailbox.trigger('message.received', { messageId: acme.messages.talk });
      return (await client.next()).message.message_id;
    },
    values: { 'with-id': acme.messages.talk, reference: undefined },
  },
  'stream.ping': {
    read: async (service) => {
      const { clock } = service.mailbox;
      clock.freeze();
      await using client = await listen(service, KEYS.acme.tenant);
      await clock.advance('10m');
      return (await client.news()).length;
    },
    values: { '30s': 20, '5m': 2, never: 0 },
  },
};

describe('a behaviour of the stream', () => {
  test('has a test here for each that is about streams', ({ expect }) => {
    expect(STREAM_IDS.sort()).toEqual(Object.keys(READINGS).sort());
  });

  for (const id of STREAM_IDS) {
    for (const current of Object.keys(changeableDefinition(id).choices)) {
      everywhere(`${id}=${current} is what a client sees`, { behaviours: { [id]: current } }, async (service) => {
        expect(await READINGS[id]?.read(service)).toEqual(READINGS[id]?.values[current]);
      });
    }
  }

  everywhere(
    'auth.wrong-tier=not-found hides streams from the operator',
    { behaviours: { 'auth.wrong-tier': 'not-found' } },
    async (service) => {
      expect(await refusal(service, `?api_key=${KEYS.operator}`)).toBe(404);
      expect(await refusal(service, '?api_key=sa_unknown_operator_key')).toBe(401);
    },
  );

  everywhere(
    'errors.foreign-resource=forbidden reveals that the inbox of the alias exists elsewhere',
    { behaviours: { 'errors.foreign-resource': 'forbidden' } },
    async (service) => {
      const query = `?api_key=${KEYS.acme.workspaces.sales}`;
      expect(await refusal(service, query, aliasOf(helpdesk))).toBe(403);
      expect(await refusal(service, query, aliasOf(globex.inboxes.info))).toBe(403);
      expect(await refusal(service, query, aliasOf(nobody))).toBe(404);
    },
  );

  const SHAPE: BehaviourOptions = { 'errors.shape': 'error-only' };
  test('shapes the refusal of a stream too', async ({ expect }) => {
    await using server = await startServer({ port: 0, behaviours: SHAPE });
    const { json } = await refusalOf(openSocket(`${server.url}/v1/ws`));
    expect(json).toEqual({ error: expect.any(String) });
  });
});
