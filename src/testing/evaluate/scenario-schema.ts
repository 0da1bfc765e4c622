import { z } from 'zod';
import { lazy } from '../../basics/lazy-schema.ts';
import { CREATED_KINDS } from '../matchers/parse-expected.ts';
import { EXPECTATION_NAMES, EXPECTATIONS } from './expectation-table.ts';
import { DEFAULT_CLOCK, DEFAULT_LIMITS } from './parse-scenarios.ts';
import { TOLD } from './scenario.ts';
import { findStep, STEP_NAMES } from './step-table.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of a file of scenarios, for editors. It cannot express everything, such as which names of mails there
 * are; the command says that.
 */
export const scenarioJsonSchema = lazy((): Json => {
  const agent = object({
    inbox: text('The address of the inbox that the agent looks after.'),
    told: { enum: TOLD, default: 'webhook', description: 'How the agent learns of mail.' },
    path: text('Only with webhook: the path at which the agent receives deliveries.'),
    control: { type: 'boolean', default: false, description: 'Whether the agent gets a token for the control plane.' },
  });
  const given = object({
    clock: { type: 'string', format: 'date-time', default: DEFAULT_CLOCK, description: 'The time at the start.' },
    behaviours: { type: 'object', additionalProperties: { type: 'string' }, description: 'Behaviours, by their ids.' },
    mail: { type: 'array', items: valueOfStep('deliver'), description: 'The mails that are there at the start.' },
  });
  const limits = object({
    requests: { type: 'integer', minimum: 0, default: DEFAULT_LIMITS.requests },
    mails: { type: 'integer', minimum: 0, default: DEFAULT_LIMITS.mails },
    realTime: { type: ['string', 'integer'], description: 'Real time, such as 60s.' },
  });
  const steps = { type: 'array', items: { $ref: '#/$defs/step' } };
  const expect = { type: 'array', minItems: 1, items: { $ref: '#/$defs/expectation' } };
  const scenario = {
    ...object({
      name: text('The name; no other scenario may have it.'),
      description: text('What the scenario shows, for people.'),
      parameters: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'Parameters with their default values; {{name}} in a text stands for the value of one.',
      },
      agent,
      given,
      steps,
      expect,
      limits,
      idle: { const: 'passes', description: 'An agent that does nothing may pass.' },
      twin: { ...object({ steps, expect }), description: 'The harmless form of the scenario.' },
    }),
    required: ['name', 'steps', 'expect'],
  };
  const samples = {
    ...object({
      samples: {
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
        description: 'Names of samples, or patterns such as injection/*.',
      },
      agent,
      given,
      limits,
    }),
    required: ['samples'],
  };
  const item = { anyOf: [{ $ref: '#/$defs/scenario' }, { $ref: '#/$defs/samples' }] };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Scenarios of agent-mailbox-mock',
    anyOf: [...item.anyOf, { type: 'array', minItems: 1, items: item }],
    $defs: {
      scenario,
      samples,
      step: { anyOf: STEP_NAMES.map(schemaOfStep) },
      judged: { anyOf: EXPECTATION_NAMES.map(schemaOfExpectation) },
      expectation: {
        anyOf: [{ $ref: '#/$defs/judged' }, { ...object({ never: { $ref: '#/$defs/judged' } }), required: ['never'] }],
      },
    },
  };
});

function object(properties: Json): Json {
  return { type: 'object', properties, additionalProperties: false };
}

function text(description: string): Json {
  return { type: 'string', description };
}

/** Returns the schema of the value of a step. */
function valueOfStep(name: string): Json {
  const row = findStep(name);
  if (!row) return {};
  const { $schema: _, ...value } = z.toJSONSchema((row.described ?? row.schema)(), {
    io: 'input',
    unrepresentable: 'any',
  }) as Json;
  return value;
}

function schemaOfStep(name: string): Json {
  const row = findStep(name);
  if (!row) return {};
  const value = valueOfStep(name);
  const forms = name === 'sample' || name === 'fault' ? { anyOf: [{ type: 'string' }, value] } : value;
  const named = row.isMail ? 'the mail' : 'the first mail that this correspondent sends';
  const as = row.isMail || row.namesAnswer ? { as: text(`The name of ${named} in this scenario.`) } : {};
  return { ...object({ [name]: { ...forms, description: row.help }, ...as }), required: [name] };
}

function schemaOfExpectation(name: (typeof EXPECTATION_NAMES)[number]): Json {
  const { help, fields, forms, required } = EXPECTATIONS[name];
  const anyOf: Json[] = forms.map((form) =>
    form === 'true' ? { const: true } : form === 'kind' ? { enum: CREATED_KINDS } : { type: 'string' },
  );
  if (fields) {
    const properties = Object.fromEntries(fields.map((field) => [field, field === 'times' ? { type: 'integer' } : {}]));
    anyOf.push({ ...object(properties), ...(required && { required: [required] }) });
  } else if (required) anyOf.push({ type: 'object', required: [required] });
  const value = anyOf.length === 1 ? { ...anyOf[0] } : { anyOf };
  return { ...object({ [name]: { ...value, description: help } }), required: [name] };
}
