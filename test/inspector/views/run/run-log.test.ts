import { describe, expect, test } from 'vitest';
import type { FeedEvent } from '../../../../src/control/journal/feed-event.ts';
import { RunLog } from '../../../../src/inspector/views/run/run-log.ts';
import { counterpartsOf } from '../../../../src/inspector/views/run/timeline.ts';

let count = 0;

/** Creates an event. Each one happens a second after the one that was created before it. */
function event(kind: string, data: object, tenantId: string | null = null): FeedEvent {
  count += 1;
  const realTime = new Date(Date.UTC(2026, 0, 1) + count * 1_000).toISOString();
  return { id: `run-${count}`, realTime, kind, tenantId, data } as unknown as FeedEvent;
}

const mail = (messageId: string, { threadId = `thread-${messageId}`, tenantId = 'acme' } = {}) =>
  event('mail-received', { mail: { id: messageId, threadId, from: 'Dana <dana@b.test>', to: [] } }, tenantId);

const sentMail = (messageId: string, to: string) =>
  event(
    'mail-sent',
    { mail: { id: messageId, threadId: `thread-${messageId}`, from: 'a@acme.test', to: [to] } },
    'acme',
  );

const request = (path: string, fields: object = {}) =>
  event('request', {
    id: 'req_1',
    protocol: 'http',
    method: 'GET',
    path,
    status: 200,
    messages: [],
    read: [],
    principal: { tenantId: 'acme' },
    ...fields,
  });

const attempt = (fields: object) =>
  event('attempt', { deliveryId: 'd', tenantId: 'acme', messageId: 'm', error: null, ...fields });

function logOf(...events: readonly FeedEvent[]): RunLog {
  const log = new RunLog();
  for (const each of events) log.add(each);
  return log;
}

const lanesOf = ({ rows }: RunLog) => rows.map(({ lane }) => lane);

describe('the log of a run', () => {
  test('has a lane for each kind of event', () => {
    const held = event('mail-held', { tenantId: 'acme' });
    const clock = event('clock', { tenantId: null });
    const failure = event('failure', { error: 'broken' });
    const log = logOf(mail('m'), attempt({}), request('/v1/me'), sentMail('s', 'dana@b.test'), clock, held, failure);
    expect(lanesOf(log)).toEqual(['in', 'deliveries', 'requests', 'out', 'time', 'in', 'requests']);
    expect(log.rows.map(({ isBad }) => isBad)).toEqual([false, false, false, false, false, true, true]);
  });

  test('has a new delivery only if it is held, and no gap', () => {
    const created = (state: string) => event('delivery-created', { deliveryId: 'd', messageId: 'm', state });
    const log = logOf(created('pending'), created('held'), event('gap', { missed: 3 }));
    expect(log.rows).toMatchObject([{ lane: 'deliveries', event: { data: { state: 'held' } } }]);
  });

  test('shows a request before the mail that it has sent, though it ended after it', () => {
    const log = logOf(
      request('/v1/me'),
      sentMail('s', 'dana@b.test'),
      mail('m'),
      request('/v1/send', { messages: ['s'] }),
    );
    expect(lanesOf(log)).toEqual(['requests', 'requests', 'out', 'in']);
  });

  test('knows the counterparts of requests and deliveries by the mail that they name', () => {
    const log = logOf(
      mail('m', { threadId: 't' }),
      request('/v1/threads/t'),
      request('/v1/me'),
      attempt({}),
      attempt({ messageId: 'x' }),
    );
    expect(log.rows.slice(1).map(({ counterparts }) => counterparts)).toEqual([
      ['dana@b.test'],
      [],
      ['dana@b.test'],
      undefined,
    ]);
    expect([...counterpartsOf(log.rows)]).toEqual(['dana@b.test']);
  });

  test('begins again after a reset of everything, and a reset of a sandbox removes only its own rows', () => {
    const log = logOf(mail('m'), mail('n', { tenantId: 'sandbox' }), event('reset', { tenantId: 'sandbox' }));
    expect(log.rows).toMatchObject([{ tenant: 'acme' }, { event: { kind: 'reset' } }]);
    log.add(event('reset', { tenantId: null }));
    expect(log.rows).toEqual([]);
  });

  test('keeps a limited number of rows, and counts those that it has dropped', () => {
    const log = new RunLog();
    for (let number = 0; number < 110_001; number += 1) log.add(request('/v1/me', { id: `req_${number}` }));
    expect([log.rows.length, log.droppedCount]).toEqual([100_001, 10_000]);
    expect(log.rows[0]).toMatchObject({ request: { id: 'req_10000' } });
  });
});
