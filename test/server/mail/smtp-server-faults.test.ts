import type { FaultOptions } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { sendControl } from '../../support/control.ts';

async function startWithSmtp(...faults: FaultOptions[]) {
  const server = await startServer({ port: 0, smtpPort: 0, faults });
  const transport = createTransport({ host: '127.0.0.1', port: server.smtp?.port ?? 0, ignoreTLS: true });
  return {
    server,
    /** Sends a mail; returns the refusal of its recipients, or `accepted`. */
    send: (to: string) =>
      transport.sendMail({ from: 'dana@customer.test', to, text: 'Hi' }).then(
        ({ rejectedErrors = [] }) => rejectedErrors.map(({ response }) => String(response))[0] ?? 'accepted',
        ({ response }) => String(response),
      ),
    async [Symbol.asyncDispose]() {
      transport.close();
      await server.close();
    },
  };
}

test('an SMTP fault refuses a recipient for now, and the next try succeeds', async () => {
  await using running = await startWithSmtp({ on: 'smtp' });
  expect(await running.send('helpdesk@acme.test')).toBe('451 4.3.0 A fault of the emulator refuses this recipient.');
  expect(await running.send('helpdesk@acme.test')).toBe('accepted');
});

test('an SMTP fault refuses only the address that it names, after and as often as planned', async () => {
  await using running = await startWithSmtp();
  const { server, send } = running;
  const json = { on: 'smtp', recipient: 'Helpdesk@acme.test', status: 552, message: '5.2.2 Mailbox full', after: 1 };
  const { json: fault } = await sendControl(`${server.control}/faults`, 'POST', { json });
  expect(fault).toMatchObject({ recipient: 'helpdesk@acme.test', status: 552, after: 1, times: 1 });
  expect(await send('helpdesk@acme.test')).toBe('accepted');
  expect(await send('info@globex.test')).toBe('accepted');
  expect(await send('HELPDESK@acme.test')).toBe('552 5.2.2 Mailbox full');
  expect(await send('helpdesk@acme.test')).toBe('accepted');
  expect(server.mailbox.faults()).toEqual([]);
});

test('the other recipients of a mail get it, if an SMTP fault refuses one', async () => {
  await using running = await startWithSmtp({ on: 'smtp', recipient: 'info@globex.test', status: 550 });
  const { server, send } = running;
  const countIn = (tenant: number) => server.mailbox.snapshot().tenants[tenant]?.messages.length ?? 0;
  const before = [countIn(0), countIn(1)];
  expect(await send('helpdesk@acme.test, info@globex.test')).toMatch(/^550 5\.3\.0 /);
  expect([countIn(0), countIn(1)]).toEqual([(before[0] ?? 0) + 1, before[1]]);
});

test('a recipient without an inbox is refused as ever and uses up no fault', async () => {
  await using running = await startWithSmtp({ on: 'smtp', status: 450 });
  expect(await running.send('nobody@acme.test')).toMatch(/^550 5\.1\.1 /);
  expect(running.server.mailbox.faults()).toHaveLength(1);
});
