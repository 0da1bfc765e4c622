import { assumed, byReference, defineBehaviours } from '../behaviour.ts';
import { INVENTED_CODES, INVENTED_STATUSES } from '../errors.ts';

/** Behaviours of the requests and the error replies of every operation. */
export const requestBehaviours = defineBehaviours(
  { section: '7', observableWith: 'key' },
  {
    'auth.both-headers': assumed(
      'Which key is used when X-API-Key and Authorization contain different keys?',
      {
        'x-api-key': 'the key in X-API-Key',
        authorization: 'the key in Authorization',
        refuse: 'none: the request is refused with 401',
      },
      { section: '5' },
    ),
    'auth.empty-key': assumed(
      'What does an empty X-API-Key beside Authorization: Bearer mean?',
      'it counts as missing, so the key in Authorization is used',
      { section: '5' },
    ),
    'auth.scheme-case': assumed(
      'May the scheme Bearer be written in another letter case?',
      'yes, because RFC 9110 makes every scheme case-insensitive',
      { section: '5' },
    ),
    'auth.challenge': assumed(
      'Which header of a reply with 401 says how to send a key?',
      'WWW-Authenticate: Bearer, because RFC 9110 requires the header',
      { section: '5' },
    ),
    'auth.wrong-tier': byReference('What is the reply to a valid key whose tier may not call the operation?', {
      forbidden: '403',
      'not-found': '404, as for a route that does not exist',
    }),
    'errors.shape': byReference('What is the body of an error?', {
      'error-and-code': '{ error, code }',
      'error-only': '{ error }',
    }),
    'errors.statuses': byReference(
      'Which status does an error have?',
      '400 for a request that is not valid, with VALIDATION_ERROR; 401 for a missing or invalid key; ' +
        '403 for what is not allowed, with INBOX_PAUSED for a paused inbox; 404 for what does not exist; ' +
        '409 for what already exists, with USERNAME_TAKEN for an address; 502 if the mail relay fails',
    ),
    'errors.codes': assumed(
      'Which statuses and codes of errors are our choice, because no source states them?',
      `the statuses ${INVENTED_STATUSES.join(', ')}, and the codes ${INVENTED_CODES.join(', ')}`,
      { observableWith: 'not from outside: most of these errors cannot be caused by a request' },
    ),
    'errors.foreign-resource': assumed(
      "What is the reply to an id that belongs to another tenant, or is outside the key's workspace or inbox?",
      {
        'not-found': '404, as for an id that does not exist',
        forbidden: '403, which shows the caller that the id exists',
      },
    ),
    'requests.wrong-method': assumed('What is the reply to a known path with a method that it does not support?', {
      'method-not-allowed': '405 with an Allow header',
      'not-found': '404',
    }),
    'requests.check-order': assumed('Are the path and the method checked before the key?', {
      'route-first': 'yes: a wrong path or method is 404 or 405 for every caller',
      'key-first': 'no: without a valid key, the reply is always 401',
    }),
    'requests.trailing-slash': assumed(
      'Is a trailing slash in a path ignored?',
      { 'not-found': 'no, the reply is 404', ignored: 'yes' },
      { section: '4' },
    ),
    'requests.head': assumed(
      'What is the reply to HEAD on a path that supports GET?',
      { 'as-get': 'the reply to GET, without its body', refused: '405' },
      { section: '4' },
    ),
    'requests.options': assumed(
      'What is the reply to OPTIONS?',
      { allow: '204 with an Allow header, with or without a key', refused: '405' },
      { section: '4' },
    ),
    'requests.malformed-id': assumed('What is the reply to an id in the path that is not a UUID?', {
      'not-found': '404, as for an id that does not exist',
      invalid: '400',
    }),
    'requests.undecodable-path': assumed('What is the reply to a path whose percent-encoding cannot be decoded?', {
      invalid: '400',
      'not-found': '404',
    }),
    'requests.unknown-fields': assumed(
      'What happens to unknown fields in a body?',
      { ignored: 'they are ignored', refused: 'the request is refused with 400' },
      { section: '4' },
    ),
    'requests.null-fields': assumed(
      'What does null mean for a field that a body need not have?',
      'in a create or a send, the same as a missing field; in an update, the value is removed; ' +
        'a field that cannot be without a value refuses it with 400',
      { section: '4' },
    ),
    'requests.empty-update': assumed(
      'What is the reply to a PATCH without a known field?',
      { accepted: 'success: nothing changes, except updatedAt of a draft', invalid: '400' },
      { section: '4' },
    ),
    'requests.names': assumed(
      'Which texts may a name or a displayName be?',
      'a text on one line; white space around it is removed; then an empty name is refused with 400, and an empty ' +
        'displayName means that there is none; other texts, such as a slug, are not changed',
      {
        operations: [
          'createInbox',
          'updateInbox',
          'createWorkspace',
          'createWorkspaceKey',
          'createList',
          'createListEntry',
        ],
        section: '4',
        fields: ['name', 'displayName'],
      },
    ),
    'requests.equal-names': assumed(
      'May two resources of a kind have the same name?',
      'yes: tenants, workspaces, the keys of a workspace and the lists of an inbox; their ids tell them apart',
      {
        operations: ['createTenant', 'createWorkspace', 'createWorkspaceKey', 'createList'],
        fields: ['name'],
        section: '4',
      },
    ),
    'requests.pages': assumed(
      'Which lists are complete, and which are paged?',
      'messages, threads and drafts are paged; inboxes, workspaces, domains, keys, attachments, lists and their entries ' +
        'are complete, and ignore limit and offset; for webhooks, see webhooks.list.pages',
      {
        operations: [
          'listInboxes',
          'listWorkspaces',
          'listDomains',
          'listWorkspaceKeys',
          'listAttachments',
          'listLists',
          'listListEntries',
        ],
        section: '4',
      },
    ),
    'requests.content-type': assumed(
      'Must a body be declared as application/json?',
      { any: 'no, every body is read as JSON', json: 'yes, any other type is refused with 415' },
      { section: '4' },
    ),
    'requests.malformed-body': assumed(
      'What is the reply to a body that is not a JSON object?',
      '400, as for a body that fails validation, even if the operation takes no body',
    ),
    'requests.limits': assumed(
      'How long may the values in a body be?',
      'in characters: a url 2048, a name 200, a subject 998, a mail body 500000, a description 2000, an address ' +
        '254, a domain 253, a user name 64, a slug 63, metadata 16384 and 10 levels; ' +
        'at most 100 event kinds, and 50 addresses or 50000 characters of addresses in one string; ' +
        'anything longer is refused with 400',
      { observableWith: 'not from outside: no experiment reaches a limit', section: '8' },
    ),
    'requests.body-limit': assumed('How large may a body be?', '1,048,576 bytes; a larger body is refused with 413', {
      observableWith: 'not from outside: no experiment reaches a limit',
      section: '8',
    }),
    'requests.storage-limit': assumed(
      'How much mail can be stored in total, and what is the reply to mail that does not fit?',
      '256 MiB for all tenants together, including attachments and raw mail, unless --max-mail or maxMailBytes sets ' +
        'another limit, or the process has too little memory for that; mail that does not fit gets 507, or 452 over ' +
        'SMTP, and is not stored',
      { observableWith: 'not from outside: no experiment reaches a limit', section: '8' },
    ),
    'requests.rate-limits': assumed(
      'Which rate limits and quotas are there?',
      'none, unless a fault sets a rate limit; then replies have the headers RateLimit-Limit, RateLimit-Remaining, ' +
        'RateLimit-Reset and RateLimit-Policy, and requests above the limit get 429 with Retry-After',
      { observableWith: 'not from outside: no experiment reaches a limit', section: '8' },
    ),
    'requests.other-products': assumed(
      'What is the reply to a path of another product of the service, such as a product that may answer 402?',
      '404, as for every unknown path: other products are not emulated, and no reply is 402',
      { observableWith: 'not from outside: the paths of other products are not known', section: '1' },
    ),
    'requests.selectors': assumed(
      'What is the reply to workspace (in lists and metrics) or workspaceId (in creates) from a key that may not ' +
        'select a workspace?',
      {
        forbidden: '403, even for its own workspace',
        invalid: '400',
        ignored: 'the usual reply: the field is ignored, and the key keeps its scope',
      },
      { section: '4.4' },
    ),
    'requests.query': assumed(
      'What happens to query parameters that are unknown or repeated?',
      'unknown parameters are ignored; if a parameter is repeated, its first value is used',
      { section: '4' },
    ),
    'requests.letter-case': assumed(
      'Are ids, and names in a path, case-sensitive?',
      'no, they are compared and stored in lower case',
      { section: '4' },
    ),
  },
);
