import type { BehaviourOptions } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { CHOICE_IDS, choiceDefinition } from '../../src/contract/behaviours.ts';
import { isInProcess } from '../support/control.ts';
import { everywhere, interceptRequests, type World } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { beginPageStream, openSocket, provideWebSocket, refusalOf } from '../support/stream-client.ts';
import { ALL_KINDS, aliasOf, hears, KEYS, listen, open, refusal } from '../support/streams.ts';

provideWebSocket();
interceptRequests();

const { acme, globex, nobody } = IDS;
const { helpdesk, billing, outreach } = acme.inboxes;

const CHOICES = CHOICE_IDS.filter((id) => id.startsWith('stream.'));

/** What shows a choice, and what it shows under each. */
const READINGS: Record<string, { read: (world: World) => Promise<unknown>; values: Record<string, unknown> }> = {
  'stream.key': {
    read: async (world) => {
      const query = `?api_key=${KEYS.acme.tenant}`;
      if (world.mailbox.behaviours['stream.key'] === 'header') return refusal(world, query);
      await using client = isInProcess(world)
        ? beginPageStream(`${world.url}/v1/ws${query}`)
        : await openSocket(`${world.url}/v1/ws${query}`);
      return (await client.next()).type;
    },
    values: { 'header-or-query': 'connected', header: 401 },
  },
  'stream.before-subscribe': {
    read: async (world) => {
      await using client = await open(world, KEYS.acme.workspaces.support);
      await client.next();
      return await hears(world, client);
    },
    values: { nothing: [], everything: [helpdesk, billing] },
  },
  'stream.alias': {
    read: async (world) => {
      await using client = await open(world, KEYS.acme.tenant, aliasOf(outreach));
      await client.next();
      return [...(await client.news()), ...(await hears(world, client))];
    },
    values: {
      subscribed: [{ type: 'subscribed', event_types: ALL_KINDS, inbox_ids: [outreach], workspace_ids: [] }, outreach],
      silent: [outreach],
    },
  },
  'stream.event.message': {
    read: async (world) => {
      await using client = await listen(world, KEYS.acme.tenant);
      world.mailbox.trigger('message.received', { messageId: acme.messages.talk });
      return (await client.next()).message.message_id;
    },
    values: { 'with-id': acme.messages.talk, reference: undefined },
  },
  'stream.ping': {
    read: async (world) => {
      const { clock } = world.mailbox;
      clock.freeze();
      await using client = await listen(world, KEYS.acme.tenant);
      await clock.advance('10m');
      return (await client.news()).length;
    },
    values: { '30s': 20, '5m': 2, never: 0 },
  },
};

describe('a choice of the ledger', () => {
  test('has a test here for each that is about streams', ({ expect }) => {
    expect(CHOICES.sort()).toEqual(Object.keys(READINGS).sort());
  });

  for (const id of CHOICES) {
    for (const choice of Object.keys(choiceDefinition(id).choices)) {
      everywhere(`${id}=${choice} is what a client sees`, { behaviours: { [id]: choice } }, async (world) => {
        expect(await READINGS[id]?.read(world)).toEqual(READINGS[id]?.values[choice]);
      });
    }
  }

  everywhere(
    'auth.wrong-tier=not-found hides streams from the operator',
    { behaviours: { 'auth.wrong-tier': 'not-found' } },
    async (world) => {
      expect(await refusal(world, `?api_key=${KEYS.operator}`)).toBe(404);
      expect(await refusal(world, '?api_key=sa_unknown_operator_key')).toBe(401);
    },
  );

  everywhere(
    'errors.foreign-resource=forbidden reveals that the inbox of the alias exists elsewhere',
    { behaviours: { 'errors.foreign-resource': 'forbidden' } },
    async (world) => {
      const query = `?api_key=${KEYS.acme.workspaces.sales}`;
      expect(await refusal(world, query, aliasOf(helpdesk))).toBe(403);
      expect(await refusal(world, query, aliasOf(globex.inboxes.info))).toBe(403);
      expect(await refusal(world, query, aliasOf(nobody))).toBe(404);
    },
  );

  const SHAPE: BehaviourOptions = { 'errors.shape': 'error-only' };
  test('shapes the refusal of a stream too', async ({ expect }) => {
    await using server = await startServer({ port: 0, behaviours: SHAPE });
    const { json } = await refusalOf(openSocket(`${server.url}/v1/ws`));
    expect(json).toEqual({ error: expect.any(String) });
  });
});
