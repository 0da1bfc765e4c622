import { EVENT_KINDS } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests } from '../support/everywhere.ts';
import { IDS } from '../support/ids.ts';
import { createWebhook } from '../support/webhooks.ts';

interceptRequests();

everywhere('the control plane lists every webhook with its secret', async (service) => {
  const { mailbox } = service;
  const { id, secret } = await createWebhook(service, 'https://agent.example/hook');
  const { json } = await control(service, 'GET /webhooks', undefined, () => ({ webhooks: mailbox.webhooks() }));
  expect(json.webhooks.map((webhook: { id: string }) => webhook.id)).toEqual([
    ...Object.values(mailbox.ids.acme.webhooks),
    id,
    ...Object.values(mailbox.ids.globex.webhooks),
  ]);
  expect(json.webhooks.find((webhook: { id: string }) => webhook.id === id)).toEqual({
    id,
    tenantId: IDS.acme.tenant,
    workspaceId: null,
    url: 'https://agent.example/hook',
    events: [...EVENT_KINDS],
    isActive: true,
    secret,
  });
});

everywhere('the webhooks of a sandbox are only its own', async ({ mailbox }) => {
  const sandbox = mailbox.createSandbox();
  expect(sandbox.webhooks().map(({ id }) => id)).toEqual(Object.values(sandbox.ids.webhooks));
});
