import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PositionEncoding, Workspace } from '@astral-sh/ruff-wasm-nodejs';
import { startServer } from 'agent-mailbox-mock/server';
import { expect, type TestContext, test, vi } from 'vitest';
import { createControlOpenApi } from '../../../src/control/table/control-openapi.ts';
import { writePythonClient } from '../../../src/control/table/python-client.ts';
import { listControlRows } from '../../../src/control/table/table.ts';
import { makeFolder } from '../../support/folder.ts';
import { run, runCommand } from '../../support/processes.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

/** Skips a test, except in CI, if Python cannot import a module. */
function needPython({ skip }: TestContext, module: string, howToGet: string): void {
  if (spawnSync('python3', ['-c', `import ${module}`]).status === 0) return;
  if (process.env.CI) throw new Error(howToGet);
  skip(howToGet);
}

const HOW_TO_GET_PYTHON = 'Needs Python 3.9 or newer as python3.';
const HOW_TO_GET_PYTEST = 'Needs pytest: apt-get install python3-pytest.';

/** Loads the client as a program without packages would: from its address, past the proxies of the machine. */
const LOAD = `import json, os, sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
exec(compile(opener.open(os.environ["MAILBOX_PYTHON_CLIENT"]).read(), "client.py", "exec"))
`;

const SEND = `
def send(box):
    inbox = box.ids["inboxes"]["helpdesk"]
    body = json.dumps({"to": "dana@customer.test", "subject": "Re: Hello", "plainBody": "Hi", "verified": True}).encode()
    headers = {"X-API-Key": box.keys["inboxes"]["helpdesk"], "Content-Type": "application/json"}
    url = f"{box.base_url}/v1/inboxes/{inbox}/send"
    opener.open(urllib.request.Request(url, data=body, headers=headers)).read()
`;

test('a program in Python delivers, waits, moves time, sets faults, and sees what was sent', async (context) => {
  needPython(context, 'json', HOW_TO_GET_PYTHON);
  const program = `${LOAD}${SEND}
mailbox = Mailbox()
mailbox.change_behaviours(fields={"webhooks.list.secret": "omitted"})
restored = mailbox.change_behaviours(fields={"webhooks.list.secret": None})["behaviours"]
assert [each["value"] for each in restored if each["id"] == "webhooks.list.secret"] == ["included"]
with mailbox.sandbox(name="python") as box:
    events = box.read_feed()
    [mail] = box.deliver(to=f"helpdesk@{box.domain}", from_="Dana <dana@customer.test>", subject="Hello", plain_body="?")
    assert box.wait(f"helpdesk@{box.domain}", subject="Hello")["id"] == mail["id"]
    assert any(event["kind"] == "mail-received" for event in events)
    assert b"Subject: Hello" in box.get_mail_source(mail["id"])
    assert box.change_clock(freeze="2026-01-05T09:00:00.000Z")["frozen"] and box.advance("2h")["now"] == "2026-01-05T11:00:00.000Z"
    hook = box.add_webhook(url="http://127.0.0.1:9/in", events=["message.received"])
    assert hook["secret"].startswith("whsec_") and box.deliveries(webhook_id=hook["id"]) == []
    fault = box.add_fault(on="request", operation="sendMessage", status=503)
    try:
        send(box)
    except urllib.error.HTTPError as error:
        assert error.code == 503, error
    assert box.list_faults()["faults"] == []
    try:
        box.assert_sent(to="dana@customer.test")
    except AssertionError as error:
        print(error)
    send(box)
    [sent] = box.assert_sent(to="dana@customer.test", subject="Hello")
    print(sent["subject"])
    try:
        box.assert_sent(to="kim@visitor.test")
    except AssertionError as error:
        print(error)
assert mailbox.list_sandboxes()["sandboxes"] == []
try:
    mailbox.get_mail("x")
except MailboxError as error:
    print(error.status, error.code)
`;
  const running = runCommand(context, ['exec', '--', 'python3', '-c', program]);
  expect(await running.ended).toEqual({ code: 0, signal: null });
  const story = [
    'What happened:',
    expect.stringMatching(/^ {2}\S+ "Hello" from Dana <dana@customer\.test> arrived at helpdesk@/),
    '  The webhook http://127.0.0.1:9/in was not called: it was added or changed later.',
  ];
  const refused = expect.stringMatching(/^ {4}req_1, POST .*\/send → 503 \(The fault \S+ replied with 503\.\)$/);
  expect(running.stdout.trim().split('\n')).toEqual([
    "0 sent mails match {'to': 'dana@customer.test'}, but 1 should match. Nothing was sent at all.",
    ...[...story, '  1 request came after it, and none read it:', refused, '  Nothing was sent because of it.'],
    'Re: Hello',
    "0 sent mails match {'to': 'kim@visitor.test'}, but 1 should match. All sent mails:",
    "  'Re: Hello' to dana@customer.test",
    ...[...story, '  2 requests came after it, and none read it:', refused],
    expect.stringMatching(/^ {4}req_2, POST .*\/send → 200$/),
    expect.stringMatching(/^ {2}\S+ "Re: Hello" was sent to dana@customer\.test by req_2\.$/),
    '404 NOT_FOUND',
  ]);
});

