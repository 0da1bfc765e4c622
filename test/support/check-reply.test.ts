import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { checkReply } from './check-reply.ts';
import { IDS } from './ids.ts';
import { createReply } from './send.ts';

const MESSAGE = `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/messages/${IDS.nobody}`;
const JSON_TYPE = { 'content-type': 'application/json' };
const OK = '{"status":"ok"}';

interface Wire {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Checks a reply as it would come over the wire. */
function check(line: string, { status = 200, headers = JSON_TYPE, body = '' }: Wire, behaviours = {}) {
  const [method = '', path = ''] = line.split(' ');
  const bytes = new TextEncoder().encode(body);
  const all = new Headers({ 'content-length': String(bytes.length), ...headers });
  return checkReply(createMailbox({ behaviours }), method, path, createReply(status, all, bytes));
}

const RIGHT: [line: string, wire: Wire, id: string | undefined][] = [
  ['GET /health', { body: OK }, 'getHealth'],
  ['GET /health?verbose=1', { body: OK }, 'getHealth'],
  [`GET ${MESSAGE}/raw`, { headers: { 'content-type': 'message/rfc822' }, body: 'From: a' }, 'getRawMessage'],
  [`GET ${MESSAGE}/attachments/${IDS.nobody}`, { headers: { 'content-type': 'image/png' } }, 'getAttachment'],
  ['HEAD /health', {}, undefined],
  ['OPTIONS /health', { status: 204, headers: {} }, undefined],
  ['GET /v1/nothing', { status: 404, body: '{"error":"No.","code":"NOT_FOUND"}' }, undefined],
];

test.each(RIGHT)('%s may answer %j', (line, wire, id) => {
  expect(check(line, wire)).toBe(id);
});

const WRONG: [line: string, wire: Wire, message: RegExp][] = [
  ['GET /health', { body: '{"status":"down"}' }, /status/],
  ['GET /health', { body: '{"status":"ok","more":1}' }, /more/],
  ['GET /health', { status: 201, body: OK }, /answered 201, not 200/],
  ['POST /v1/inboxes', { status: 202, body: '{}' }, /answered 202, not 201 or 200/],
  ['GET /health', { headers: { 'content-type': 'text/plain' }, body: OK }, /sent as text\/plain/],
  ['GET /v1/nothing', { body: '{}' }, /is no operation/],
  ['GET /v1/%77ebhooks', { body: '{}' }, /is no operation/],
  ['HEAD /health', { body: OK }, /has the body/],
  [`GET ${MESSAGE}/raw`, { headers: { 'content-type': 'text/plain' }, body: 'From: a' }, /is message\/rfc822/],
  [`GET ${MESSAGE}/raw`, { headers: { 'content-type': 'message/rfc822', 'content-length': '9' } }, /not as long/],
  [`GET ${MESSAGE}/attachments/${IDS.nobody}`, { headers: {}, body: 'x' }, /sent as nothing/],
  ['GET /health', { status: 404, body: '{"error":"No."}' }, /has the code undefined/],
  ['GET /health', { status: 403, body: '{"error":"No.","code":"NOT_FOUND"}' }, /does not belong to the status 403/],
  ['GET /health', { status: 500, body: '{"error":"at a.ts:1:2","code":"INTERNAL_ERROR"}' }, /shows a stack/],
  ['GET /health', { status: 404, body: '{"error":"No.","code":"NOT_FOUND"}' }, /getHealth does not list NOT_FOUND/],
];

test.each(WRONG)('%s may not answer %j', (line, wire, message) => {
  expect(() => check(line, wire)).toThrow(message);
});

test('under errors.shape=error-only an error may not have a code', () => {
  const behaviours = { 'errors.shape': 'error-only' };
  expect(check('GET /health', { status: 404, body: '{"error":"No."}' }, behaviours)).toBeUndefined();
  const withCode = { status: 404, body: '{"error":"No.","code":"NOT_FOUND"}' };
  expect(() => check('GET /health', withCode, behaviours)).toThrow('An error has the code NOT_FOUND.');
});
