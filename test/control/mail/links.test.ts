import { describe, expect } from 'vitest';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { helpdesk, outreach } = IDS.acme.inboxes;

describe('the links between requests, mail, deliveries and faults', () => {
  everywhere('lead from a request to its mail and deliveries, and from a mail to both', async (service) => {
    const { mailbox, send } = service;
    const key = mailbox.keys.acme.tenant;
    const json = { to: 'outreach@acme.test', subject: 'Hi', plainBody: 'Hello', verified: true };
    const events = ['message.sent', 'message.received'];
    await mailbox.addWebhook({ url: 'http://127.0.0.1:9/in', events, tenant: IDS.acme.tenant });
    mailbox.addFault({ on: 'delivery', kind: 'hold', times: 10 });
    await send('POST', `/v1/inboxes/${helpdesk}/send`, { key, json });
    const [sent, arrived] = mailbox
      .searchMail({ search: 'subject:hi' })
      .messages.map(({ id }) => id)
      .reverse();
    const [entry] = mailbox.requests({ operation: 'sendMessage' });
    const deliveries = mailbox.deliveries();
    expect(deliveries.length).toBeGreaterThan(1);
    expect(entry?.messages).toEqual(expect.arrayContaining([sent, arrived]));
    expect(entry?.messages).toHaveLength(2);
    expect(entry?.deliveries).toEqual(deliveries.map(({ id }) => id));
    for (const id of [sent, arrived]) {
      const mail = (await control(service, `GET /messages/${id}`, undefined, () => mailbox.mail(String(id)))).json;
      expect(mail.request).toBe(entry?.id);
      expect(mail.deliveries).toEqual(
        deliveries.filter(({ payload }) => payload.messageId === id).map((each) => each.id),
      );
    }
    await send('GET', `/v1/inboxes/${outreach}/messages`, { key });
    expect(mailbox.requests().at(-1)).toMatchObject({ messages: [], deliveries: [] });
    mailbox.clearRequests();
    expect(mailbox.mail(String(sent)).request).toBeNull();
  });

  everywhere(
    'name the request of no mail from outside, nor of an answer that comes later',
    async ({ mailbox, send }) => {
      const [outside] = await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test' });
      expect(mailbox.mail(String(outside?.id))).toMatchObject({ request: null });
      mailbox.addCorrespondent({ address: 'eva@shop.test', replies: ['Thanks'], after: '0s' });
      const json = { to: 'eva@shop.test', subject: 'Hello Eva', plainBody: 'Hi', verified: true };
      await send('POST', `/v1/inboxes/${helpdesk}/send`, { key: mailbox.keys.acme.tenant, json });
      await mailbox.settled();
      const { messages } = mailbox.searchMail({ search: 'subject:"hello eva"' });
      const causes = messages.map(({ id, direction }) => [direction, mailbox.mail(id).request !== null]);
      expect(causes.sort()).toEqual([
        ['inbound', false],
        ['outbound', true],
      ]);
    },
  );

  everywhere('name the fault of an attempt', async ({ mailbox }) => {
    const { id } = mailbox.addFault({ on: 'delivery', kind: 'wrong-secret', times: 1 });
    const webhookId = IDS.acme.webhooks.support;
    const [delivery] = mailbox.trigger('message.received', { webhookId });
    await mailbox.settled();
    mailbox.redeliver(String(delivery?.id));
    await mailbox.settled();
    const faults = mailbox.delivery(String(delivery?.id)).attempts.map(({ fault, faultId }) => [fault, faultId]);
    expect(faults).toEqual([
      ['wrong-secret', id],
      [null, null],
    ]);
  });
});