test('pytest has a sandbox for each test, and an agent that does nothing fails', async (context) => {
  needPython(context, 'pytest', HOW_TO_GET_PYTEST);
  const folder = await makeFolder(context);
  await writeFile(
    join(folder, 'test_agent.py'),
    `${LOAD}${SEND}
def test_agent_answers(mailbox):
    mailbox.deliver(to=f"helpdesk@{mailbox.domain}", from_="dana@customer.test", subject="Hello")
    send(mailbox)
    mailbox.assert_sent(to="dana@customer.test")

def test_agent_does_nothing(mailbox):
    mailbox.deliver(to=f"helpdesk@{mailbox.domain}", from_="dana@customer.test", subject="Hello")
    mailbox.assert_sent(to="dana@customer.test")
`,
  );
  const words = ['exec', '--', 'python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', folder];
  const running = runCommand(context, words, { PYTHONDONTWRITEBYTECODE: '1' });
  expect((await running.ended).code).toBe(1);
  expect(running.stdout).toContain('Nothing was sent at all.');
  expect(running.stdout).toMatch(/1 failed, 1 passed/);
});

test('the client has a method for each control call, with its summary', () => {
  const text = writePythonClient(createControlOpenApi(listControlRows())).replace(/\s+/g, ' ');
  for (const { summary } of listControlRows()) expect(text).toContain(`"""${summary}"""`);
});

test('the client is written as Python is, by the rules and the format of ruff', () => {
  const select = ['E', 'F', 'W', 'B', 'I', 'N', 'RET', 'UP', 'ANN'];
  const ignore = ['ANN401', 'UP006', 'UP035', 'UP045'];
  const options = { 'line-length': 120, 'target-version': 'py39', lint: { select, ignore } };
  const ruff = new Workspace(options, PositionEncoding.Utf16);
  const text = writePythonClient(createControlOpenApi(listControlRows()));
  expect(ruff.check(text)).toEqual([]);
  expect(ruff.format(text)).toBe(text);
  expect(ruff.check('import os\n')).toHaveLength(1);
});

test('a worker in Python has one of several emulators, and a sandbox that one address made has the URL of its process', async (context) => {
  needPython(context, 'json', HOW_TO_GET_PYTHON);
  const { expect } = context;
  await using one = await startServer({ port: 0 });
  await using two = await startServer({ port: 0, publicUrl: 'http://127.0.0.1:1/s2' });
  const program = `${LOAD}
with Mailbox().sandbox() as box:
    print(box.base_url, box.get_control_health()["url"])
`;
  const runIt = async (env: NodeJS.ProcessEnv) => {
    const MAILBOX_PYTHON_CLIENT = `${one.control}/client.py`;
    const running = run(context, ['python3', '-c', program], { env: { MAILBOX_PYTHON_CLIENT, ...env } });
    expect(await running.ended).toEqual({ code: 0, signal: null });
    return running.stdout.trim();
  };
  const MAILBOX_URLS = `${one.url}/,${two.url}`;
  expect(await runIt({ MAILBOX_URLS, PYTEST_XDIST_WORKER: 'gw3' })).toBe(`${two.url} http://127.0.0.1:1/s2`);
  expect(await runIt({ MAILBOX_URLS, PYTEST_XDIST_WORKER: 'gw2' })).toBe(`${one.url} ${one.url}`);
  const called = one.url.replace('127.0.0.1', 'localhost');
  expect(await runIt({ MAILBOX_URLS: called })).toBe(`${called} ${called}`);
});
