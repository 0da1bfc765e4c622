import { assumed, byReference, defineBehaviours } from '../behaviour.ts';

/** Behaviours of the event stream. */
export const streamBehaviours = defineBehaviours(
  { section: '6', observableWith: 'key' },
  {
    'stream.tiers': byReference('Which keys may open an event stream?', 'tk_, wk_ and ak_; an operator key gets 403'),
    'stream.key': byReference(
      'How is the key of a stream sent?',
      { 'header-or-query': 'in a header or as ?api_key=; the header has priority', header: 'in a header only' },
      { section: '5, rule 1' },
    ),
    'stream.before-subscribe': assumed('Which events does GET /v1/ws send before the first subscribe frame?', {
      nothing: 'none',
      everything: 'every event within the scope of the key',
    }),
    'stream.subscribe.again': assumed('What does another subscribe frame do?', 'it replaces the previous subscription'),
    'stream.subscribe.empty': assumed(
      'What does an empty or missing list in a subscribe frame mean?',
      'all kinds of event, or all inboxes within the scope of the key',
    ),
    'stream.subscribe.out-of-scope': assumed(
      'What is the reply to a subscription to an inbox or a workspace outside the scope of the key?',
      'an error frame; the previous subscription stays',
    ),
    'stream.bad-frame': assumed(
      'What is the reply to a frame that is not valid?',
      'an error frame; the stream stays open, and its subscription stays',
    ),
    'stream.alias': assumed('What does /v1/inboxes/{id}/ws send after the connected frame?', {
      subscribed: 'a subscribed frame that names its inbox',
      silent: 'nothing',
    }),
    'stream.event.message': byReference(
      'Does the message in an event frame contain its id?',
      { 'with-id': 'yes, as message_id', reference: 'no, only the fields in the reference' },
      { default: 'reference' },
    ),
    'stream.ping': assumed(
      'How often is a ping sent?',
      { '30s': 'every 30 seconds', '5m': 'every 5 minutes', never: 'never' },
      { observableWith: 'time' },
    ),
    'stream.close': assumed(
      'With which close codes does the service end a stream?',
      '4401 when the key is no longer valid, 4429 when the client reads too slowly, 1001 when the server stops',
    ),
  },
);
