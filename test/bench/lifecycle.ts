import { createMailbox } from 'agent-mailbox-mock';
import { IDS } from '../support/ids.ts';
import { askChild } from './child.ts';
import { atMost, median, type Row } from './measure.ts';

const TIMES = 300;

/** How long a mailbox takes to make, and to put back after a test has used it. */
export async function benchLifecycle(): Promise<Row[]> {
  const coldMs = Number(await askChild('cold-start.ts'));
  const creations = Array.from({ length: TIMES }, () => time(createMailbox));
  const resets: number[] = [];
  for (let count = 0; count < TIMES; count += 1) resets.push(await timeReset());
  const cold = `, the first in a process ${coldMs.toFixed(1)} ms`;
  return [
    atMost(1, 'ms', 'createMailbox()', median(creations), cold),
    atMost(1, 'ms', 'reset() after a create and a rotate', median(resets)),
  ];
}

const mailbox = createMailbox();

async function timeReset(): Promise<number> {
  await post('/v1/webhooks', { url: 'https://receiver.test/hook', events: ['message.received'] });
  await post(`/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`, {});
  return time(mailbox.reset);
}

async function post(path: string, json: unknown): Promise<void> {
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
  const request = new Request(mailbox.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(json) });
  const { status } = await mailbox.fetch(request);
  if (status !== 201) throw new Error(`${path} answered ${status}.`);
}

function time(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
