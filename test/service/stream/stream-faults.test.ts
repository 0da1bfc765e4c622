import { expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { listFaults, setFault } from '../../support/faults.ts';
import { IDS } from '../../support/ids.ts';
import { provideWebSocket } from '../../support/stream-client.ts';
import { listen } from '../../support/streams.ts';

provideWebSocket();
interceptRequests();

const { helpdesk } = IDS.acme.inboxes;

const fire = ({ mailbox }: Service, id: string) => mailbox.trigger('message.received', { inboxId: helpdesk, id });

everywhere('a stream fault closes the stream instead of sending an event', async (service) => {
  const key = service.mailbox.keys.acme.tenant;
  await using client = await listen(service, key);
  const fault = await setFault(service, { on: 'stream', kind: 'close', after: 1 });
  expect(fault).toMatchObject({ on: 'stream', kind: 'close', code: 4503, key: null, tier: null, after: 1, times: 1 });
  fire(service, 'a');
  expect((await client.next()).event_id).toBe('a');
  fire(service, 'b');
  expect(await client.closed).toEqual({ code: 4503, reason: 'A fault closes the stream.' });
  expect(await listFaults(service)).toEqual([]);
  await using again = await listen(service, key);
  fire(service, 'c');
  expect((await again.next()).event_id).toBe('c');
});

everywhere('a stalled stream stays open and sends nothing more, and ends with its key', async (service) => {
  const key = service.mailbox.keys.acme.tenant;
  await using client = await listen(service, key);
  await setFault(service, { on: 'stream', kind: 'stall' });
  const before = client.frames.length;
  fire(service, 'a');
  fire(service, 'b');
  client.send({ type: 'subscribe' });
  await service.mailbox.clock.advance('1m');
  service.mailbox.reset();
  expect((await client.closed).code).toBe(4401);
  expect(client.frames).toHaveLength(before);
});

everywhere('a stream fault happens only to the streams of its key, its tier and its tenant', async (service) => {
  const { acme } = service.mailbox.keys;
  await using one = await listen(service, acme.tenant);
  await using other = await listen(service, acme.inboxes.helpdesk);
  await setFault(service, { on: 'stream', kind: 'close', tenant: IDS.globex.tenant });
  await setFault(service, { on: 'stream', kind: 'close', tier: 'inbox', key: acme.inboxes.helpdesk, code: 4000 });
  fire(service, 'a');
  expect((await one.next()).event_id).toBe('a');
  expect((await other.closed).code).toBe(4000);
  expect((await listFaults(service)).map(({ tenantId }) => tenantId)).toEqual([IDS.globex.tenant]);
});
