import { startServer } from 'agent-mailbox-mock/server';
import { expect, test } from 'vitest';
import { ENCODINGS, readingsOf } from '../support/encodings.ts';
import { talkTo } from '../support/imap-talk.ts';

const CONTROL_TOKEN = 'Control-t0ken.of-a-test';

test('the log, control calls and MCP show no secret of what came over HTTP, IMAP and a mail', async () => {
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  await using server = await startServer({ port: 0, imapPort: 0, controlToken: CONTROL_TOKEN, verbose: true, log });
  const { mailbox } = server;
  const [inbox] = mailbox.snapshot().tenants.flatMap(({ inboxes }) => inboxes);
  const password = String(inbox?.imapPassword);
  const secrets = [mailbox.keys.operator, mailbox.keys.acme.tenant, password, CONTROL_TOKEN];
  const headers = {
    'X-API-Key': mailbox.keys.acme.tenant,
    'X-Mock-Token': CONTROL_TOKEN,
    'Content-Type': 'application/json',
  };
  const address = 'helpdesk@acme.test';

  // The secrets, in each encoding, in a path, in a subject and in a command of IMAP.
  using talk = await talkTo(Number(server.imap?.port));
  await talk.ok(`LOGIN ${address} "${password}"`);
  for (const [index, secret] of secrets.entries()) {
    for (const [place, encode] of Object.values(ENCODINGS).entries()) {
      // Each encoding is used for one of the secrets, because reading the views takes longer for more of them.
      if (place % secrets.length !== index) continue;
      const text = encode(secret).replace(/[^\x20-\x7e]/g, '');
      await fetch(`${server.url}/v1/inboxes/${encodeURIComponent(text)}?q=${encodeURIComponent(text)}`, { headers });
      await mailbox.receiveMessage({ from: 'dana@customer.test', to: address, subject: text.trim(), plainBody: text });
      await talk.command(`SELECT "${text.replace(/["\\]/g, '')}"`);
    }
  }
  await talk.command(`LOGIN ${address} "${password}"`);

  const call = async (path: string, body?: object) => {
    const response = await fetch(server.control + path, {
      headers,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return response.text();
  };
  const callTool = (name: string, input: object) =>
    call('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: input } });
  const [mail] = mailbox.messages();
  const views = {
    log: lines.join('\n'),
    requests: await call('/requests'),
    har: await call('/requests?format=har'),
    commands: await call('/journal?kinds=mail-command,read'),
    feed: await call('/feed?follow=false&lastEventId=0'),
    trace: await call('/trace'),
    'explain_requests of MCP': await callTool('explain_requests', {}),
    'read_mail of MCP': await callTool('read_mail', { id: mail?.id }),
    'explain_mail of MCP': await callTool('explain_mail', { id: mail?.id }),
  };
  for (const [view, text] of Object.entries(views)) {
    expect(text.length).toBeGreaterThan(100);
    const readings = readingsOf(text, 2);
    const found = secrets.filter((secret) => readings.some((each) => each.includes(secret)));
    expect({ view, found }).toEqual({ view, found: [] });
  }
});
