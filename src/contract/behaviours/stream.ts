import { defineBehaviours } from '../behaviour.ts';

/** The event stream. */
export const streamBehaviours = defineBehaviours({
  'stream.tiers': {
    question: 'Which keys may open an event stream?',
    section: '6',
    assumption: 'tk_, wk_ and ak_; the operator gets 403',
    origin: 'reference',
  },
  'stream.key': {
    question: 'How is the key of a stream sent?',
    section: '5, rule 1',
    choices: {
      'header-or-query': 'by a header or ?api_key=; the header wins',
      header: 'by a header only',
    },
    default: 'header-or-query',
    origin: 'reference',
  },
  'stream.before-subscribe': {
    question: 'What does GET /v1/ws tell before the first subscribe frame?',
    section: '6',
    choices: { nothing: 'nothing', everything: 'every event within the scope of the key' },
    default: 'nothing',
    origin: 'assumed',
  },
  'stream.subscribe.again': {
    question: 'What does a further subscribe frame do?',
    section: '6',
    assumption: 'it takes the place of the one before',
    origin: 'assumed',
  },
  'stream.subscribe.empty': {
    question: 'What does a list mean that is left out or empty?',
    section: '6',
    assumption: 'all kinds; all inboxes within the scope of the key',
    origin: 'assumed',
  },
  'stream.subscribe.out-of-scope': {
    question: 'What happens to a subscription to an inbox or a workspace out of scope?',
    section: '6',
    assumption: 'an error frame; the subscription before stays',
    origin: 'assumed',
  },
  'stream.alias': {
    question: 'What does /v1/inboxes/{id}/ws send after the connected frame?',
    section: '6',
    choices: { subscribed: 'a subscribed frame with its inbox', silent: 'nothing' },
    default: 'subscribed',
    origin: 'assumed',
  },
  'stream.event.message': {
    question: 'Does the message of an event frame have its id?',
    section: '6',
    choices: { 'with-id': 'yes, as message_id', reference: 'no, only what the reference shows' },
    default: 'reference',
    origin: 'reference',
  },
  'stream.ping': {
    question: 'How often is a ping sent?',
    section: '6',
    choices: { '30s': 'every 30 seconds', '5m': 'every 5 minutes', never: 'never' },
    default: '30s',
    origin: 'assumed',
  },
  'stream.close': {
    question: 'How does the service end a stream?',
    section: '6',
    assumption: 'with 4401 when its key ends, 4429 when the client reads too slowly, 1001 when the server ends',
    origin: 'assumed',
  },
});
