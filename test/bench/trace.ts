import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMailbox } from 'agent-mailbox-mock';
import { chromium } from 'playwright-core';
import { FLAGS, findBrowser } from '../support/browser.ts';
import { DIST } from '../support/dist.ts';
import type { Row } from './measure.ts';

const ENTRIES = 100_000;

/** How often the lines of the trace may be parsed in the time in which it is opened. */
const LIMIT = 6;

/** Opens a long trace in a browser, against parsing its lines in this process. Both are processor time, not waiting. */
export async function benchTrace(): Promise<Row[]> {
  const what = `open a trace of ${ENTRIES} entries ÷ parse its lines`;
  const executablePath = findBrowser();
  if (executablePath === undefined) return [{ what, figure: 'no browser', target: `at most ${LIMIT}×`, met: false }];
  const folder = await mkdtemp(join(tmpdir(), 'trace-'));
  const file = join(folder, 'trace.jsonl');
  const lines = await writeLines();
  await writeFile(file, `${lines.join('\n')}\n`);
  const startedAt = process.cpuUsage();
  for (const line of lines) JSON.parse(line);
  const { user, system } = process.cpuUsage(startedAt);
  const parseMs = (user + system) / 1000;
  const openedMs = await openTrace(file, executablePath);
  await rm(folder, { recursive: true });
  const ratio = openedMs / parseMs;
  const figure = `${ratio.toFixed(2)}× (${openedMs.toFixed(0)} ms against ${parseMs.toFixed(0)} ms)`;
  return [{ what, figure, target: `at most ${LIMIT}×`, met: ratio <= LIMIT }];
}

/** Writes a trace by repeating that of a small mailbox, with ids of its own in each repetition. */
async function writeLines(): Promise<string[]> {
  const mailbox = createMailbox({ loopLimit: 1_000_000 });
  const inbox = `${mailbox.baseUrl}/v1/inboxes/${mailbox.ids.acme.inboxes.helpdesk}`;
  const headers = { 'X-API-Key': mailbox.keys.acme.inboxes.helpdesk, 'Content-Type': 'application/json' };
  const answer = { to: 'dana@customer.test', subject: 'Your order', plainBody: 'It is on its way.' };
  for (let number = 0; number < 100; number += 1) {
    const plainBody = `Where is my order ${number}? ${'It has not arrived. '.repeat(10)}`;
    await mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'dana@customer.test', plainBody });
    for (let poll = 0; poll < 6; poll += 1) await mailbox.fetch(`${inbox}/messages?limit=1`, { headers });
    await mailbox.fetch(`${inbox}/send`, { method: 'POST', headers, body: JSON.stringify(answer) });
  }
  const [header = '', ...others] = mailbox.trace().trimEnd().split('\n');
  const entries = others.filter((line) => line.startsWith('{"type":"entry"'));
  return [header, ...Array.from({ length: ENTRIES }, (_, index) => repeat(entries, index))];
}

/** Returns the entry at an index of a list that begins again at its end. */
function repeat(entries: readonly string[], index: number): string {
  const round = Math.floor(index / entries.length);
  const start = round.toString(16).padStart(4, '0');
  return (entries[index % entries.length] ?? '')
    .replace(/"([\da-f]{8})-[\da-f]{4}-4/g, `"$1-${start}-4`)
    .replace(/"req_(\d+)"/g, (_, number: string) => `"req_${round * entries.length + Number(number)}"`);
}

/** Opens a trace by the command, and returns the milliseconds of processor time that command and page needed. */
async function openTrace(file: string, executablePath: string): Promise<number> {
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  const page = await browser.newPage();
  const command = spawn(process.execPath, [join(DIST, 'main.cjs'), 'show', file, '--open'], {
    env: { ...process.env, BROWSER: 'true' },
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      command.stdout.on('data', (part) => {
        text += part;
        const [, found] = /(http:\S+)/.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      });
      command.on('exit', (code) => reject(new Error(`The command ended with ${code}.`)));
    });
    await page.goto(`${url}#/run`);
    await page.getByRole('list', { name: 'What happened' }).waitFor({ timeout: 120_000 });
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const pageMs = processInfo
      .filter(({ type }) => type === 'renderer')
      .reduce((sum, { cpuTime }) => sum + cpuTime * 1000, 0);
    return pageMs + processorMs(command.pid ?? 0);
  } finally {
    command.kill();
    await browser.close();
  }
}

/** Returns the processor time of another process so far, where the system says it as Linux does: in hundredths of a second. */
function processorMs(pid: number): number {
  const [, after = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = after.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
