import type { BehaviourValues, ChangeableId, ReadBehaviour } from '../behaviours.ts';
import { assumptionsAbout, changeableDefinition, createSilentReader, RecordingReader } from '../behaviours.ts';
import { buildOnce } from '../build-once.ts';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { EVENT_KINDS } from '../events.ts';
import { type OperationDefinition, tiersOf } from '../operation.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../operations.ts';
import { TIER_PREFIX, TIERS } from '../tiers.ts';
import type { CallExample, DescribedRow, DescribedSuccess, Json, OpenApiDocument } from './document.ts';
import { ASSUMED_HEADER, createDocument, jsonContent, toJsonSchema } from './document.ts';
import { deliveryPayload } from './event-schemas.ts';
import examples from './examples.json' with { type: 'json' };

const DESCRIPTION = `The API that agent-mailbox-mock emulates, under its current behaviours.

In addition to the errors of each operation, any request can return these:

- 404 \`NOT_FOUND\` for an unknown path, and 405 \`METHOD_NOT_ALLOWED\` for an unsupported method.
- 408 \`REQUEST_TIMEOUT\` and 431 \`HEADERS_TOO_LARGE\` from the HTTP server itself.

A test author can also set a fault, with which any operation may return any status.

HEAD returns the reply to GET without its body; OPTIONS returns 204 with \`Allow\`. Behaviours can disable both.`;

/** Creates the OpenAPI 3.1 document of the operation table under these behaviours. */
export function createOpenApi(behaviours: BehaviourValues): OpenApiDocument {
  return createDocument({
    title: 'Agent Mailbox Service (emulated)',
    description: DESCRIPTION,
    tags: TAGS,
    rows: OPERATION_IDS.map((id) => describeOperation(id, behaviours)),
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
    headers: {
      'X-Mock-Assumed': {
        description:
          'The ids of the changeable behaviours that were read for this reply. A behaviour is left out if the service ' +
          'document states its current value. The command `npx agent-mailbox-mock behaviours` explains them.',
        schema: { type: 'string' },
        example: 'webhooks.create.url, webhooks.create.is-active',
      },
    },
    webhooks: describeDeliveries(behaviours),
    errorForm: { hasCode: behaviours['errors.shape'] !== 'error-only', headers: ASSUMED_HEADER },
  });
}

const TIMESTAMPS: Record<BehaviourValues['deliveries.timestamp'], string> = {
  real: 'When the attempt was made, in seconds of real time since 1970.',
  clock: 'When the attempt was made, in seconds since 1970 by the clock of the tenant.',
};

/** Describes the delivery of each kind of event (reference, "Delivery"). */
function describeDeliveries(behaviours: BehaviourValues): Json {
  const { readBehaviour } = createSilentReader(behaviours);
  const signature = readBehaviour('deliveries.signature');
  const headers = {
    'webhook-id': 'The id of the delivery, for idempotence.',
    'webhook-timestamp': TIMESTAMPS[readBehaviour('deliveries.timestamp')],
    ...(signature !== 'hex' && {
      'webhook-signature': 'The signature as Standard Webhooks defines it: v1, and base64.',
    }),
    ...(signature !== 'standard' && {
      [readBehaviour('deliveries.signature.header')]: 'The hex HMAC-SHA256 of the body.',
    }),
  };
  const parameters = Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  const delivery = (kind: string) => ({
    operationId: `deliver ${kind}`.replace(/[ .](.)/g, (_, letter: string) => letter.toUpperCase()),
    summary: `Deliver ${kind} to a webhook`,
    tags: [tagOf('/v1/webhooks')],
    security: [],
    parameters,
    requestBody: { required: true, content: jsonContent(toJsonSchema(deliveryPayload(readBehaviour), 'output')) },
    responses: { '2XX': { description: 'The delivery was received; any other status is a failure.' } },
  });
  return Object.fromEntries(EVENT_KINDS.map((kind) => [kind, { post: delivery(kind) }]));
}

/** Describes one row of the operation table under these behaviours. */
export function describeOperation(id: OperationId, behaviours: BehaviourValues): DescribedRow {
  const row: OperationDefinition = OPERATIONS[id];
  const reader = new RecordingReader(behaviours);
  const { readBehaviour } = createSilentReader(behaviours);
  const hasDefault = (id: ChangeableId) => behaviours[id] === changeableDefinition(id).default;
  const build = <Value>(part: (readBehaviour: ReadBehaviour) => Value): Value => {
    const { value, valuesRead } = buildOnce(part, readBehaviour);
    for (const each of valuesRead.keys()) reader.readBehaviour(each);
    return value;
  };
  const { status, reply, content, otherStatus, otherReply } = row;
  const query = row.query && build(row.query);
  const body = row.body && build(row.body);
  const successes: DescribedSuccess[] = [{ status, schema: build(reply), content, headers: ASSUMED_HEADER }];
  const otherSchema = otherReply && build(otherReply);
  if (otherStatus !== undefined) successes.push({ status: otherStatus, schema: otherSchema, headers: ASSUMED_HEADER });
  return {
    id,
    method: row.method,
    path: row.path,
    summary: row.summary,
    description: createDescription(id, row, reader),
    tag: tagOf(row.path),
    security: row.tiers === 'public' ? [] : [{ apiKey: [] }, { bearer: [] }],
    params: row.params?.(),
    query,
    body,
    isBodyStrict: behaviours['requests.unknown-fields'] === 'refused',
    successes,
    errors: errorsOf(row, readBehaviour),
    // The examples were recorded with the default values.
    example: [...reader.behavioursRead].every(hasDefault) ? EXAMPLES[id] : undefined,
  };
}

