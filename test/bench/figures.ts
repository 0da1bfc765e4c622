// How large the code is, how its folders depend on each other, and how much of it runs for one request:
// `npm run figures`. None of these figures is a limit. With `--files`, the files of each request are listed.
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { createMailbox } from '../../src/mailbox/index.ts';
import { startServer } from '../../src/server/index.ts';
import { createReceiver } from '../../src/testing/receiver/index.ts';
import { ROOMS } from '../support/rooms.ts';
import { FILES, IMPORTS, roomOf, UPWARD_IMPORTS } from '../support/source.ts';

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Prints a figure. */
function printFigure(what: string, value: number): void {
  print(`${what}: ${value}`);
}

const SOURCE = new URL('../../src/', import.meta.url);

interface Measured {
  readonly name: string;
  readonly lines: number;
}

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

/** How many lines of a text have code: neither blank nor a comment alone. */
function codeLinesOf(text: string): number {
  const lines = text.replace(/\/\*[\s\S]*?\*\//g, '').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;
}

/** The folder of the second level that a file is in, or its room. */
const partOf = (file: string) => file.split('/').slice(1, -1).slice(0, 2).join('/');

/** Every pair of places one of which imports something of the other, types included. */
function arrowsBetween(placeOf: (file: string) => string): [from: string, to: string][] {
  const arrows = IMPORTS.filter(({ from, to }) => to.startsWith('src/') && placeOf(to) !== placeOf(from));
  const names = new Set(arrows.map(({ from, to }) => `${placeOf(from)} ${placeOf(to)}`));
  return [...names].map((arrow) => arrow.split(' ') as [string, string]);
}

/** How many rooms the longest chain of imports has. */
function longestChain(arrows: readonly [from: string, to: string][], room: string): number {
  return 1 + Math.max(0, ...arrows.filter(([from]) => from === room).map(([, to]) => longestChain(arrows, to)));
}

/** Says how many files have a function that runs during `work`, and how many functions those are. */
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
  print(`${called} functions run for ${what}`);
  printFigure(`files for ${what}`, run.length);
  if (process.argv.includes('--files')) for (const { file, called } of run) print(`  ${file} ${called}`);
}

const createWebhook = (url: string) =>
  [`${url}/v1/webhooks`, { method: 'POST', headers: { 'X-API-Key': 'tk_acme_tenant_key' }, body: BODY }] as const;
const BODY = JSON.stringify({ url: 'https://agent.example/hook', events: ['message.received'] });

const rooms = arrowsBetween(roomOf);
printFigure('rooms', new Set(FILES.map(({ fileName }) => roomOf(fileName))).size);
printFigure('imports between parts', arrowsBetween(partOf).length);
printFigure('imports of a later room', UPWARD_IMPORTS.length);
printFigure(
  'longest chain of imports between rooms',
  Math.max(...Object.keys(ROOMS).map((room) => longestChain(rooms, room))),
);
printFigure('source files', FILES.length);
printFigure('lines of code', codeLinesOf(FILES.map(({ text }) => text).join('\n')));
summarise(
  'files',
  FILES.map((file) => ({ name: file.fileName, lines: linesOf(file) })),
);
summarise(
  'functions',
  FILES.flatMap((file) => functionsOf(file)),
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
