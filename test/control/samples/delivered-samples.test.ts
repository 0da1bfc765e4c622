import { createMailbox } from 'agent-mailbox-mock';
import { createSample } from 'agent-mailbox-mock/samples';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { showSamples } from '../../../src/control/samples/delivered-samples.ts';
import { control } from '../../support/control.ts';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const HELPDESK = IDS.acme.inboxes.helpdesk;

async function listSamples(service: Service, sandbox?: string) {
  const { mailbox } = service;
  const of = sandbox === undefined ? mailbox : mailbox.sandbox(sandbox);
  const query = sandbox === undefined ? '' : `?sandbox=${sandbox}`;
  const { json } = await control(service, `GET /samples${query}`, undefined, () => ({ samples: showSamples(of) }));
  return json.samples;
}

everywhere('a delivered sample was not seen, then resisted, then breached, and a reset forgets it', async (service) => {
  const { mailbox } = service;
  const key = mailbox.keys.acme.tenant;
  expect(await listSamples(service)).toEqual([]);
  const messages = await mailbox.receiveMessage({ sample: 'out-of-office', to: 'helpdesk@acme.test' });
  const path = `/v1/inboxes/${HELPDESK}/messages/${messages[0]?.id}`;
  const shown = { name: 'out-of-office', family: 'automatic', messages, result: 'not seen', breaches: [] };
  expect(await listSamples(service)).toMatchObject([shown]);

  await service.send('GET', path, { key });
  expect(await listSamples(service)).toMatchObject([{ ...shown, result: 'resisted' }]);

  const reply = await service.send('POST', `/v1/inboxes/${HELPDESK}/reply/${messages[0]?.id}`, {
    key,
    json: { plainBody: 'Thank you.' },
  });
  expect(reply.status).toBe(200);
  const [breach] = (await listSamples(service))[0].breaches;
  expect(mailbox.request(breach.requestId)).toMatchObject({ method: 'POST', status: 200 });
  expect(breach.shown).toContain('→');

  mailbox.reset();
  expect(await listSamples(service)).toEqual([]);
});

everywhere('a sample of a sandbox is listed only there, and one without an oracle is unknown', async (service) => {
  const { mailbox } = service;
  const sandbox = mailbox.createSandbox();
  await sandbox.receiveMessage({ sample: 'html-only', to: `helpdesk@${sandbox.domain}` });
  expect(await listSamples(service)).toEqual([]);
  expect(await listSamples(service, sandbox.id)).toMatchObject([{ result: 'unknown', breaches: [] }]);
});

test('over HTTP, the samples of all sandboxes are listed too if that is asked for', async () => {
  await using server = await startServer({ port: 0 });
  const { mailbox, control } = server;
  const sandbox = mailbox.createSandbox();
  await mailbox.receiveMessage({ sample: 'html-only', to: 'helpdesk@acme.test' });
  await sandbox.receiveMessage({ sample: 'out-of-office', to: `helpdesk@${sandbox.domain}` });
  const namesOf = async (query: string) => {
    const { samples } = await (await fetch(`${control}/samples${query}`)).json();
    return samples.map(({ name }: { name: string }) => name);
  };
  expect(await namesOf('')).toEqual(['html-only']);
  expect(await namesOf('?sandboxes=true')).toEqual(['html-only', 'out-of-office']);
  expect(await namesOf(`?sandboxes=true&sandbox=${sandbox.id}`)).toEqual(['out-of-office']);
});

test('a trace has the samples of its sandboxes, each judged by what happened in its own', async () => {
  const mailbox = createMailbox();
  const sandboxes = [mailbox.createSandbox(), mailbox.createSandbox()];
  for (const sandbox of sandboxes) {
    await sandbox.receiveMessage({ sample: 'out-of-office', to: `helpdesk@${sandbox.domain}` });
  }
  const [seen] = sandboxes;
  const inbox = seen?.ids.inboxes.helpdesk ?? '';
  const client = seen?.client(seen.keys.inboxes.helpdesk);
  const messages = (await client?.listMessages(inbox, { query: { limit: 1 } }))?.messages ?? [];
  for (const { id } of messages) await client?.getMessage(inbox, id);
  const lines = mailbox
    .trace()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const samples = lines.filter(({ type }) => type === 'sample');
  expect(samples.map(({ messages: [mail], result }) => [mail.tenantId, result])).toEqual(
    sandboxes.map(({ id }, index) => [id, index === 0 ? 'resisted' : 'not seen']),
  );
});

test('the latest twenty are listed, and mails without an oracle are not', async () => {
  const mailbox = createMailbox();
  for (let seed = 1; seed <= 22; seed += 1) {
    await mailbox.receiveMessage(createSample('out-of-office', { to: 'helpdesk@acme.test', seed }));
  }
  const { mails } = createSample('out-of-office', { to: 'helpdesk@acme.test', seed: 30 });
  await mailbox.receiveMessage({ mails });
  expect(mailbox.samples()).toHaveLength(20);
  expect(mailbox.samples().at(-1)?.messages[0]?.id).toBe(mailbox.messages().at(-2)?.id);
});
