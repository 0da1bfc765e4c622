import { defineBehaviours } from '../behaviour.ts';
import { INVENTED_CODES, INVENTED_STATUSES } from '../errors.ts';

/** Requests and error replies of every operation. */
export const requestBehaviours = defineBehaviours('7', 'key', {
  'auth.both-headers': {
    question: 'Which key is used when X-API-Key and Authorization contain different keys?',
    section: '5',
    choices: {
      'x-api-key': 'the one in X-API-Key',
      authorization: 'the one in Authorization',
      refuse: 'none: the request is refused with 401',
    },
  },
  'auth.wrong-tier': {
    question: 'What is the reply to a valid key whose tier may not call the operation?',
    choices: { forbidden: '403', 'not-found': '404, as for a route that does not exist' },
    origin: 'reference',
  },
  'errors.shape': {
    question: 'What is the body of an error?',
    choices: { 'error-and-code': '{ error, code }', 'error-only': '{ error }' },
    origin: 'reference',
  },
  'errors.statuses': {
    question: 'Which status does an error have?',
    assumption:
      '400 for a request that is not valid, with VALIDATION_ERROR; 401 for a missing or invalid key; ' +
      '403 for what is not allowed, with INBOX_PAUSED for a paused inbox; 404 for what does not exist; ' +
      '409 for what already exists, with USERNAME_TAKEN for an address; 502 if the mail relay fails',
    origin: 'reference',
  },
  'errors.codes': {
    told: 'not from outside: most of these errors cannot be caused by a request',
    question: 'Which statuses and codes of errors does no source state?',
    assumption: `the statuses ${INVENTED_STATUSES.join(', ')}, and the codes ${INVENTED_CODES.join(', ')}`,
  },
  'errors.foreign-resource': {
    question: "What is the reply to an id that belongs to another tenant, or is outside the key's workspace or inbox?",
    choices: {
      'not-found': '404, as for an id that does not exist',
      forbidden: '403, which shows the caller that the id exists',
    },
  },
  'requests.wrong-method': {
    question: 'What is the reply to a known path with a method that it does not support?',
    choices: { 'method-not-allowed': '405 with an Allow header', 'not-found': '404' },
  },
  'requests.check-order': {
    question: 'Are the path and the method checked before the key?',
    choices: {
      'route-first': 'yes: a wrong one is 404 or 405 for every caller',
      'key-first': 'no: without a valid key, the reply is always 401',
    },
  },
  'requests.trailing-slash': {
    question: 'Is a trailing slash in a path ignored?',
    section: '4',
    choices: { 'not-found': 'no, the reply is 404', ignored: 'yes' },
  },
  'requests.head': {
    question: 'What is the reply to HEAD on a path that supports GET?',
    section: '4',
    choices: { 'as-get': 'the reply to GET, without its body', refused: '405' },
  },
  'requests.options': {
    question: 'What is the reply to OPTIONS?',
    section: '4',
    choices: { allow: '204 with an Allow header, with or without a key', refused: '405' },
  },
  'requests.malformed-id': {
    question: 'What is the reply to an id in the path that is not a UUID?',
    choices: { 'not-found': '404, as for an id that does not exist', invalid: '400' },
  },
  'requests.undecodable-path': {
    question: 'What is the reply to a path whose percent-encoding cannot be decoded?',
    choices: { invalid: '400', 'not-found': '404' },
  },
  'requests.unknown-fields': {
    question: 'What happens to unknown fields in a body?',
    section: '4',
    choices: { ignored: 'they are ignored', refused: 'the request is refused with 400' },
  },
  'requests.content-type': {
    question: 'Must a body be declared as application/json?',
    section: '4',
    choices: { any: 'no, every body is read as JSON', json: 'yes, any other type is refused with 415' },
  },
  'requests.malformed-body': {
    question: 'What is the reply to a body that is not a JSON object?',
    assumption: '400, as for a body that fails validation, even if the operation takes no body',
  },
  'requests.limits': {
    told: 'not from outside: no experiment fills a limit',
    question: 'How long may the values in a body be?',
    section: '8',
    assumption:
      'in characters: a url 2048, a name 200, a subject 998, a mail body 500000, a description 2000, an address ' +
      '254, a domain 253, a user name 64, a slug 63, metadata 16384 and 10 levels; ' +
      'at most 100 event kinds, and 50 addresses or 50000 characters of addresses in one string; ' +
      'anything longer is refused with 400',
  },
  'requests.body-limit': {
    told: 'not from outside: no experiment fills a limit',
    question: 'How large may a body be?',
    section: '8',
    assumption: '1,048,576 bytes; a larger one is refused with 413',
  },
  'requests.storage-limit': {
    told: 'not from outside: no experiment fills a limit',
    question: 'How much mail can be stored in total, and what is the reply to mail that does not fit?',
    section: '8',
    assumption:
      '256 MiB for all tenants together, including attachments and raw mail, unless --max-mail or maxMailBytes sets ' +
      'another limit, or the process may use too little memory; then 507, or 452 over SMTP, and nothing is stored',
  },
  'requests.rate-limits': {
    told: 'not from outside: no experiment fills a limit',
    question: 'Which rate limits and quotas are there?',
    section: '8',
    assumption:
      'none, unless a fault sets a rate limit; then replies have the headers RateLimit-Limit, RateLimit-Remaining, ' +
      'RateLimit-Reset and RateLimit-Policy, and requests above the limit get 429 with Retry-After',
  },
  'requests.other-products': {
    told: 'not from outside: the paths of other products are not known',
    question: 'What is the reply to a path of another product of the service, such as one that may answer 402?',
    section: '1',
    assumption: '404, as for every unknown path: other products are not emulated, and no reply is 402',
  },
  'requests.selectors': {
    question:
      'What is the reply to workspace (in lists and metrics) or workspaceId (in creates) from a key that may not ' +
      'select a workspace?',
    section: '4.4',
    choices: {
      forbidden: '403, even for its own workspace',
      invalid: '400',
      ignored: 'the usual reply: the field is ignored, and the key keeps its scope',
    },
  },
  'requests.query': {
    question: 'What happens to query parameters that are unknown or repeated?',
    section: '4',
    assumption: 'unknown ones are ignored; of a repeated one, the first is used',
  },
  'requests.letter-case': {
    question: 'Are ids and names in a path case-sensitive?',
    section: '4',
    assumption: 'no, they are compared in lower case',
  },
});
