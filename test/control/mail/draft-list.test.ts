import { describe, expect } from 'vitest';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { inboxes, workspaces, messages, threads, tenant } = IDS.acme;
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('the drafts of all inboxes', () => {
  everywhere('are listed, the one that was changed last first', async (service) => {
    const { mailbox, send } = service;
    const key = mailbox.keys.acme.tenant;
    const list = async (query: string, filter: Parameters<typeof mailbox.drafts>[0]) =>
      (await control(service, `GET /drafts?${query}`, undefined, () => mailbox.drafts(filter))).json;
    const { total, drafts: before } = await list('', {});
    expect(total).toBe(before.length);
    const create = async (inbox: string, json: object) =>
      (await send('POST', `/v1/inboxes/${inbox}/drafts`, { key, json })).json.id as string;
    mailbox.clock.freeze('2026-03-01T09:00:00Z');
    const answer = { to: ['dana@customer.test'], subject: 'Hi', replyToMessageId: messages.thanks };
    const first = await create(inboxes.helpdesk, answer);
    await mailbox.clock.advance('1m');
    const second = await create(inboxes.outreach, { htmlBody: '<p>Hi</p>' });
    const idsOf = ({ drafts }: { readonly drafts: { readonly id: string }[] }) => drafts.map(({ id }) => id);
    expect(idsOf(await list('', {})).slice(0, 2)).toEqual([second, first]);
    await mailbox.clock.advance('1m');
    await send('PATCH', `/v1/inboxes/${inboxes.helpdesk}/drafts/${first}`, { key, json: { plainBody: 'Hello' } });
    const page = await list('limit=1', { limit: 1 });
    expect(page).toEqual({
      total: total + 2,
      drafts: [
        {
          id: first,
          tenantId: tenant,
          inboxId: inboxes.helpdesk,
          inbox: 'helpdesk@acme.test',
          ...answer,
          cc: [],
          bcc: [],
          plainBody: 'Hello',
          htmlBody: null,
          threadId: threads.login,
          createdAt: '2026-03-01T09:00:00.000Z',
          updatedAt: '2026-03-01T09:02:00.000Z',
        },
      ],
    });
    expect(idsOf(await list('limit=1&offset=1', { limit: 1, offset: 1 }))).toEqual([second]);
    expect(idsOf(await list(`inbox=${inboxes.outreach}`, { inbox: inboxes.outreach }))).toEqual([second]);
    expect(idsOf(await list(`workspace=${workspaces.sales}`, { workspace: workspaces.sales }))).toEqual([second]);
    const { status, json } = await control(service, `GET /drafts?tenant=${UNKNOWN}`, undefined, () =>
      mailbox.drafts({ tenant: UNKNOWN }),
    );
    expect([status, json.error]).toEqual([404, 'There is no tenant with this id.']);
  });

  everywhere('can be sent with a key that the list of keys shows', async (service) => {
    const { mailbox, send } = service;
    const sandbox = mailbox.createSandbox();
    const inbox = sandbox.ids.inboxes.helpdesk;
    const { text: key } = sandbox
      .exposures()
      .find(({ tier, inboxes: own }) => tier === 'inbox' && own[0] === inbox) ?? { text: '' };
    const json = { to: ['dana@customer.test'], subject: 'Hi' };
    const draft = await send('POST', `/v1/inboxes/${inbox}/drafts`, { key, json });
    const listed = () => sandbox.drafts({ inbox }).drafts.map(({ id }) => id);
    expect(listed()).toContain(draft.json.id);
    expect(mailbox.drafts({ tenant: IDS.acme.tenant }).drafts.map(({ id }) => id)).not.toContain(draft.json.id);
    expect((await send('POST', `/v1/inboxes/${inbox}/drafts/${draft.json.id}/send`, { key })).status).toBeLessThan(300);
    expect(listed()).not.toContain(draft.json.id);
  });
});
