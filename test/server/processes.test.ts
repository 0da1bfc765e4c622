import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { EVENT_KINDS } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import fc from 'fast-check';
import { createTransport } from 'nodemailer';
import { expect, test, vi } from 'vitest';
import { DIST } from '../support/dist.ts';
import { makeFolder } from '../support/folder.ts';
import { IDS } from '../support/ids.ts';
import { ADDRESS } from '../support/inbox-clients.ts';
import { describePipeline, findFault, PIPELINE, type Pipeline, textOf } from '../support/pipelines.ts';
import { runCommand, startCommand } from '../support/processes.ts';
import { exchange, openConnection, request, within } from '../support/raw-http.ts';
import { ROOT } from '../support/root.ts';
import { send } from '../support/send.ts';

// Each process takes its time to start while other tests keep this machine busy.
vi.setConfig({ testTimeout: 60_000 });

const SERVER = pathToFileURL(join(DIST, 'server.js')).href;

test('a server prints the cause and the stack of a bug to stderr, once', async () => {
  const script = `
    const { startServer } = await import('${SERVER}');
    let isBroken = false;
    const randomBytes = (length) => {
      if (isBroken) throw new Error('No dice.', { cause: new Error('Somebody took them.') });
      return crypto.getRandomValues(new Uint8Array(length));
    };
    const server = await startServer({ port: 0, environment: { randomBytes } });
    isBroken = true;
    const headers = { 'X-API-Key': server.mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ url: 'https://agent.example/in', events: ['message.received'] });
    const reply = await fetch(server.url + '/v1/webhooks', { method: 'POST', headers, body });
    console.log(await reply.text());
    await server.close();
  `;
  const flags = ['--input-type', 'module', '--eval', script];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect(JSON.parse(out)).toMatchObject({ error: expect.stringContaining('a bug in it') });
  expect(err.match(/Error: No dice\./g)).toHaveLength(1);
  expect(err).toMatch(/^Error: No dice\.\n\s+at [\s\S]+\[cause\]: Error: Somebody took them\.\n\s+at /);
});

/** Runs a module in a process that exits only if nothing is left open. */
async function runToEnd(script: string): Promise<string> {
  const flags = ['--input-type', 'module', '--eval', script];
  const child = spawn(process.execPath, flags, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await within(Promise.all([text(child.stdout), once(child, 'exit')])).finally(() => child.kill());
  return output;
}

test('a server that could not start leaves nothing open', async () => {
  await using holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as AddressInfo;
  const output = await runToEnd(`
    const { startServer } = await import('${SERVER}');
    for (const options of [{ port: ${port} }, { port: -1 }, { port: 0, host: '192.0.2.1' }]) {
      await startServer(options).catch((error) => console.log(error.code ?? error.name));
    }
  `);
  expect(output).toBe('EADDRINUSE\nRangeError\nEADDRNOTAVAIL\n');
});

test('a change is in the state file after few steps, each of which waits for a busy event loop', async (context) => {
  const state = join(await makeFolder(context), 'state.json');
  const output = await runToEnd(`
    import { createHook } from 'node:async_hooks';
    import { readFileSync } from 'node:fs';
    const { startServer } = await import('${SERVER}');
    const server = await startServer({ port: 0, state: ${JSON.stringify(state)} });
    let steps = 0;
    const startedMs = performance.now();
    const hook = createHook({ init: (_, type) => void (steps += type.startsWith('FSREQ') ? 1 : 0) }).enable();
    server.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', subject: 'A change' });
    while (!readFileSync(${JSON.stringify(state)}, 'utf8').includes('A change')) await new Promise(setImmediate);
    hook.disable();
    // Each second, the time of the lock is updated too.
    console.log(steps - Math.ceil((performance.now() - startedMs) / 1_000));
    await server.close();
  `);
  expect(Number(output)).toBeLessThanOrEqual(3);
});

test('a closed server leaves nothing open', async () => {
  const output = await runToEnd(`
    const { startServer } = await import('${SERVER}');
    const server = await startServer({ port: 0 });
    const { status } = await fetch(server.url + '/health');
    await server.close();
    console.log(status);
  `);
  expect(output).toBe('200\n');
});

test('requests that are sent at once do not keep the command from ending', async (context) => {
  const { ready, running } = await startCommand(context, ['--quiet']);
  await using connection = await openConnection(ready);
  await connection.send(request('GET /__mock/openapi.json').repeat(200));
  running.child.kill('SIGTERM');
  await within(running.ended);
  await connection.over();
});

test('requests that are sent at once may be split anywhere: the process survives, and replies are complete and in order', async (context) => {
  const { ready, running } = await startCommand(context, ['--quiet']);
  const seed = Number(process.env.PIPELINES_SEED ?? Date.now() % 2 ** 31);
  const pipelines = fc.sample(PIPELINE, { numRuns: PIPELINES, seed });
  await inParallel(pipelines, 24, async (pipeline) => {
    const fault = await runPipeline(ready.port, pipeline);
    const told = () => `seed ${seed}: ${describePipeline(pipeline)}`;
    if (fault !== undefined) throw new Error(`${fault} (${told()})`);
  });
  expect((await exchange(ready, request('GET /health'))).status, `seed ${seed}`).toBe(200);
  expect([running.child.exitCode, running.stderr], `seed ${seed}`).toEqual([null, '']);
}, 600_000);

/** Number of generated pipelines. */
const PIPELINES = 10_000;

async function runPipeline(port: number, pipeline: Pipeline): Promise<string | undefined> {
  const text = textOf(pipeline);
  const middle = Math.floor((text.length * pipeline.split) / 100);
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(text.slice(0, middle));
  socket.end(text.slice(middle), () => {
    if (pipeline.leaves) socket.resetAndDestroy();
  });
  await within(closed);
  return pipeline.leaves ? undefined : findFault(pipeline, Buffer.concat(chunks));
}

async function inParallel<Item>(items: readonly Item[], workers: number, work: (item: Item) => Promise<void>) {
  const queue = items.values();
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (const item of queue) await work(item);
    }),
  );
}

