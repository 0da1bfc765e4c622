import { createMailbox } from 'agent-mailbox-mock';
import { createReceiver } from 'agent-mailbox-mock/receiver';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { test, vi } from 'vitest';
import { senderTo } from '../support/send.ts';
import { createWebhook } from '../support/webhooks.ts';

test('msw lets the deliveries of a mailbox pass, if no handler of the user answers them', async ({ expect }) => {
  const mailbox = createMailbox();
  const inApp = createMailbox({ baseUrl: 'https://second.test' });
  await using receiver = createReceiver();
  const answered: string[] = [];
  const answer = http.post('http://localhost:3000/in', ({ request }) => {
    answered.push(request.headers.get('webhook-id') ?? '');
    return HttpResponse.text('answered by the user', { status: 202 });
  });
  const msw = setupServer(...mailbox.handlers, ...inApp.handlers, answer);
  const unhandled: string[] = [];
  const own = new URL(await receiver.listen()).href;
  const urls = [own, 'http://localhost:3000/in', 'https://hooks-nobody.example/in'];
  // A mailbox of another test file may still retry a delivery in this process, to a URL of its own.
  const collect = ({ url }: Request) => void (urls.includes(url) && unhandled.push(url));
  for (const onUnhandledRequest of [collect, 'error'] as const) {
    msw.listen({ onUnhandledRequest });
    for (const each of [mailbox, inApp]) {
      each.reset();
      for (const url of urls) {
        await createWebhook({ mailbox: each, send: senderTo(each) }, url, { events: ['message.received'] });
      }
      await each.receiveMessage({ to: 'helpdesk@acme.test', from: 'kim@visitor.test' });
      await each.settled();
      const outcomes = each.deliveries().map(({ state, attempts }) => [attempts[0]?.url, state]);
      expect(outcomes).toContainEqual([own, 'delivered']);
      expect(outcomes).toContainEqual(['http://localhost:3000/in', 'delivered']);
      expect(outcomes).toContainEqual(['https://hooks-nobody.example/in', 'refused']);
    }
    msw.close();
  }
  expect([unhandled, answered.length, receiver.requests.length]).toEqual([[], 4, 4]);

  msw.listen({ onUnhandledRequest: collect });
  await fetch(own, { method: 'POST', headers: { 'webhook-id': answered[0] ?? '' } });
  msw.close();
  expect(unhandled).toEqual([own]);
});

test('a handler that throws is told with its message and its stack', async ({ expect }) => {
  const mailbox = createMailbox();
  function findCustomer(): never {
    throw new RangeError('no customer dana@customer.test');
  }
  const msw = setupServer(http.post('https://agent-throws.test/in', () => findCustomer()));
  msw.listen({ onUnhandledRequest: 'bypass' });
  // msw also writes the error to the console.
  using _ = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  await mailbox.addWebhook({ url: 'https://agent-throws.test/in', workspaceOf: 'helpdesk@acme.test' });
  const [mail] = await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'kim@visitor.test' });
  await mailbox.settled();
  msw.close();
  const { lines } = mailbox.explain(mail as { id: string });
  const start = lines.findIndex((line) => line.includes(' threw '));
  expect(lines[start]).toMatch(/The webhook https:\/\/agent-throws\.test\/in threw RangeError: no customer dana@/);
  expect(lines[start + 1]).toMatch(/^ {2}at findCustomer \(.*unhandled-deliveries\.test\.ts:\d+:\d+\)$/);
});
