import { Readable } from 'node:stream';
import { describe, test } from 'vitest';
import { createSilentReader, parseBehaviours } from '../../../src/contract/behaviours.ts';
import type { IncomingMessage } from '../../../src/contract/incoming-message.ts';
import { defaultFixture } from '../../../src/fixture/default-fixture.ts';
import { parseFixture } from '../../../src/fixture/parse-fixture.ts';
import { type EntryOf, MAIL_ENTRY_KINDS, type MailEntryKind } from '../../../src/service/journal/entry-kinds.ts';
import { Journals } from '../../../src/service/journal/journals.ts';
import { Correspondents } from '../../../src/service/mail/correspondents/correspondents.ts';
import { acceptMessage } from '../../../src/service/mail/incoming/accept-message.ts';
import { LoopGuard } from '../../../src/service/mail/outgoing/loop-guard.ts';
import { handleRequest } from '../../../src/service/pipeline/handle-request.ts';
import { toResponseBody } from '../../../src/service/pipeline/reply.ts';
import { createService } from '../../../src/service/pipeline/service.ts';
import { createEnvironment } from '../../../src/world/environment.ts';
import { Faults } from '../../../src/world/faults.ts';
import { seed } from '../../../src/world/store/seed/seed.ts';
import { Worlds } from '../../../src/world/store/worlds.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';
import { createReply, type SendOptions } from '../../support/send.ts';

const KEYS = {
  acme: {
    inboxes: { helpdesk: 'ak_acme_helpdesk_key', billing: 'ak_acme_billing_key', outreach: 'ak_acme_outreach_key' },
  },
  globex: { inboxes: { info: 'ak_globex_info_key' } },
};

/** A service with the default fixture in it, and all that it has published. */
function startService() {
  const errors: unknown[] = [];
  const worlds = new Worlds(createEnvironment({ report: (error) => void errors.push(error) }));
  seed(worlds, parseFixture(defaultFixture));
  const journals = new Journals(worlds, worlds.environment, 1_000);
  const events: EntryOf<MailEntryKind>[] = [];
  const unsubscribe = journals.subscribe(MAIL_ENTRY_KINDS, (entry) => void events.push(entry));
  const behaviours = parseBehaviours();
  const loops = new LoopGuard(worlds, journals, 50);
  const service = createService({
    worlds,
    journals,
    behaviours,
    faults: new Faults(worlds, journals, worlds.environment),
    loops,
    correspondents: new Correspondents({ worlds, journals, behaviours, loops }),
  });

  async function send(method: string, path: string, { key, json }: SendOptions = {}) {
    const { reply } = await handleRequest(service, {
      method,
      path: path.split('?', 1).join(),
      query: new URLSearchParams(path.split('?')[1]),
      headers: new Headers({ 'X-API-Key': key ?? '', 'Content-Type': 'application/json' }),
      body: json === undefined ? null : Readable.from([Buffer.from(JSON.stringify(json))]),
    });
    return createReply(
      reply.status,
      new Headers(reply.headers),
      new Uint8Array(await new Response(toResponseBody(reply.body)).arrayBuffer()),
    );
  }

  const receive = (message: IncomingMessage) =>
    acceptMessage({ ...service, epoch: service.worlds.epoch, ...createSilentReader(parseBehaviours()) }, message);

  return { receive, journals, events, errors, unsubscribe, ...openInboxClients({ mailbox: { keys: KEYS }, send }) };
}

const kinds = (events: readonly EntryOf<MailEntryKind>[]) => events.map(({ data }) => [data.event, data.inboxId]);

