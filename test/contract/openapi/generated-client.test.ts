import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMailbox } from 'agent-mailbox-mock';
import openapiTs, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { beforeAll, describe, expect, test } from 'vitest';
import { compileProject, NO_ERRORS } from '../../support/compile-project.ts';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { ROOT } from '../../support/root.ts';

interceptRequests();

const FOLDER = join(ROOT, 'test/generated-client');

beforeAll(async () => {
  const document = createMailbox().openApi() as unknown as OpenAPI3;
  await writeFile(join(FOLDER, 'schema.d.ts'), astToString(await openapiTs(document)));
});

/** Loaded so that the compiler does not see it here: its types are there only once they are generated. */
async function loadStory(): Promise<{
  tellAgentStory(baseUrl: string, keys: { readonly workspace: string; readonly customer: string }): Promise<void>;
}> {
  return import(join(FOLDER, 'agent-story.ts'));
}

describe('a client that is generated from the OpenAPI document', () => {
  test('has types under which the story of an agent compiles, and its mistakes do not', async () => {
    expect(await compileProject(FOLDER, 'typescript7')).toEqual(NO_ERRORS);
  });

  everywhere('drives the story of an agent', async ({ url, mailbox }) => {
    const { tellAgentStory } = await loadStory();
    const { workspaces, inboxes } = mailbox.keys.acme;
    await tellAgentStory(url, { workspace: workspaces.support, customer: inboxes.billing });
  });
});
