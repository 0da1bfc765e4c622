import { defineBehaviours } from '../behaviour.ts';

/** How any request is read and any error told. */
export const requestBehaviours = defineBehaviours({
  'auth.both-headers': {
    question: 'Which key counts when X-API-Key and Authorization carry different keys?',
    section: '5',
    choices: {
      'x-api-key': 'X-API-Key wins',
      authorization: 'Authorization wins',
      refuse: 'the request is refused with 401',
    },
    default: 'x-api-key',
    origin: 'assumed',
  },
  'auth.wrong-tier': {
    question: 'What answers a valid key whose tier may not call an operation?',
    section: '7',
    choices: { forbidden: '403', 'not-found': '404, as for a route that does not exist' },
    default: 'forbidden',
    origin: 'reference',
  },
  'errors.shape': {
    question: 'What is the body of an error?',
    section: '7',
    choices: { 'error-and-code': '{ error, code }', 'error-only': '{ error }' },
    default: 'error-and-code',
    origin: 'reference',
  },
  'errors.foreign-resource': {
    question: "What answers an id that belongs to another tenant, or lies outside the key's workspace or inbox?",
    section: '7',
    choices: {
      'not-found': '404, as for an id that does not exist',
      forbidden: '403, so that the caller learns that it exists',
    },
    default: 'not-found',
    origin: 'assumed',
  },
  'requests.wrong-method': {
    question: 'What answers a known path with a method it does not have?',
    section: '7',
    choices: { 'method-not-allowed': '405 with Allow', 'not-found': '404' },
    default: 'method-not-allowed',
    origin: 'assumed',
  },
  'requests.check-order': {
    question: 'Does a wrong path or method answer before the key is looked at?',
    section: '7',
    choices: { 'route-first': 'yes, 404 or 405 to everyone', 'key-first': 'no, 401 without a valid key' },
    default: 'route-first',
    origin: 'assumed',
  },
  'requests.trailing-slash': {
    question: 'Is a path with a trailing slash the same path?',
    section: '4',
    choices: { 'not-found': 'no, 404', ignored: 'yes' },
    default: 'not-found',
    origin: 'assumed',
  },
  'requests.head': {
    question: 'What answers HEAD where there is a GET?',
    section: '4',
    choices: { 'as-get': 'what GET answers, without the body', refused: '405' },
    default: 'as-get',
    origin: 'assumed',
  },
  'requests.options': {
    question: 'What answers OPTIONS?',
    section: '4',
    choices: { allow: '204 with Allow, to anyone', refused: '405' },
    default: 'allow',
    origin: 'assumed',
  },
  'requests.malformed-id': {
    question: 'What answers a path id that is not a UUID?',
    section: '7',
    choices: { 'not-found': '404, as for an id that does not exist', invalid: '400' },
    default: 'not-found',
    origin: 'assumed',
  },
  'requests.undecodable-path': {
    question: 'What answers a path whose percent-encoding does not decode?',
    section: '7',
    choices: { invalid: '400', 'not-found': '404' },
    default: 'invalid',
    origin: 'assumed',
  },
  'requests.unknown-fields': {
    question: 'What happens to body fields that the operation does not know?',
    section: '4',
    choices: { ignored: 'they are dropped', refused: 'the request is refused with 400' },
    default: 'ignored',
    origin: 'assumed',
  },
  'requests.content-type': {
    question: 'Must a body be declared as application/json?',
    section: '4',
    choices: { any: 'no, a body is read as JSON whatever its type', json: 'yes, anything else is refused with 415' },
    default: 'any',
    origin: 'assumed',
  },
  'requests.malformed-body': {
    question: 'What answers a body that is not a JSON object?',
    section: '7',
    choices: { invalid: '400, as for one that fails validation; also where the operation takes no body' },
    default: 'invalid',
    origin: 'assumed',
  },
  'requests.limits': {
    question: 'How long may the values of a body be?',
    section: '8',
    choices: {
      fixed:
        'in characters: a url 2048, a name 200, a subject 998, a mail body 500000, a description 2000, an address 254, a domain 253, a user name 64, a slug 63, metadata 16384 and 10 levels; at most 100 event kinds, and 50 addresses or 50000 characters of them in one text; then 400',
    },
    default: 'fixed',
    origin: 'assumed',
  },
  'requests.body-limit': {
    question: 'How large may a body be?',
    section: '8',
    choices: { '1MiB': '1,048,576 bytes, then 413' },
    default: '1MiB',
    origin: 'assumed',
  },
  'requests.storage-limit': {
    question: 'How much mail is stored in all, and what answers mail that does not fit?',
    section: '8',
    choices: {
      '507':
        '256 MiB with files and raw mail, of all tenants, unless --max-mail or maxMailBytes says otherwise; then 507, over SMTP 452, and nothing is stored',
    },
    default: '507',
    origin: 'assumed',
  },
  'requests.selectors': {
    question:
      'What answers workspace (lists, metrics) or workspaceId (creates) from a key that may not select a workspace?',
    section: '4.4',
    choices: {
      forbidden: '403, even for its own workspace',
      invalid: '400',
      ignored: 'nothing: the key keeps its scope',
    },
    default: 'forbidden',
    origin: 'assumed',
  },
  'requests.query': {
    question: 'What of query parameters that are not known, or repeated?',
    section: '4',
    choices: {
      lenient: 'they are ignored; of a repeated one the first counts',
    },
    default: 'lenient',
    origin: 'assumed',
  },
  'requests.letter-case': {
    question: 'Are ids and names in a path compared with regard to case?',
    section: '4',
    choices: {
      ignored: 'no: they are looked up in lower case',
    },
    default: 'ignored',
    origin: 'assumed',
  },
});
