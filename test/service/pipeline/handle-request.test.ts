import type { BehaviourOptions } from 'agent-mailbox-mock';
import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type SendOptions } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const VALID = { url: 'https://agent.example/hook', events: ['message.received'] };

interface Case {
  readonly title: string;
  readonly method?: string;
  readonly path?: string;
  readonly options?: SendOptions;
  readonly behaviours?: BehaviourOptions;
  readonly status: number;
  readonly error?: string;
  readonly assumed?: string;
  readonly allow?: string;
  /** No key is sent unless the options have one. */
  readonly anonymous?: true;
}

/** Creates a POST /v1/webhooks request with an invalid body. */
const body = (title: string, json: unknown, error: string): Case => ({ title, options: { json }, status: 400, error });

const CASES: Case[] = [
  body('an absent url', { events: ['message.received'] }, 'The body is not valid: url is required.'),
  body('absent events', { url: VALID.url }, 'The body is not valid: events is required.'),
  body('a url that is a number', { ...VALID, url: 1 }, 'The body is not valid: url must be a string.'),
  body('a url that is null', { ...VALID, url: null }, 'The body is not valid: url must be a string.'),
  ...[
    '/hook',
    'hook',
    '//agent.example/hook',
    'http:/agent.example',
    'http:agent.example',
    'ftp://agent.example/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    ' https://agent.example/',
    'https://',
    'https://a b/',
    'http:\\\\agent.example',
    '',
  ].map((url) =>
    body(
      `the url ${JSON.stringify(url)}`,
      { ...VALID, url },
      'The body is not valid: url must be an absolute http or https URL.',
    ),
  ),
  body(
    'a url that is too long',
    { ...VALID, url: `https://a.example/${'x'.repeat(2048)}` },
    'The body is not valid: url must be at most 2048 characters long.',
  ),
  body('empty events', { ...VALID, events: [] }, 'The body is not valid: events must list at least one event kind.'),
  body(
    'events that are a string',
    { ...VALID, events: 'message.received' },
    'The body is not valid: events must be an array of event kinds.',
  ),
  body(
    'an unknown event kind',
    { ...VALID, events: ['message.received', 'message.lost'] },
    'The body is not valid: events[1] must be one of message.received, message.sent, message.bounced.',
  ),
  body(
    'an event kind that is a number',
    { ...VALID, events: [7] },
    'The body is not valid: events[0] must be one of message.received, message.sent, message.bounced.',
  ),
  body('two wrong fields', {}, 'The body is not valid: url is required; events is required.'),
  ...(
    [
      ['an array', '[]', 'The body must be a JSON object.'],
      ['null', 'null', 'The body must be a JSON object.'],
      ['a string', '"x"', 'The body must be a JSON object.'],
      ['malformed JSON', '{"url":', 'The body is not valid JSON.'],
      ['deep nesting that is never closed', '['.repeat(100_000), 'The body is not valid JSON.'],
      ['bytes that are not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'The body is not valid JSON.'],
    ] as const
  ).map(
    ([title, raw, error]): Case => ({
      title: `a body that is ${title}`,
      options: { body: raw, headers: { 'Content-Type': 'application/json' } },
      status: 400,
      error,
    }),
  ),
  ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'].map(
    (type): Case => ({
      title: `a form sent as ${type}`,
      options: { body: 'url=https://a.example/', headers: { 'Content-Type': type } },
      status: 400,
      error: `The body is not valid JSON; it must be JSON with Content-Type: application/json, not ${type.split(';')[0]}.`,
    }),
  ),
  {
    title: 'a missing body',
    status: 400,
    error: 'The body is not valid: url is required; events is required.',
  },
  {
    title: 'a body over 1 MiB',
    options: {
      body: `{"url":"https://a.example/","x":"${'x'.repeat(1024 * 1024)}"}`,
      headers: { 'Content-Type': 'application/json' },
    },
    status: 413,
    error: 'The body is larger than 1 MiB.',
  },
  {
    title: 'a malformed body on an operation without a body',
    path: `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`,
    options: { body: '{', headers: { 'Content-Type': 'application/json' } },
    status: 400,
    error: 'The body is not valid JSON.',
  },
  {
    title: 'a malformed UUID in a path',
    method: 'DELETE',
    path: '/v1/webhooks/not-a-uuid',
    status: 404,
    error: 'There is no resource with this id.',
    assumed: 'requests.malformed-id',
  },
  {
    title: 'a malformed UUID in a path if it is treated as invalid',
    method: 'DELETE',
    path: '/v1/webhooks/not-a-uuid',
    behaviours: { 'requests.malformed-id': 'invalid' },
    status: 400,
    error: 'The path is not valid: id must be a UUID.',
  },
  {
    title: 'an unknown route',
    method: 'GET',
    path: '/v1/nothing',
    status: 404,
    error: 'There is no route /v1/nothing.',
  },
  {
    title: 'a path of another service that is only read',
    method: 'GET',
    path: '/v1/emails',
    status: 404,
    error: 'There is no route /v1/emails.',
  },
  {
    title: 'what is posted to an unknown route',
    path: '/v1/nothing',
    status: 404,
    error: 'There is no route /v1/nothing.',
  },
  {
    title: 'a mail that is sent to the list of messages',
    path: '/v1/messages',
    status: 405,
    error: 'POST is not supported for this path; use GET, HEAD, OPTIONS; a mail is sent by POST /v1/inboxes/{id}/send.',
  },
  {
    title: 'a mail that is sent to a path of another service',
    path: '/v1/messages/send',
    behaviours: { 'requests.wrong-method': 'not-found' },
    status: 404,
    error: 'There is no route /v1/messages/send; a mail is sent by POST /v1/inboxes/{id}/send.',
  },
  {
    title: 'an answer to a path below the mail',
    path: '/v1/inboxes/x/messages/y/reply-all',
    status: 404,
    error:
      'There is no route /v1/inboxes/x/messages/y/reply-all; a mail is answered to all by POST /v1/inboxes/{id}/reply-all/{messageId}.',
  },
  {
    title: 'the key of a variable without a value',
    options: { key: 'undefined' },
    anonymous: true,
    status: 401,
    error: 'The API key is the text "undefined", so the variable of the client that should have a key has none.',
  },
  { title: 'the root of the version', method: 'GET', path: '/v1', status: 404 },
  { title: 'an empty segment', method: 'DELETE', path: '/v1/webhooks//', status: 404 },
  { title: 'an unknown route without a key', anonymous: true, method: 'GET', path: '/v1/nothing', status: 404 },
  {
    title: 'an unknown route without a key if the key is checked first',
    anonymous: true,
    method: 'GET',
    path: '/v1/nothing',
    behaviours: { 'requests.check-order': 'key-first' },
    status: 401,
  },
  {
    title: 'an unknown route with a key if the key is checked first',
    method: 'GET',
    path: '/v1/nothing',
    behaviours: { 'requests.check-order': 'key-first' },
    status: 404,
  },
  {
    title: 'a wrong method',
    method: 'PUT',
    status: 405,
    allow: 'GET, HEAD, POST, OPTIONS',
    assumed: 'requests.wrong-method',
  },
  {
    title: 'a wrong method without a key',
    anonymous: true,
    method: 'PATCH',
    status: 405,
    allow: 'GET, HEAD, POST, OPTIONS',
  },
  {
    title: 'a wrong method if it is treated as not found',
    method: 'PUT',
    behaviours: { 'requests.wrong-method': 'not-found' },
    status: 404,
  },
  {
    title: 'HEAD on a path without GET',
    method: 'HEAD',
    path: `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`,
    status: 405,
    allow: 'POST, OPTIONS',
  },
  { title: 'HEAD if it is refused', method: 'HEAD', behaviours: { 'requests.head': 'refused' }, status: 405 },
  { title: 'OPTIONS', anonymous: true, method: 'OPTIONS', status: 204, allow: 'GET, HEAD, POST, OPTIONS' },
  { title: 'OPTIONS on an unknown route', method: 'OPTIONS', path: '/v1/nothing', status: 404 },
  { title: 'a trailing slash', method: 'GET', path: '/v1/webhooks/', status: 404, assumed: 'requests.trailing-slash' },
  {
    title: 'a trailing slash if it is ignored',
    method: 'GET',
    path: '/v1/webhooks/',
    behaviours: { 'requests.trailing-slash': 'ignored' },
    status: 200,
  },
  {
    title: 'percent-encoding that does not decode',
    method: 'DELETE',
    path: '/v1/webhooks/%E0%A4%A',
    status: 400,
    error: 'The path has invalid percent-encoding.',
    assumed: 'requests.undecodable-path',
  },
  {
    title: 'percent-encoding that does not decode if it is treated as not found',
    method: 'DELETE',
    path: '/v1/webhooks/%ZZ',
    behaviours: { 'requests.undecodable-path': 'not-found' },
    status: 404,
  },
  { title: 'a percent-encoded letter in a fixed part of a path', method: 'GET', path: '/v1/%77ebhooks', status: 404 },
  { title: 'a percent-encoded slash in a path', method: 'GET', path: '/v1/webhooks%2F', status: 404 },
  { title: 'an unknown query parameter', method: 'GET', path: '/v1/webhooks?page=2', status: 200 },
  {
    title: 'an unknown field',
    options: { json: { ...VALID, secret: 'mine' } },
    status: 201,
    assumed: 'requests.unknown-fields',
  },
  {
    title: 'an unknown field if it is refused',
    options: { json: { ...VALID, secret: 'mine' } },
    behaviours: { 'requests.unknown-fields': 'refused' },
    status: 400,
    error: 'The body has unknown fields: "secret".',
  },
  {
    title: 'a field named __proto__',
    options: { body: '{"url":"https://a.example/","events":["message.sent"],"__proto__":{"isActive":false}}' },
    status: 201,
  },
  {
    title: 'a body without a content type',
    options: { body: new TextEncoder().encode(JSON.stringify(VALID)) },
    status: 201,
    assumed: 'requests.content-type',
  },
  {
    title: 'a body of another content type if it must be JSON',
    options: { body: JSON.stringify(VALID), headers: { 'Content-Type': 'text/plain' } },
    behaviours: { 'requests.content-type': 'json' },
    status: 415,
  },
  {
    title: 'a content type with a charset if it must be JSON',
    options: { body: JSON.stringify(VALID), headers: { 'Content-Type': 'application/json; charset=utf-8' } },
    behaviours: { 'requests.content-type': 'json' },
    status: 201,
  },
  {
    title: 'a content type on a GET without a body',
    method: 'GET',
    options: { headers: { 'Content-Type': 'application/json' } },
    status: 200,
  },
  {
    title: 'a content type on a DELETE without a body',
    method: 'DELETE',
    path: `/v1/webhooks/${IDS.acme.webhooks.support}`,
    options: { headers: { 'Content-Type': 'application/json' } },
    status: 200,
  },
  {
    title: 'a content type on a POST without a body',
    path: `/v1/inboxes/${IDS.acme.inboxes.helpdesk}/keys`,
    options: { headers: { 'Content-Type': 'application/json' } },
    status: 201,
  },
  {
    title: 'an http url if only https is allowed',
    options: { json: { ...VALID, url: 'http://agent.example/' } },
    behaviours: { 'webhooks.create.url': 'https' },
    status: 400,
    assumed: 'webhooks.create.url',
  },
  { title: 'an upper-case scheme', options: { json: { ...VALID, url: 'HTTPS://agent.example/' } }, status: 201 },
  {
    title: 'message.sent if only message.received is allowed',
    options: { json: { ...VALID, events: ['message.sent'] } },
    behaviours: { 'webhooks.create.events': 'received-only' },
    status: 400,
  },
];