/** For each operation, a call with the default fixture. `npm run docs` records these calls. */
const EXAMPLES: Readonly<Record<OperationId, CallExample>> = examples;

function createDescription(id: OperationId, row: OperationDefinition, reader: RecordingReader): string {
  const { readBehaviour, behavioursRead, behaviours } = reader;
  const tiers = tiersOf(row, readBehaviour).map((tier) => `\`${TIER_PREFIX[tier]}\``);
  const source = row.section ? `${row.origin}, section ${row.section}` : row.origin;
  const choices = [...behavioursRead].map((each) => `\`${each}=${behaviours[each]}\``);
  const assumptions = assumptionsAbout(id).map((each) => `\`${each}\``);
  return [
    `Called with: ${row.tiers === 'public' ? 'no key' : tiers.join(', ')}. Origin: ${source}.`,
    ...(choices.length > 0 ? [`Behaviours: ${choices.join(', ')}.`] : []),
    ...(assumptions.length > 0 ? [`Assumptions: ${assumptions.join(', ')}.`] : []),
  ].join('\n\n');
}

/** Returns the errors that an operation can return. */
export function errorsOf(row: OperationDefinition, readBehaviour: ReadBehaviour): ErrorCode[] {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return codes.filter((code) => row.errors?.includes(code) || CAN_RETURN[code]?.(row, readBehaviour));
}

/** For the error codes that no row lists in `errors`: returns whether an operation can return the error. */
const CAN_RETURN: Partial<Record<ErrorCode, (row: OperationDefinition, readBehaviour: ReadBehaviour) => boolean>> = {
  VALIDATION_ERROR: (row) => canHaveBody(row) || row.query !== undefined || row.params !== undefined,
  UNAUTHORIZED: ({ tiers }) => tiers !== 'public',
  FORBIDDEN: (row, readBehaviour) =>
    (mayRefuseTier(row, readBehaviour) && readBehaviour('auth.wrong-tier') === 'forbidden') ||
    ((row.params !== undefined || row.errors?.includes('NOT_FOUND') === true) &&
      readBehaviour('errors.foreign-resource') === 'forbidden'),
  HOST_NOT_ALLOWED: () => true,
  NOT_FOUND: (row, readBehaviour) =>
    row.params !== undefined || (mayRefuseTier(row, readBehaviour) && readBehaviour('auth.wrong-tier') === 'not-found'),
  PAYLOAD_TOO_LARGE: canHaveBody,
  // An operation also returns this error when too many bodies arrive at once.
  STORAGE_FULL: canHaveBody,
  UNSUPPORTED_MEDIA_TYPE: (row, readBehaviour) => canHaveBody(row) && readBehaviour('requests.content-type') === 'json',
  // A fault can limit the rate of any request.
  RATE_LIMITED: () => true,
  INTERNAL_ERROR: () => true,
  // A reset may come while the request runs.
  SERVER_UNAVAILABLE: () => true,
};

/** Returns whether a request to the operation can have a body. Any body is parsed, except in a GET request. */
function canHaveBody({ method }: OperationDefinition): boolean {
  return method !== 'GET';
}

function mayRefuseTier(row: OperationDefinition, readBehaviour: ReadBehaviour): boolean {
  return row.tiers !== 'public' && tiersOf(row, readBehaviour).length < TIERS.length;
}

/** The groups of operations, most general first: a description, and path segments. `tagOf` finds groups by segments. */
const GROUPS: Readonly<Record<string, readonly [description: string, ...segments: string[]]>> = {
  Service: ['The service itself, and the scope of a key.', 'health', 'me', 'metrics', 'verify-email'],
  Tenants: ['The customers of the platform; they share no data.', 'tenants'],
  Workspaces: ['The groups of inboxes of a tenant.', 'workspaces'],
  Inboxes: ['The addresses of agents.', 'inboxes'],
  Domains: ['The domains under which inboxes get their addresses.', 'domains'],
  Messages: ['Reading, marking and sending mail.', 'messages', 'send', 'reply', 'reply-all', 'forward'],
  Threads: ['Conversations.', 'threads'],
  Drafts: ['Mail that is not sent yet.', 'drafts'],
  Lists: ['Lists of contacts.', 'lists'],
  Keys: ['The API keys of workspaces and inboxes.', 'keys'],
  Webhooks: ['URLs that are notified of events.', 'webhooks'],
};

/** The groups, as an OpenAPI document lists them. */
const TAGS = Object.entries(GROUPS).map(([name, [description]]) => ({ name, description }));

/**
 * Returns the group of a path: the last group that lists a segment of the path. If no group does, returns the path, so
 * that the OpenAPI linter reports it.
 */
function tagOf(path: string): string {
  const parts = path.split('/');
  const hasSegment = (name: string) => GROUPS[name]?.slice(1).some((segment) => parts.includes(segment));
  return Object.keys(GROUPS).findLast(hasSegment) ?? path;
}
