// What the code weighs, and how much of it one request meets: `npm run figures`.
import { readdirSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { createMailbox } from '../../src/index.ts';
import { createReceiver } from '../../src/receiver/index.ts';
import { startServer } from '../../src/server/index.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);

const SOURCE = new URL('../../src/', import.meta.url);

interface Measured {
  readonly name: string;
  readonly lines: number;
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => {
    const text = readFileSync(new URL(file, SOURCE), 'utf8');
    return ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  });

function linesOf(file: ts.SourceFile, node: ts.Node = file): number {
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line;
  return lineAt(node.getEnd()) - lineAt(node.getStart(file)) + 1;
}

function functionsOf(file: ts.SourceFile, node: ts.Node = file): Measured[] {
  const within: Measured[] = [];
  ts.forEachChild(node, (child) => {
    within.push(...functionsOf(file, child));
  });
  if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return within;
  const name =
    node.name?.getText(file) ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name.getText(file) : '');
  return [{ name: `${name || '(unnamed)'} in ${file.fileName}`, lines: linesOf(file, node) }, ...within];
}

function summarise(what: string, measured: readonly Measured[]): void {
  const sorted = measured.toSorted((a, b) => a.lines - b.lines);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]?.lines;
  const longest = sorted.at(-1);
  print(
    `${what}: ${sorted.length}, median ${at(0.5)} lines, p90 ${at(0.9)}, longest ${longest?.lines} (${longest?.name})`,
  );
}

/** Says which source files have a function that runs during `work`, and how many functions those are. */
async function trace(what: string, work: () => Promise<unknown>): Promise<void> {
  await work();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const run = result
    .filter(({ url }) => url.startsWith(SOURCE.href))
    .map(({ url, functions }) => ({
      file: fileURLToPath(url).slice(fileURLToPath(SOURCE).length),
      called: functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0).length,
    }))
    .filter(({ called }) => called > 0);
  const called = run.reduce((sum, each) => sum + each.called, 0);
  print(`${what}: ${run.length} files, ${called} functions`);
  if (process.argv.includes('--files')) for (const { file, called } of run) print(`  ${file} ${called}`);
}

const createWebhook = (url: string) =>
  [`${url}/v1/webhooks`, { method: 'POST', headers: { 'X-API-Key': 'tk_acme_tenant_key' }, body: BODY }] as const;
const BODY = JSON.stringify({ url: 'https://agent.example/hook', events: ['message.received'] });

print(`src: ${files.reduce((sum, file) => sum + file.text.split('\n').length - 1, 0)} lines`);
summarise(
  'files',
  files.map((file) => ({ name: file.fileName, lines: linesOf(file) })),
);
summarise(
  'functions',
  files.flatMap((file) => functionsOf(file)),
);

const mailbox = createMailbox();
await trace('POST /v1/webhooks in process', () => mailbox.fetch(new Request(...createWebhook(mailbox.baseUrl))));

const server = await startServer({ port: 0, smtpPort: 0 });
await trace('POST /v1/webhooks over HTTP', () => fetch(...createWebhook(server.url)));

const receiver = createReceiver();
const [url, init] = createWebhook(server.url);
const hook = { url: await receiver.listen(), events: ['message.received'] };
server.mailbox.reset();
const created = (await (await fetch(url, { ...init, body: JSON.stringify(hook) })).json()) as { secret: string };
receiver.secret = created.secret;
const { createTransport } = await import('nodemailer');
const transport = createTransport({ host: '127.0.0.1', port: server.smtp?.port ?? 0, secure: false, ignoreTLS: true });
await trace('a mail by SMTP until its delivery is logged', async () => {
  await transport.sendMail({ from: 'a@b.test', to: 'helpdesk@acme.test', subject: 'Hi', text: 'Hello' });
  await server.mailbox.settled();
});
transport.close();
await Promise.all([server.close(), receiver.close()]);
