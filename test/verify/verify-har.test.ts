import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMailbox } from 'agent-mailbox-mock';
import { verifyHar } from 'agent-mailbox-mock/verify';
import { expect, test } from 'vitest';
import { runHere } from '../support/command.ts';

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string;
}

const KEY = 'tk_acme_tenant_key';

/** Sends requests to a mailbox, and writes what a HAR recorder writes. `change` changes a reply. */
function createRecorder({ hidesKeys = false, change = (_path: string, text: string) => text } = {}) {
  const mailbox = createMailbox();
  const entries: unknown[] = [];
  const send = async ({ method, path, body, key = KEY }: Recorded) => {
    const url = `https://api.example.com/gateway${path}`;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { 'X-API-Key': key, ...(text !== undefined && { 'Content-Type': 'application/json' }) };
    const init = { method, headers, ...(text !== undefined && { body: text }) };
    const response = await mailbox.fetch(`https://mailbox.test${path}`, init);
    const reply = change(path, await response.text());
    const shown = hidesKeys ? [] : [{ name: 'X-API-Key', value: key }];
    entries.push({
      request: { method, url, headers: shown, ...(text !== undefined && { postData: { text } }) },
      response: {
        status: response.status,
        headers: [...response.headers].map(([name, value]) => ({ name, value })),
        content: { text: reply },
      },
    });
    return JSON.parse(reply || '{}');
  };
  return { send, har: () => JSON.stringify({ log: { version: '1.2', entries } }) };
}

type Recorder = ReturnType<typeof createRecorder>;

async function recordStory({ send }: Recorder): Promise<void> {
  const inbox = await send({ method: 'POST', path: '/v1/inboxes', body: { username: 'verify-har' } });
  const webhook = await send({
    method: 'POST',
    path: '/v1/webhooks',
    body: { url: 'https://verify.invalid/', events: ['message.received'] },
  });
  await send({ method: 'GET', path: '/v1/webhooks' });
  await send({ method: 'GET', path: `/v1/webhooks/${webhook.id}` });
  await send({ method: 'GET', path: `/v1/inboxes/${inbox.id}/messages`, key: inbox.apiKey });
  await send({ method: 'DELETE', path: `/v1/webhooks/${webhook.id}` });
  await send({ method: 'GET', path: `/v1/webhooks/${webhook.id}` });
}

test('a recording of an emulator agrees with a fresh emulator', async () => {
  const recorder = createRecorder();
  await recordStory(recorder);
  const { findings } = await verifyHar(recorder.har());
  expect(findings.map(({ id, verdict }) => `${id}: ${verdict}`)).toEqual([
    'createWebhook: reply: agrees',
    'listWebhooks: reply: agrees',
    'getWebhook: reply: agrees',
    'deleteWebhook: reply: agrees',
    'createInbox: reply: agrees',
    'listMessages: reply: agrees',
  ]);
});

test('another secret is named, without the secret', async () => {
  const recorder = createRecorder({
    change: (path, text) =>
      path.startsWith('/v1/webhooks/') ? text.replace(/whsec_[^"]+/, `whsec_${'A'.repeat(43)}=`) : text,
  });
  await recordStory(recorder);
  const { findings } = await verifyHar(recorder.har());
  const differing = findings.filter(({ verdict }) => verdict === 'differs');
  expect(differing.map(({ id }) => id)).toEqual(['getWebhook: reply']);
  expect(JSON.stringify(findings)).not.toContain('whsec_A');
});

test('a recording without bodies, or with keys that are all hidden alike, accuses nobody', async () => {
  const hidden = createRecorder({
    change: (_, text) =>
      text
        .replaceAll(/"(apiKey|secret|imapPassword|password)":"[^"]*"/g, '"$1":"ak_xxxxxxxxxxxxxxxx"')
        .replaceAll(/whsec_[^"]+/g, 'ak_xxxxxxxxxxxxxxxx'),
  });
  await recordStory(hidden);
  const other = await hidden.send({ method: 'POST', path: '/v1/inboxes', body: { username: 'verify-other' } });
  await hidden.send({ method: 'GET', path: `/v1/inboxes/${other.id}` });
  const bodiless = JSON.parse(hidden.har());
  for (const { response } of bodiless.log.entries) delete response.content.text;
  for (const har of [hidden.har(), JSON.stringify(bodiless)]) {
    const { findings } = await verifyHar(har);
    expect(findings.filter(({ verdict }) => verdict === 'differs')).toEqual([]);
  }
});

test('with a recording, the command says which flags about a server it ignores', async () => {
  const recorder = createRecorder();
  await recordStory(recorder);
  const file = join(await mkdtemp(join(tmpdir(), 'har-')), 'recording.har');
  await writeFile(file, recorder.har());
  const { code, err } = await runHere(['verify', '--har', file, '--base-url', 'http://127.0.0.1:9', '--api-key', KEY]);
  expect(code).toBe(0);
  expect(err).toContain('with --har a recording is compared, and no server: --base-url, --api-key ignored.');
});

test('a request about what was not made in the recording is not compared', async () => {
  const recorder = createRecorder();
  await recorder.send({ method: 'GET', path: '/v1/inboxes/11111111-2222-4333-8444-555555555555' });
  const { findings } = await verifyHar(recorder.har());
  expect(findings).toMatchObject(
    [{ id: 'getInbox: reply', verdict: 'not compared', found: /not made|recording/ }].map(({ id, verdict }) => ({
      id,
      verdict,
    })),
  );
});

test('the command compares a recording, and says whose key it was if the recording hides it', async () => {
  const recorder = createRecorder({ hidesKeys: true });
  await recorder.send({ method: 'GET', path: '/v1/me' });
  const file = join(await mkdtemp(join(tmpdir(), 'har-')), 'recording.har');
  await writeFile(file, recorder.har());
  const hidden = await runHere(['verify', '--har', file]);
  expect(hidden.out.join('\n')).toContain('0 agree, 0 differ, 1 not compared');
  const { code, out } = await runHere(['verify', '--har', file, '--har-key', 'tenant']);
  expect(out.join('\n')).toContain('1 agree, 0 differ, 0 not compared');
  expect(code).toBe(0);
  expect(await runHere(['verify', '--har', file, '--har-key', 'inbox'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('The tier in --har-key must be one of operator, tenant'),
  });
});

test.for([
  ['{', 'is not JSON'],
  ['{}', 'must be a HAR 1.2 file'],
  ['{"log":{"entries":[]}}', 'has no request to an operation'],
])('what is no recording is told: %s', async ([text = '', sentence]) => {
  await expect(verifyHar(text)).rejects.toThrow(sentence);
});
