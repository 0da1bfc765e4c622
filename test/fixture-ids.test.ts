import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { everywhere, interceptRequests } from './support/everywhere.ts';
import { IDS } from './support/ids.ts';

interceptRequests();

test('a mailbox has the ids of its fixture by the handles of its keys', () => {
  const { ids, keys } = createMailbox();
  const idsOf = ({ tenant, workspaces, inboxes, webhooks }: typeof IDS.acme | typeof IDS.globex) => ({
    tenant,
    workspaces,
    inboxes,
    webhooks,
  });
  expect(ids).toEqual({ acme: idsOf(IDS.acme), globex: idsOf(IDS.globex) });
  expect(Object.keys(ids)).toEqual(Object.keys(keys).filter((handle) => handle !== 'operator'));
});

test('an id that the fixture leaves out, or writes in upper case, is as the service has it', () => {
  const id = 'AC3E0000-0000-4000-8000-00000000000A';
  const { ids, snapshot } = createMailbox({
    fixtures: { tenants: { acme: { workspaces: { main: { id, inboxes: { desk: {} } } } } } },
  });
  const [tenant] = snapshot().tenants;
  expect(ids).toEqual({
    acme: {
      tenant: tenant?.id,
      workspaces: { main: id.toLowerCase() },
      inboxes: { desk: tenant?.inboxes[0]?.id },
      webhooks: {},
    },
  });
});

everywhere('an id leads to what its handle names, after a reset too', async ({ send, mailbox }) => {
  const { ids, keys } = mailbox;
  const key = keys.acme.tenant;
  mailbox.reset();
  const workspace = await send('GET', `/v1/workspaces/${ids.acme.workspaces.sales}`, { key });
  const inbox = await send('GET', `/v1/inboxes/${ids.acme.inboxes.billing}`, { key });
  const webhook = await send('GET', `/v1/webhooks/${ids.acme.webhooks.support}`, { key });
  expect([workspace.json.slug, inbox.json.username, webhook.json.events]).toEqual([
    'sales',
    'billing',
    ['message.received'],
  ]);
});
