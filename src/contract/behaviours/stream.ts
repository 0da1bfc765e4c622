import { defineBehaviours } from '../behaviour.ts';

export const streamBehaviours = defineBehaviours('6', 'key', {
  'stream.tiers': {
    question: 'Which keys may open an event stream?',
    assumption: 'tk_, wk_ and ak_; an operator key gets 403',
    origin: 'reference',
  },
  'stream.key': {
    question: 'How is the key of a stream sent?',
    section: '5, rule 1',
    choices: { 'header-or-query': 'in a header or as ?api_key=; the header has priority', header: 'in a header only' },
    origin: 'reference',
  },
  'stream.before-subscribe': {
    question: 'Which events does GET /v1/ws send before the first subscribe frame?',
    choices: { nothing: 'none', everything: 'every event within the scope of the key' },
  },
  'stream.subscribe.again': {
    question: 'What does another subscribe frame do?',
    assumption: 'it replaces the previous one',
  },
  'stream.subscribe.empty': {
    question: 'What does an empty or missing list in a subscribe frame mean?',
    assumption: 'all kinds of event, or all inboxes within the scope of the key',
  },
  'stream.subscribe.out-of-scope': {
    question: 'What is the reply to a subscription to an inbox or a workspace outside the scope of the key?',
    assumption: 'an error frame; the previous subscription stays',
  },
  'stream.alias': {
    question: 'What does /v1/inboxes/{id}/ws send after the connected frame?',
    choices: { subscribed: 'a subscribed frame that names its inbox', silent: 'nothing' },
  },
  'stream.event.message': {
    question: 'Does the message in an event frame contain its id?',
    choices: { 'with-id': 'yes, as message_id', reference: 'no, only the fields in the reference' },
    default: 'reference',
    origin: 'reference',
  },
  'stream.ping': {
    told: 'time',
    question: 'How often is a ping sent?',
    choices: { '30s': 'every 30 seconds', '5m': 'every 5 minutes', never: 'never' },
  },
  'stream.close': {
    question: 'With which close codes does the service end a stream?',
    assumption:
      '4401 when the key is no longer valid, 4429 when the client reads too slowly, 1001 when the server stops',
  },
});
