import { describe, expect, test } from 'vitest';
import type { FeedEvent } from '../../../../src/control/journal/feed-event.ts';
import type { Sample } from '../../../../src/inspector/samples.tsx';
import { RunLog } from '../../../../src/inspector/views/run/run-log.ts';
import {
  createTimeline,
  filterRows,
  type RunFilter,
  type RunItem,
  sampleByLastMail,
  samplesIn,
  selectRows,
} from '../../../../src/inspector/views/run/timeline.ts';

/** Creates the rows of events; each event happens a second after the one before it, from 2026-01-01T00:00:01Z. */
function rowsOf(...events: readonly (readonly [kind: string, fields: object])[]) {
  const log = new RunLog();
  for (const [index, [kind, data]] of events.entries()) {
    const realTime = new Date(Date.UTC(2026, 0, 1) + (index + 1) * 1_000).toISOString();
    log.add({ id: `run-${index + 1}`, realTime, kind, tenantId: 'acme', data } as unknown as FeedEvent);
  }
  return log.rows;
}

const mail = (messageId: string, from = 'dana@b.test') =>
  [
    'mail-received',
    {
      mail: { id: messageId, tenantId: 'acme', threadId: messageId, from, to: [], subject: `Subject of ${messageId}` },
    },
  ] as const;

const request = (id: string, fields: object = {}) =>
  [
    'request',
    { id, protocol: 'http', path: '/v1/me', status: 200, messages: [], read: [], principal: null, ...fields },
  ] as const;

const attempt = (messageId: string, error: string | null = null) =>
  ['attempt', { deliveryId: `of ${messageId}`, messageId, error }] as const;

/** Returns the kind of each item, and the number of what it groups. */
function shapeOf(items: readonly RunItem[]) {
  return items.map((item) => {
    const parts = item.kind === 'mail' ? item.deliveries : item.kind === 'requests' ? item.requests : item.events;
    return `${item.kind} ${parts.length}`;
  });
}

const NO_SAMPLES = sampleByLastMail([]);

const show = (rows: ReturnType<typeof rowsOf>, filter: RunFilter = {}, samples = NO_SAMPLES) =>
  shapeOf(createTimeline(filterRows(rows, filter, samples), filter, samples));

const advance = (now: string) => ['clock', { action: 'advance', tenantId: null, now }] as const;

describe('the timeline of a run', () => {
  test('has one line for an advance in several parts, with the time after the last one', () => {
    const rows = rowsOf(
      mail('m'),
      advance('2026-01-01T01:00:00Z'),
      attempt('m', 'refused'),
      advance('2026-01-01T02:00:00Z'),
      advance('2026-01-01T03:00:00Z'),
      ['clock', { action: 'freeze', tenantId: null, now: '2026-01-01T03:00:00Z' }],
      advance('2026-01-01T04:00:00Z'),
    );
    const [, events] = createTimeline(rows, {}, NO_SAMPLES);
    const times = events?.kind === 'events' ? events.events.map(({ data }) => 'now' in data && data.now) : [];
    expect(times).toEqual(['2026-01-01T03:00:00Z', '2026-01-01T03:00:00Z', '2026-01-01T04:00:00Z']);
  });

  test('has deliveries at their mail, and groups requests and events that followed each other', () => {
    const rows = rowsOf(
      mail('m'),
      request('a'),
      attempt('m', 'refused'),
      request('b'),
      attempt('unknown'),
      attempt('unknown'),
      attempt('m'),
      mail('n'),
      request('c'),
    );
    expect(show(rows)).toEqual(['mail 2', 'requests 2', 'events 2', 'mail 0', 'requests 1']);
  });

  test('gives a command that read mail over IMAP an item of its own', () => {
    const rows = rowsOf(mail('m'), request('a'), request('b', { read: ['m'] }), request('c'));
    expect(show(rows)).toEqual(['mail 0', 'requests 1', 'requests 1', 'requests 1']);
  });

  test('shows only a lane, a range of time, or what a search finds', () => {
    const rows = rowsOf(mail('m'), request('a'), attempt('m'), mail('n'));
    expect(show(rows, { lane: 'in' })).toEqual(['mail 0', 'mail 0']);
    expect(show(rows, { from: '2026-01-01T00:00:02Z', to: '2026-01-01T00:00:03Z' })).toEqual([
      'requests 1',
      'events 1',
    ]);
    expect(show(rows, { to: '2026-01-01T00:00:01.000Z' })).toEqual(['mail 0']);
    expect(show(rows, { from: 'no time' })).toEqual(['mail 1', 'requests 1', 'mail 0']);
    expect(show(rows, { search: '"OF N"' })).toEqual(['mail 0']);
  });

  test('of the failures, shows all requests and all events as one item each, below the mail', () => {
    const breached = [{ result: 'breached', messages: [{ id: 'k' }, { id: 'm' }] }] as unknown as readonly Sample[];
    const rows = rowsOf(
      attempt('n', 'refused'),
      request('a', { status: 404 }),
      mail('m'),
      attempt('m', 'refused'),
      request('b'),
      mail('n'),
      attempt('n'),
      request('c', { status: 500 }),
    );
    const samples = sampleByLastMail(breached);
    expect(show(rows, { failed: 'true' }, samples)).toEqual(['mail 0', 'requests 2', 'events 2']);
    expect(show(rows, { result: 'breached' }, samples)).toEqual(['mail 0']);
  });

  test('has the rows of a tenant, of a counterpart, and since an event', () => {
    const clock = ['clock', { tenantId: null }] as const;
    const rows = rowsOf(mail('m'), mail('n', 'lee@c.test'), clock, request('a', { principal: { tenantId: 'globex' } }));
    const select = (scope: object) => selectRows(rows, scope).map(({ id }) => id);
    expect(select({})).toEqual(['run-1', 'run-2', 'run-3', 'run-4']);
    expect(select({ tenant: 'globex' })).toEqual(['run-3', 'run-4']);
    expect(select({ counterpart: 'lee@c.test' })).toEqual(['run-2', 'run-3']);
    expect(select({ since: 'run-2' })).toEqual(['run-3', 'run-4']);
    expect(select({ since: 'unknown' })).toEqual(['run-1', 'run-2', 'run-3', 'run-4']);
  });

  test('of a sandbox begins when it was made, and leaves out what nobody did before', () => {
    const ofSandbox = ['sandbox', { action: 'added', name: 'agent-9', tenantId: 'box' }] as const;
    const rows = rowsOf(request('before'), mail('m'), ofSandbox, request('after'));
    const shown = selectRows(rows, { tenant: 'box', sandbox: 'box' });
    expect(shown.map(({ id }) => id)).toEqual(['run-3', 'run-4']);
    expect(selectRows(rows, { tenant: 'none', sandbox: 'none' })).toEqual([]);
  });

  test('counts the samples of the rows in a range of time', () => {
    const rows = rowsOf(mail('a'), mail('b'));
    const sample = (id: string) => ({ name: id, result: 'breached', messages: [{ id }] }) as unknown as Sample;
    const samples = sampleByLastMail([sample('a'), sample('b'), sample('gone')]);
    expect(samplesIn(rows, samples).map(({ name }) => name)).toEqual(['a', 'b']);
    const inTime = filterRows(rows, { from: '2026-01-01T00:00:02Z' }, samples);
    expect(samplesIn(inTime, samples).map(({ name }) => name)).toEqual(['b']);
  });
});