describe('requests', () => {
  for (const {
    title,
    method = 'POST',
    path = '/v1/webhooks',
    options = {},
    behaviours = {},
    status,
    ...rest
  } of CASES) {
    everywhere(`${title} returns ${status}`, { behaviours }, async ({ send, mailbox }) => {
      const before = mailbox.snapshot();
      const key = rest.anonymous ? {} : { key: mailbox.keys.acme.tenant };
      const reply = await send(method, path, { ...key, ...options });
      expect(reply.status, reply.text).toBe(status);
      if (rest.error !== undefined) expect(reply.json.error).toBe(rest.error);
      if (rest.allow !== undefined) expect(reply.headers.get('allow')).toBe(rest.allow);
      if (rest.assumed !== undefined) expect(assumed(reply.headers)).toContain(rest.assumed);
      if (status >= 400) expect(mailbox.snapshot()).toEqual(before);
    });
  }

  everywhere('HEAD returns the same as GET, without the body', async ({ send, mailbox }) => {
    const key = mailbox.keys.acme.tenant;
    const [get, head] = [await send('GET', '/v1/webhooks', { key }), await send('HEAD', '/v1/webhooks', { key })];
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
  });

  everywhere('a body of exactly 1 MiB is read', async ({ send, mailbox }) => {
    const frame = JSON.stringify({ ...VALID, x: '' });
    const json = { ...VALID, x: 'x'.repeat(1024 * 1024 - frame.length) };
    expect((await send('POST', '/v1/webhooks', { key: mailbox.keys.acme.tenant, json })).status).toBe(201);
  });

  everywhere('health returns 200 without a key', async ({ send }) => {
    const { status, json } = await send('GET', '/health');
    expect([status, json]).toEqual([200, { status: 'ok' }]);
  });
});

function assumed(headers: Headers): string[] {
  return headers.get('x-mock-assumed')?.split(', ') ?? [];
}
