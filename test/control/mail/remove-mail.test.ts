import type { FeedEvent } from 'agent-mailbox-mock';
import { describe, expect } from 'vitest';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { inboxes, messages, attachments, tenant } = IDS.acme;

describe('the removal of mail', () => {
  everywhere('removes one for good, with its files, and tells the feed', async (service) => {
    const { mailbox, send } = service;
    const key = mailbox.keys.acme.tenant;
    const remove = (id: string) =>
      control(service, `DELETE /messages/${id}`, undefined, () => {
        mailbox.removeMail(id);
        return { removed: 1 };
      });
    const { total } = mailbox.searchMail({ search: 'has:attachment' });
    expect(await remove(messages.invoice)).toMatchObject({ status: 200, json: { removed: 1 } });
    expect(mailbox.searchMail({ search: 'has:attachment' }).total).toBe(total - 1);
    const path = `/v1/inboxes/${inboxes.billing}/messages/${messages.invoice}`;
    expect((await send('GET', path, { key })).status).toBe(404);
    expect((await send('GET', `${path}/attachments/${attachments.order}`, { key })).status).toBe(404);
    expect(mailbox.searchMail({ folder: 'trash', inbox: inboxes.billing }).total).toBe(0);
    const again = await remove(messages.invoice);
    expect([again.status, again.json.error]).toEqual([404, 'There is no message with this id.']);
    const events: FeedEvent[] = [];
    for await (const event of mailbox.feed({ lastEventId: '0', follow: false })) events.push(event);
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'messages', data: { action: 'removed', tenantId: tenant, name: null } }),
    );
  });

  everywhere('removes what a search finds, in a sandbox only its own', async (service) => {
    const { mailbox, send } = service;
    const sandbox = mailbox.createSandbox();
    const clear = async (query: string, selection: Parameters<typeof mailbox.clearMail>[0], target = mailbox) =>
      (await control(service, `DELETE /messages?${query}`, undefined, () => ({ removed: target.clearMail(selection) })))
        .json;
    const key = mailbox.keys.acme.tenant;
    await send('DELETE', `/v1/inboxes/${inboxes.helpdesk}/messages/${messages.thanks}`, { key });
    expect(await clear('folder=trash', { folder: 'trash' })).toEqual({ removed: 1 });
    const of = { inbox: inboxes.helpdesk, search: 'from:dana' };
    expect(await clear(`inbox=${of.inbox}&search=from:dana`, of)).toEqual({ removed: 1 });
    expect(mailbox.searchMail({ inbox: inboxes.helpdesk }).messages.map(({ direction }) => direction)).toEqual([
      'outbound',
    ]);
    const before = mailbox.searchMail().total;
    const own = sandbox.searchMail().total;
    expect(await clear(`sandbox=${sandbox.id}`, {}, sandbox as never)).toEqual({ removed: own });
    expect([sandbox.searchMail().total, mailbox.searchMail().total]).toEqual([0, before - own]);
    await clear('', {});
    expect(mailbox.searchMail().total).toBe(0);
    mailbox.reset();
    expect(mailbox.searchMail().total).toBe(6);
    const { status } = await control(service, 'DELETE /messages?folder=drafts', undefined, () =>
      mailbox.clearMail({ folder: 'drafts' as 'sent' }),
    );
    expect(status).toBe(400);
  });
});
