/** Where a default comes from: the service document, the public reference, or our own choice. */
export type Origin = 'document' | 'reference' | 'assumed';

/** One point that the service document leaves open, and how the emulator can decide it. */
export interface BehaviourDefinition {
  /** What the document does not say. */
  readonly question: string;
  /** The section of the service document that leaves it open. */
  readonly section: string;
  /** Each value the behaviour can take, with what it means. */
  readonly choices: Readonly<Record<string, string>>;
  readonly default: string;
  /** Where the default comes from. */
  readonly origin: Origin;
}

type Checked<Ledger> = {
  [Id in keyof Ledger]: Ledger[Id] & { default: keyof (Ledger[Id] & BehaviourDefinition)['choices'] };
};

function defineBehaviours<const Ledger extends Record<string, BehaviourDefinition>>(ledger: Ledger & Checked<Ledger>) {
  return ledger as Ledger;
}

/**
 * The behaviour ledger: every choice that the service document leaves open.
 * A test author switches one with `createMailbox({ behaviours: { [id]: value } })` or `--behaviour id=value`.
 */
export const BEHAVIOURS = defineBehaviours({
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
  'errors.shape': {
    question: 'What is the body of an error?',
    section: '7',
    choices: { 'error-and-code': '{ error, code }', 'error-only': '{ error }' },
    default: 'error-and-code',
    origin: 'reference',
  },
  'auth.wrong-tier': {
    question: 'What answers a valid key whose tier may not call an operation?',
    section: '7',
    choices: { forbidden: '403', 'not-found': '404, as for a route that does not exist' },
    default: 'forbidden',
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
    choices: { fixed: 'a url 2048 characters, a name 200, events 100; then 400' },
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
  'health.body': {
    question: 'What does GET /health answer?',
    section: '4',
    choices: { status: '{ status: "ok" }', empty: '{}' },
    default: 'status',
    origin: 'assumed',
  },
  'tenants.create.reply': {
    question: 'What does creating a tenant answer?',
    section: '4.4',
    choices: {
      'with-key': '{ id, name, apiKey, defaultWorkspaceId, createdAt }; its first tk_ key is only shown here',
    },
    default: 'with-key',
    origin: 'assumed',
  },
  'tenants.create.required': {
    question: 'What does creating a tenant need?',
    section: '4.4',
    choices: { name: 'a name that is not empty; white space around it is dropped' },
    default: 'name',
    origin: 'assumed',
  },
  'tenants.delete.body': {
    question: 'What does deleting a tenant answer?',
    section: '4.4',
    choices: { 'deleted-and-id': '{ deleted: true, id }', empty: '{}' },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'webhooks.tiers': {
    question: 'May a workspace key call the webhook operations?',
    section: '5, rule 4',
    choices: {
      'tenant-and-workspace': 'yes, for the webhooks of its own workspace',
      'tenant-only': 'no',
    },
    default: 'tenant-and-workspace',
    origin: 'reference',
  },
  'webhooks.other-tiers': {
    question: 'May an inbox key or the operator call the webhook operations?',
    section: '5, rule 4',
    choices: { refused: 'no' },
    default: 'refused',
    origin: 'assumed',
  },
  'webhooks.create.is-active': {
    question: 'Is a new webhook active?',
    section: '3',
    choices: { active: 'yes', inactive: 'no' },
    default: 'active',
    origin: 'assumed',
  },
  'webhooks.create.secret': {
    question: 'What does a secret look like?',
    section: '2',
    choices: { whsec: 'whsec_ and the base64 of 32 bytes, as Standard Webhooks has them' },
    default: 'whsec',
    origin: 'assumed',
  },
  'webhooks.create.required': {
    question: 'Which fields are required to create a webhook?',
    section: '4.1, rule 2',
    choices: {
      'url-and-events': 'url and events',
      url: 'url; without events it gets message.received',
    },
    default: 'url-and-events',
    origin: 'reference',
  },
  'webhooks.create.url': {
    question: 'Which urls may a webhook have?',
    section: '2',
    choices: { 'http-or-https': 'absolute http and https URLs', https: 'absolute https URLs only' },
    default: 'http-or-https',
    origin: 'assumed',
  },
  'webhooks.create.events': {
    question: 'Which event kinds may a webhook list?',
    section: '2',
    choices: {
      known: 'message.received, message.sent and message.bounced; at least one',
      'received-only': 'message.received, the one kind that the document names',
    },
    default: 'known',
    origin: 'reference',
  },
  'webhooks.create.repeated-events': {
    question: 'What happens to an event kind that is listed twice?',
    section: '2',
    choices: { kept: 'events are returned as sent', merged: 'each kind is kept once' },
    default: 'kept',
    origin: 'assumed',
  },
  'webhooks.list.order': {
    question: 'In which order are webhooks listed?',
    section: '4.2, rule 2',
    choices: { 'oldest-first': 'by creation, oldest first', 'newest-first': 'by creation, newest first' },
    default: 'oldest-first',
    origin: 'assumed',
  },
  'webhooks.list.secret': {
    question: 'Does the list show the secret?',
    section: '4.2',
    choices: {
      included: 'yes, as the document says',
      omitted: 'no, as the reference says: only the create reply shows it',
    },
    default: 'included',
    origin: 'document',
  },
  'webhooks.list.workspace-scope': {
    question: 'Does a workspace key also see the tenant-wide webhooks?',
    section: '5, rule 4',
    choices: { own: "no, only its workspace's", 'own-and-tenant-wide': 'yes, but it may not delete them' },
    default: 'own',
    origin: 'reference',
  },
  'webhooks.delete.body': {
    question: 'What does deleting a webhook answer?',
    section: '4.3',
    choices: {
      'deleted-and-id': '{ deleted: true, id }, as sibling deletes do',
      empty: '{}',
      none: 'no body',
    },
    default: 'deleted-and-id',
    origin: 'assumed',
  },
  'inboxes.rotate.tiers': {
    question: 'Who may rotate the key of an inbox?',
    section: '4.4',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ in its own workspace',
      'tenant-workspace-and-inbox': 'also ak_, for its own inbox',
      'tenant-only': 'tk_',
    },
    default: 'tenant-and-workspace',
    origin: 'assumed',
  },
  'inboxes.rotate.reply': {
    question: 'What does rotating the key of an inbox answer?',
    section: '4.4',
    choices: {
      'key-record': '{ id, key, prefix, inboxId, createdAt }, like the workspace key reply',
      'key-only': '{ key }',
    },
    default: 'key-record',
    origin: 'assumed',
  },
  'workspaces.keys.tiers': {
    question: 'Who may create, list and delete the keys of a workspace?',
    section: '4.4',
    choices: {
      'tenant-and-workspace': 'tk_, and wk_ for its own workspace',
      'tenant-only': 'tk_',
    },
    default: 'tenant-and-workspace',
    origin: 'reference',
  },
  'workspaces.keys.create.reply': {
    question: 'What does creating a workspace key answer?',
    section: '4.4',
    choices: {
      'key-record': '{ id, key, prefix, name, workspaceId, createdAt }; name is null when none was sent',
    },
    default: 'key-record',
    origin: 'reference',
  },
  'workspaces.keys.list.reply': {
    question: 'What does listing the keys of a workspace answer?',
    section: '4.4',
    choices: { keys: '{ keys: [{ id, prefix, name, createdAt }] }, oldest first, never the key itself' },
    default: 'keys',
    origin: 'reference',
  },
  'workspaces.keys.delete.body': {
    question: 'What does deleting a workspace key answer?',
    section: '4.4',
    choices: { 'revoked-and-id': '{ revoked: true, id }', empty: '{}' },
    default: 'revoked-and-id',
    origin: 'reference',
  },
});

/** The id of a ledger entry, such as `webhooks.delete.body`. */
export type BehaviourId = keyof typeof BEHAVIOURS;

/** The values that the behaviour `Id` can take. */
export type Choice<Id extends BehaviourId> = keyof (typeof BEHAVIOURS)[Id]['choices'];

/** A value for every behaviour. */
export type Choices = { readonly [Id in BehaviourId]: Choice<Id> };

/** The behaviours a user switches; the rest keep their defaults. */
export type BehaviourOptions = { readonly [Id in BehaviourId]?: Choice<Id> };

/** Reads the value of a behaviour. */
export type Choose = <Id extends BehaviourId>(id: Id) => Choice<Id>;

/** Every ledger id, in the ledger's order. */
export const BEHAVIOUR_IDS = Object.keys(BEHAVIOURS) as BehaviourId[];

/** Thrown for an unknown behaviour id or value; the message lists what there is. */
export class BehaviourError extends Error {
  override readonly name = 'BehaviourError';
}

/**
 * Fills the defaults in and checks what the user switched.
 *
 * @throws {BehaviourError} on an unknown id or value, with the list of what there is.
 */
export function parseBehaviours(options: Readonly<Record<string, unknown>> = {}): Choices {
  for (const [id, value] of Object.entries(options)) {
    if (value !== undefined) checkBehaviour(id, value);
  }
  const choices = BEHAVIOUR_IDS.map((id) => [id, options[id] ?? BEHAVIOURS[id].default]);
  return Object.freeze(Object.fromEntries(choices)) as Choices;
}

function checkBehaviour(id: string, value: unknown): void {
  if (!isBehaviourId(id)) {
    throw new BehaviourError(`There is no behaviour "${id}"; there are: ${BEHAVIOUR_IDS.join(', ')}.`);
  }
  const choices = Object.keys(BEHAVIOURS[id].choices);
  if (typeof value !== 'string' || !choices.includes(value)) {
    throw new BehaviourError(`Behaviour "${id}" cannot be ${JSON.stringify(value)}; it can be: ${choices.join(', ')}.`);
  }
}

function isBehaviourId(id: string): id is BehaviourId {
  return Object.hasOwn(BEHAVIOURS, id);
}

/**
 * Says whether a reply that depends on this behaviour must name it in `X-Mock-Assumed`:
 * unless the service document states the default and the default holds, it must.
 */
export function isAssumption(id: BehaviourId, value: string): boolean {
  return BEHAVIOURS[id].origin !== 'document' || value !== BEHAVIOURS[id].default;
}