test('SMTP is shown in the JSON line and in the banner only if it is enabled', async (context) => {
  const { ready } = await startCommand(context, ['--smtp-port', '0']);
  expect(ready.smtp).toEqual({ port: expect.any(Number) });
  const transport = createTransport({ host: '127.0.0.1', port: ready.smtp?.port ?? 0, ignoreTLS: true });
  await transport.sendMail({ from: 'zoe@customer.test', to: 'helpdesk@acme.test', subject: 'Größe', text: 'Grüße' });
  transport.close();
  const messages = await send(`${ready.url}/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages`, 'GET', {
    key: ready.keys.tenant,
  });
  expect(messages.json.messages[0].subject).toBe('Größe');
  expect(await runCommand(context, ['--port', '0', '--smtp-port', '0']).untilStdout(/Ready/)).toMatch(/SMTP +port \d+/);
  expect((await startCommand(context)).ready).not.toHaveProperty('smtp');
});

test('SMTP on a port that is in use fails with an error that names its flag', async (context) => {
  await using server = await startServer({ port: 0, smtpPort: 0 });
  const port = server.smtp?.port ?? 0;
  const command = runCommand(context, ['--port', '0', '--smtp-port', String(port)]);
  expect((await command.ended).code).toBe(1);
  expect(command.stderr).toBe(
    `agent-mailbox-mock: Port ${port} on 127.0.0.1 is taken; choose another with --smtp-port, or 0 for a free one.\n`,
  );
});

/** Starts a receiver in a process of its own; `next` is the next line that it prints. */
function startReceiverProcess() {
  const child = spawn(process.execPath, ['test/support/receiver-process.mjs', join(DIST, 'receiver.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    next: async () => JSON.parse((await lines.next()).value),
    tell: (line: string) => void child.stdin.write(`${line}\n`),
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}

test('a receiver in another process verifies what a server sends, and its retry', async ({ expect }) => {
  await using receiver = startReceiverProcess();
  await using server = await startServer({ port: 0 });
  const key = server.mailbox.keys.acme.tenant;
  const { url } = await receiver.next();
  const { json: webhook } = await send(`${server.url}/v1/webhooks`, 'POST', {
    key,
    json: { url, events: EVENT_KINDS },
  });
  receiver.tell(webhook.secret);
  expect(await receiver.next()).toEqual({ secret: 'taken' });

  const mail = { from: ADDRESS.dana, to: ADDRESS.helpdesk, subject: 'Grüße 😀' };
  expect((await send(`${server.control}/messages`, 'POST', { json: mail })).status).toBe(200);
  const first = await receiver.next();
  await send(`${server.control}/settle`, 'POST', { json: {} });
  await send(`${server.control}/clock`, 'POST', { json: { advance: '5s' } });
  const second = await receiver.next();
  expect(first).toMatchObject({ verified: true, problem: null, json: { event: 'message.received', ...mail } });
  expect(second).toMatchObject({ verified: true, id: first.id, json: first.json });
  // Both are signed in real time, although the clock of the mailbox was moved.
  expect(Number(second.timestamp)).toBeGreaterThanOrEqual(Number(first.timestamp));
  expect(Number(second.timestamp)).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  const { json } = await send(`${server.control}/deliveries?webhookId=${webhook.id}`, 'GET', {});
  expect(json.deliveries).toMatchObject([{ state: 'delivered', attempts: [{ status: 500 }, { status: 200 }] }]);
});
