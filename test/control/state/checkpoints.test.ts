import { createMailbox } from 'agent-mailbox-mock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { randomCalls, runCalls } from '../../support/model/random-calls.ts';

interceptRequests();

test('restoring a checkpoint brings back its state, and the same calls then get the same replies', async () => {
  await fc.assert(
    fc.asyncProperty(randomCalls, randomCalls, async (first, then) => {
      const mailbox = createMailbox({ seed: 1 });
      mailbox.clock.freeze('2026-03-01T09:00:00Z');
      await runCalls(mailbox, first);
      mailbox.addFault({ on: 'smtp', times: 3 });
      mailbox.checkpoint('here');
      const [saved, faults] = [mailbox.snapshot(), mailbox.faults()];
      const replies = await runCalls(mailbox, then);
      await mailbox.clock.advance('1d');
      mailbox.clearFaults();
      mailbox.restore('here');
      expect(mailbox.snapshot()).toEqual(saved);
      expect(mailbox.faults()).toEqual(faults);
      expect(mailbox.diff('here', 'now')).toEqual({ added: {}, removed: {}, changed: {} });
      expect(await runCalls(mailbox, then)).toEqual(replies);
    }),
    { numRuns: 6 },
  );
});

test('a reset restores the start after anything, checkpoints and loads included', async () => {
  const mailbox = createMailbox({ seed: 3, faults: [{ on: 'request', operation: 'getMe', status: 503, times: 2 }] });
  const observe = () => ({
    state: mailbox.snapshot(),
    faults: mailbox.faults(),
    deliveries: mailbox.deliveries(),
    losses: mailbox.losses(),
    requests: mailbox.requests(),
    frozen: mailbox.clock.isFrozen(),
    isRealTime: Math.abs(mailbox.clock.now().getTime() - Date.now()) < 60_000,
  });
  const start = observe();
  await fc.assert(
    fc.asyncProperty(randomCalls, randomCalls, async (first, then) => {
      await runCalls(mailbox, first);
      mailbox.checkpoint('one');
      mailbox.clock.freeze('2030-01-01T00:00:00Z');
      await runCalls(mailbox, then);
      mailbox.restore('one');
      mailbox.addFault({ on: 'smtp' });
      await mailbox.clock.advance('3d');
      mailbox.reset();
      expect(observe()).toEqual(start);
    }),
    { numRuns: 8 },
  );
});

everywhere('a checkpoint is made, listed, compared, restored and removed', async (service) => {
  const { mailbox, send } = service;
  const call = (request: Parameters<typeof control>[1], json: unknown, run: () => unknown) =>
    control(service, request, json, run);
  mailbox.clock.freeze('2026-03-01T09:00:00Z');
  const paid = { name: 'paid', createdAt: '2026-03-01T09:00:00.000Z' };
  expect((await call('POST /checkpoints', { name: 'paid' }, () => mailbox.checkpoint('paid'))).json).toEqual(paid);
  const { helpdesk } = IDS.acme.inboxes;
  const key = mailbox.keys.acme.tenant;
  await send('PATCH', `/v1/inboxes/${helpdesk}`, { key, json: { displayName: 'Other' } });
  await send('DELETE', `/v1/webhooks/${IDS.acme.webhooks.support}`, { key });
  const workspace = await send('POST', '/v1/workspaces', { key, json: { name: 'New' } });

  const { json: diff } = await call('GET /checkpoints/paid/diff/now', undefined, () => mailbox.diff('paid', 'now'));
  expect(diff).toMatchObject({
    added: { workspaces: { [workspace.json.id]: { name: 'New', slug: 'new' } } },
    removed: { webhooks: { [IDS.acme.webhooks.support]: { url: 'http://127.0.0.1:9999/acme/support' } } },
    changed: { inboxes: { [helpdesk]: { displayName: { from: 'Acme Helpdesk', to: 'Other' } } } },
  });
  expect(Object.keys(diff.changed.inboxes[helpdesk])).toEqual(['displayName']);

  expect((await call('GET /checkpoints', undefined, () => ({ checkpoints: mailbox.checkpoints() }))).json).toEqual({
    checkpoints: [paid],
  });
  expect((await call('POST /checkpoints/paid/restore', undefined, () => mailbox.restore('paid'))).json).toEqual(paid);
  expect(mailbox.diff('paid', 'now')).toEqual({ added: {}, removed: {}, changed: {} });
  expect((await call('DELETE /checkpoints/paid', undefined, () => mailbox.removeCheckpoint('paid'))).json).toEqual(
    paid,
  );
  const gone = await call('POST /checkpoints/paid/restore', undefined, () => mailbox.restore('paid'));
  expect(gone).toMatchObject({ status: 404, json: { error: 'There is no checkpoint "paid".', code: 'NOT_FOUND' } });
});

test('restoring a checkpoint brings back its keys and ids, and a reset those of the loaded fixture', () => {
  const mailbox = createMailbox();
  const { keys, ids } = structuredClone({ keys: mailbox.keys, ids: mailbox.ids });
  mailbox.checkpoint('old');
  mailbox.load({ tenants: { initech: {} } });
  mailbox.restore('old');
  expect([mailbox.keys, mailbox.ids]).toEqual([keys, ids]);
  expect(Object.keys(mailbox.export().tenants)).toEqual(['acme', 'globex']);
  mailbox.reset();
  expect([Object.keys(mailbox.keys), Object.keys(mailbox.ids)]).toEqual([['operator', 'initech'], ['initech']]);
});

everywhere('a name that a checkpoint cannot have is refused', async (service) => {
  for (const name of ['', 'now', '..', 'a/b', 'x'.repeat(101), 7, null]) {
    const { status, json } = await control(service, 'POST /checkpoints', { name }, () =>
      service.mailbox.checkpoint(name as never),
    );
    expect([status, json.error]).toEqual([400, expect.stringMatching(/^The \w+ is not valid: name must .+\.$/)]);
  }
  expect(service.mailbox.checkpoints()).toEqual([]);
});

test('a mailbox keeps at most 100 checkpoints, and a name is used again', () => {
  const mailbox = createMailbox();
  for (let number = 0; number < 100; number += 1) mailbox.checkpoint(`n${number}`);
  expect(() => mailbox.checkpoint('one more')).toThrow(
    'A mailbox or a sandbox keeps at most 100 checkpoints; remove one first.',
  );
  mailbox.checkpoint('n0');
  expect(mailbox.checkpoints()).toHaveLength(100);
});