describe('events', () => {
  test('mail from outside is published once for each inbox where it arrives, and not where it is refused', async ({
    expect,
  }) => {
    const { helpdesk, info, events, receive } = startService();
    const mail = { from: ADDRESS.dana, to: [helpdesk.address, info.address, 'helpdesk+42@acme.test'] };
    const arrived = await receive(mail);
    expect(kinds(events)).toEqual([
      ['message.received', helpdesk.id],
      ['message.received', info.id],
    ]);
    expect(events.map(({ data }) => data.message.id)).toEqual(arrived.map(({ id }) => id));
    await expect(receive({ ...mail, to: [helpdesk.address, 'no@acme.test'] })).rejects.toThrow('There is no inbox');
    expect(events).toHaveLength(2);
  });

  test('a send publishes that it was sent, received and bounced, in this order', async ({ expect }) => {
    const { helpdesk, billing, info, events } = startService();
    const sent = await helpdesk.mail([info.address, 'nobody@acme.test', billing.address, 'Bounce@simulator.test']);
    const reported = [
      ['message.received', helpdesk.id],
      ['message.bounced', helpdesk.id],
    ];
    expect(kinds(events)).toEqual([
      ['message.sent', helpdesk.id],
      ['message.received', info.id],
      ['message.received', billing.id],
      ...reported,
      ...reported,
    ]);
    const [first, , , , bounced] = events;
    expect([first?.data.message.id, bounced?.data.message.id]).toEqual([sent.id, sent.id]);
    expect([first?.data.message.bouncedAt, bounced?.data.message.bouncedAt]).toEqual([null, expect.any(String)]);
  });

  test('an event names its tenant, workspace and inbox', async ({ expect }) => {
    const { helpdesk, info, events } = startService();
    await helpdesk.mail(info.address);
    expect(events.map(({ tenantId, data }) => [tenantId, data.workspaceId, data.inboxId])).toEqual([
      [IDS.acme.tenant, IDS.acme.workspaces.support, helpdesk.id],
      [IDS.globex.tenant, IDS.globex.workspaces.main, info.id],
    ]);
    for (const { data } of events) {
      const { id, message, inboxId } = data;
      expect(id).toMatch(/^evt_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(message.inboxId).toBe(inboxId);
    }
    expect(new Set(events.map(({ data }) => data.id)).size).toBe(2);
  });

  test('an event has the message as it is stored in its inbox', async ({ expect }) => {
    const { billing, info, events } = startService();
    const { json } = await billing.call('POST', `/forward/${IDS.acme.messages.invoice}`, { to: info.address });
    const [sent, received] = events;
    const latest = await info.latest();
    expect([sent?.data.message.id, sent?.data.message.direction]).toEqual([json.id, 'outbound']);
    expect([received?.data.message.id, received?.data.message.direction]).toEqual([latest.id, 'inbound']);
    expect(received?.data.message).toMatchObject({ to: [info.address], fromAddress: billing.address, isRead: false });
  });

  test('every way of sending publishes an event', async ({ expect }) => {
    const { helpdesk, events } = startService();
    const { thanks } = IDS.acme.messages;
    await helpdesk.mail(ADDRESS.dana);
    await helpdesk.call('POST', `/reply/${thanks}`, {});
    await helpdesk.call('POST', `/reply-all/${thanks}`, {});
    await helpdesk.call('POST', `/forward/${thanks}`, { to: ADDRESS.dana });
    await helpdesk.call('POST', `/drafts/${IDS.acme.drafts.helpdesk}/send`);
    expect(kinds(events)).toEqual(Array.from({ length: 5 }, () => ['message.sent', helpdesk.id]));
  });

  test('mail to oneself is sent and received', async ({ expect }) => {
    const { helpdesk, events } = startService();
    await helpdesk.mail(helpdesk.address);
    expect(kinds(events)).toEqual([
      ['message.sent', helpdesk.id],
      ['message.received', helpdesk.id],
    ]);
  });

  test('refused requests, reads and other writes publish nothing', async ({ expect }) => {
    const { helpdesk, events } = startService();
    const { thanks } = IDS.acme.messages;
    const statuses: number[] = [];
    for (const [method, path, json] of [
      ['POST', '/send', { to: ADDRESS.stranger, subject: 'Hi' }],
      ['POST', '/send', { to: ADDRESS.dana }],
      ['POST', '/send', { to: ['relay-error@simulator.test', 'bounce@simulator.test', ADDRESS.dana], subject: 'Hi' }],
      ['POST', `/reply/${IDS.nobody}`, {}],
      ['POST', '/send', { to: ['pause@simulator.test', ADDRESS.dana], subject: 'Hi' }],
      ['POST', `/reply/${thanks}`, {}],
      ['GET', `/messages/${thanks}`, undefined],
      ['PATCH', `/messages/${thanks}`, { isStarred: true }],
      ['POST', '/drafts', { to: ADDRESS.dana }],
      ['DELETE', `/messages/${thanks}`, undefined],
    ] as const) {
      statuses.push((await helpdesk.call(method, path, json)).status);
    }
    expect(statuses).toEqual([403, 400, 502, 404, 403, 403, 200, 200, 201, 200]);
    expect(events).toEqual([]);
  });

  test('a listener that throws affects neither the send nor later listeners', async ({ expect }) => {
    const { helpdesk, journals, events, errors } = startService();
    const later: EntryOf<MailEntryKind>[] = [];
    journals.subscribe(MAIL_ENTRY_KINDS, () => {
      throw new Error('No.');
    });
    journals.subscribe(MAIL_ENTRY_KINDS, (entry) => void later.push(entry));
    const sent = await helpdesk.mail(ADDRESS.dana);
    expect(sent.status).toBe('sent');
    expect([events.length, later]).toEqual([1, events]);
    expect(errors).toEqual([new Error('No.')]);
  });

  test('a listener that has unsubscribed receives no more events, and may unsubscribe twice', async ({ expect }) => {
    const { helpdesk, journals, events, unsubscribe } = startService();
    const other: EntryOf<MailEntryKind>[] = [];
    const leave = journals.subscribe(MAIL_ENTRY_KINDS, (entry) => {
      other.push(entry);
      leave();
    });
    await helpdesk.mail(ADDRESS.dana);
    unsubscribe();
    unsubscribe();
    await helpdesk.mail(ADDRESS.dana);
    expect([events.length, other.length]).toEqual([1, 1]);
  });

  test('a listener cannot change the event for other listeners or the stored message', async ({ expect }) => {
    const { helpdesk, journals, errors } = startService();
    journals.subscribe(MAIL_ENTRY_KINDS, ({ data }) => void Object.assign(data.message, { subject: 'Changed' }));
    journals.subscribe(
      MAIL_ENTRY_KINDS,
      ({ data }) => void (data.message.to as string[]).push('changed@customer.test'),
    );
    journals.subscribe(MAIL_ENTRY_KINDS, (entry) => void Object.assign(entry, { kind: 'mail-held' }));
    const { id } = await helpdesk.mail(ADDRESS.dana);
    expect((await helpdesk.call('GET', `/messages/${id}`)).json).toMatchObject({
      subject: 'Hello',
      to: ADDRESS.dana,
    });
    expect(errors).toEqual([expect.any(TypeError), expect.any(TypeError), expect.any(TypeError)]);
  });
});
