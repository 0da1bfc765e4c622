import type { BehaviourValues } from '../behaviours.ts';
import { OPERATION_IDS, OPERATIONS } from '../operations.ts';
import { describeOperation } from './describe-operation.ts';
import { createDocument, type OpenApiDocument } from './document.ts';
import { ASSUMED_HEADER } from './error-responses.ts';
import { TAGS } from './tags.ts';

const DESCRIPTION = `The API that agent-mailbox-mock emulates, under its current behaviours.

In addition to the errors of each operation, any request can return these:

- 404 \`NOT_FOUND\` for an unknown path, and 405 \`METHOD_NOT_ALLOWED\` for an unsupported method.
- 408 \`REQUEST_TIMEOUT\` and 431 \`HEADERS_TOO_LARGE\` from the HTTP server itself.

HEAD returns the reply to GET without its body; OPTIONS returns 204 with \`Allow\`. Behaviours can disable both.`;

/** Creates the OpenAPI 3.1 document of the operation table under these behaviours. */
export function createOpenApi(behaviours: BehaviourValues): OpenApiDocument {
  return createDocument({
    title: 'Agent Mailbox Service (emulated)',
    description: DESCRIPTION,
    tags: TAGS,
    rows: OPERATION_IDS.map((id) => describeOperation(id, OPERATIONS[id], behaviours)),
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
    headers: {
      'X-Mock-Assumed': {
        description:
          'The ids of the behaviours that this reply depends on. A behaviour is left out if the service document ' +
          'states its current value. The command `npx agent-mailbox-mock behaviours` explains them.',
        schema: { type: 'string' },
        example: 'webhooks.create.secret, webhooks.create.is-active',
      },
    },
    errorForm: { hasCode: behaviours['errors.shape'] !== 'error-only', headers: ASSUMED_HEADER },
  });
}
