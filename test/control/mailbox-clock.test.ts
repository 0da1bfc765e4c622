import type { Mailbox } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import { control } from '../support/control.ts';
import { everywhere, interceptRequests } from '../support/everywhere.ts';
import { serve } from '../support/serve.ts';

interceptRequests();

everywhere(
  'an advance moves sandboxes and tenants together, and what is due in each happens in order',
  async (service) => {
    const { mailbox } = service;
    const [one, other] = [mailbox.createSandbox(), mailbox.createSandbox()];
    mailbox.clock.freeze('2030-01-01T00:00:00Z');
    const times = () => [one, other, mailbox].map(({ clock }) => clock.now().toISOString());
    const called: [name: string, times: string[]][] = [];
    await using receiver = await serve((request, response) => {
      called.push([String(request.url), times()]);
      response.end();
    });
    /** Fires an event that is sent after so many hours; its name is the path of the webhook. */
    const fire = async (of: Pick<Mailbox, 'addFault' | 'trigger'>, key: string, hours: number, name: string) => {
      const url = `${receiver.url}/${name}`;
      const json = { url, events: ['message.received'] };
      const { json: webhook } = await service.send('POST', '/v1/webhooks', { key, json });
      of.addFault({ on: 'delivery', kind: 'delay', delay: `${hours}h`, webhookId: webhook.id });
      of.trigger('message.received', { webhookId: webhook.id });
    };
    await fire(one, one.keys.tenant, 3, 'third');
    await fire(other, other.keys.tenant, 2, 'second');
    await fire(mailbox, mailbox.keys.acme.tenant, 1, 'first');
    await fire(other, other.keys.tenant, 4, 'fourth');
    const { status } = await control(service, 'POST /clock', { advance: '1d' }, () => mailbox.clock.advance('1d'));
    expect(status).toBe(200);
    const at = (hour: number) => Array.from({ length: 3 }, () => `2030-01-01T0${hour}:00:00.000Z`);
    expect(called).toEqual([
      ['/in/first', at(1)],
      ['/in/second', at(2)],
      ['/in/third', at(3)],
      ['/in/fourth', at(4)],
    ]);
    expect(new Set(times())).toEqual(new Set(['2030-01-02T00:00:00.000Z']));
  },
);
