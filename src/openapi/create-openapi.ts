import type { Choices } from '../contract/behaviours.ts';
import { OPERATION_IDS, OPERATIONS } from '../contract/operations.ts';
import { describeOperation } from './describe-operation.ts';
import { createDocument, type OpenApiDocument } from './document.ts';
import { ASSUMED } from './error-responses.ts';
import { TAGS } from './tags.ts';

const DESCRIPTION = `What agent-mailbox-mock emulates, under the behaviours that it runs with.

Besides what each operation lists, any request can meet these:

- 404 \`NOT_FOUND\` for a path that is not here, and 405 \`METHOD_NOT_ALLOWED\` for a method that is not here.
- 408 \`REQUEST_TIMEOUT\` and 431 \`HEADERS_TOO_LARGE\` from the server itself.

HEAD answers what GET answers, without the body; OPTIONS answers 204 with \`Allow\`. Behaviours can refuse both.`;

/** Describes the operation table, as these choices shape it, in OpenAPI 3.1. */
export function createOpenApi(choices: Choices): OpenApiDocument {
  return createDocument({
    title: 'Agent Mailbox Service (emulated)',
    description: DESCRIPTION,
    tags: TAGS,
    rows: OPERATION_IDS.map((id) => describeOperation(id, OPERATIONS[id], choices)),
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
    headers: {
      Assumed: {
        description: 'The behaviours that shaped this reply and that the service document does not state.',
        schema: { type: 'string' },
        example: 'webhooks.create.secret, webhooks.create.is-active',
      },
    },
    errorForm: { hasCode: choices['errors.shape'] !== 'error-only', headers: ASSUMED },
  });
}
