import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { deliveryPayload } from '../../../src/contract/openapi/event-schemas.ts';

test.for(['reference', 'reference-and-content'] as const)(
  'the schema of a delivery has the fields that a delivery has, with the payload %s',
  async (payload) => {
    const { behaviours, ...mailbox } = createMailbox({ behaviours: { 'deliveries.payload': payload } });
    await mailbox.addWebhook({ url: 'http://127.0.0.1:9/hook', workspaceOf: 'helpdesk@acme.test' });
    await mailbox.receiveMessage({ from: 'dana@customer.test', to: 'helpdesk@acme.test', subject: 'Hello' });
    const schema = deliveryPayload((id) => behaviours[id]).strict();
    const sent = mailbox.deliveries()[0]?.payload;
    expect(schema.safeParse(sent)).toEqual({ success: true, data: sent });
  },
);
