import { z } from 'zod';
import { lazy } from '../basics/lazy-schema.ts';
import { scenarioFileSchema } from './scenario.ts';

type Json = Record<string, unknown>;

/**
 * The JSON Schema of a file of scenarios, for editors. It cannot express everything, such as which names of mails there
 * are; the command says that.
 */
export const scenarioJsonSchema = lazy(
  (): Json => ({
    title: 'Scenarios of agent-mailbox-mock',
    ...toJsonSchema(scenarioFileSchema()),
  }),
);

function toJsonSchema(schema: z.ZodType): Json {
  return z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const { describedBy } = jsonSchema as { readonly describedBy?: () => z.ZodType };
      if (!describedBy) return;
      // The schema checks by code, which says nothing of the forms; this one has the same forms.
      const { $schema: _, ...described } = toJsonSchema(describedBy());
      for (const name of Object.keys(jsonSchema)) if (name !== 'description') delete jsonSchema[name];
      Object.assign(jsonSchema, described);
    },
  }) as Json;
}
