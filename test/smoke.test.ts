import { expect } from 'vitest';
import { everywhere, interceptRequests } from './support/everywhere.ts';

interceptRequests();
everywhere('lists', async ({ send, mailbox }) => {
  const r = await send('GET', '/v1/webhooks', { key: mailbox.keys.acme.tenant });
  expect(r.status).toBe(200);
});
