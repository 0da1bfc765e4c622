import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { defaultFixture } from 'agent-mailbox-mock';
import { showSize } from '../../src/basics/size.ts';
import type { Command } from '../../src/cli/command.ts';
import { CI_FILES } from '../../src/cli/commands/ci-files.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { byGroup, type FlagRow, START_FLAG_ROWS, START_FLAGS, variableOf } from '../../src/cli/flags.ts';
import { usageOf } from '../../src/cli/run.ts';
import {
  BEHAVIOUR_IDS,
  BEHAVIOURS,
  type BehaviourDefinition,
  type BehaviourId,
  type ChangeableDefinition,
  type ChangeableId,
  parseBehaviours,
} from '../../src/contract/behaviours.ts';
import { ERRORS } from '../../src/contract/errors.ts';
import { describeOperation } from '../../src/contract/openapi/create-openapi.ts';
import { type Json, toJsonSchema } from '../../src/contract/openapi/document.ts';
import { type OperationDefinition, tiersOf as tiersUnder } from '../../src/contract/operation.ts';
import { OPERATION_IDS, OPERATIONS, type OperationId } from '../../src/contract/operations.ts';
import { TIER_PREFIX, TIERS, type Tier } from '../../src/contract/tiers.ts';
import { NAMED_FAULTS } from '../../src/control/faults/named-faults.ts';
import { SEARCH_HELP } from '../../src/control/journal/from-entries/search-terms.ts';
import { samples } from '../../src/control/samples/create-sample.ts';
import { CARRIERS, GOALS, PLACES, WORDINGS } from '../../src/control/samples/made-injections.ts';
import { fieldNamesOf } from '../../src/control/table/control-openapi.ts';
import { listControlRows } from '../../src/control/table/table.ts';
import { expectationSchemas } from '../../src/evaluate/expectation-schema.ts';
import { EXPECTATIONS } from '../../src/evaluate/expectation-table.ts';
import { STEPS, type StepRow, stepSchemas } from '../../src/evaluate/step-table.ts';
import { parseFixture } from '../../src/fixture/parse-fixture.ts';
import { LIMITS, type Limit } from '../../src/server/server-limits.ts';
import { SIMULATORS } from '../../src/service/mail/route.ts';
import { DELIVERY_FAULTS, IMAP_FAULTS, REQUEST_FAULTS, STREAM_FAULTS } from '../../src/world/fault.ts';
import { DISAGREEMENTS } from '../control/samples/disagreements.ts';
import { TEXT_FORMS } from '../truth/texts.ts';
import { recordExamples } from './openapi-examples.ts';
import { ROOMS, ROOMS_WITHOUT_PAGE } from './rooms.ts';

type Cells = readonly string[];

const EXAMPLE = new URL('../example/', import.meta.url);

/** The files of the example with their text. Each is a block of its page. */
export const EXAMPLE_FILES: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(EXAMPLE)
    .filter((file) => /\.(json|py|ts)$/.test(file))
    .map((file) => [file, readFileSync(new URL(file, EXAMPLE), 'utf8')]),
);

/** The parts of the pages that are made from the code, by the name in their opening marker. */
export const PARTS: Readonly<Record<string, () => string>> = {
  rooms: roomsTable,
  'ci-github': () => `\`\`\`yaml evaluate.yml\n${CI_FILES.github.text}\`\`\``,
  'ci-gitlab': () => `\`\`\`yaml evaluate.gitlab-ci.yml\n${CI_FILES.gitlab.text}\`\`\``,
  ...Object.fromEntries(ROOMS_WITHOUT_PAGE.map((room) => [`room-${room}`, () => describeRoom(room)])),
  tiers: tiersTable,
  keys: keysTable,
  webhooks: webhooksTable,
  operations: operationsTable,
  emulated: emulatedList,
  shapes: shapesTable,
  behaviours: behaviourLists,
  errors: errorsTable,
  flags: flagsTables,
  'command-flags': commandFlagsTables,
  commands: commandsTable,
  simulators: simulatorsTable,
  'named-faults': namedFaultsTable,
  'request-faults': () => faultsTable(REQUEST_FAULTS),
  'delivery-faults': () => faultsTable(DELIVERY_FAULTS),
  'stream-faults': () => faultsTable(STREAM_FAULTS),
  'imap-faults': () => faultsTable(IMAP_FAULTS),
  control: controlList,
  limits: limitsTable,
  samples: samplesTables,
  search: searchTable,
  'sample-readings': sampleReadingsTable,
  'unseen-forms': unseenFormsTable,
  ...Object.fromEntries(
    Object.entries(EXAMPLE_FILES).map(([file, text]) => [
      `example-${file.replaceAll('.', '-')}`,
      () => `\`\`\`${extname(file).slice(1)} ${file}\n${text}\`\`\``,
    ]),
  ),
  'made-samples': madeSamplesTable,
  'evaluate-steps': stepsTable,
  'evaluate-expectations': expectationsTable,
};

/** The limits for clients of a server and for receivers. */
function limitsTable(): string {
  const rows = Object.values<Limit>(LIMITS).map(({ who, of, value, unit, protects, seen }) => {
    return [who, of, showLimit(value, unit), protects, seen];
  });
  return table(['For', 'Limit', 'Value', 'Protects', 'What a client sees that meets it'], rows);
}

function showLimit(value: number, unit: Limit['unit']): string {
  if (unit === 'bytes') return showSize(value);
  if (unit === 'of the room') return `${value * 100} % of the room`;
  if (unit !== 'ms') return `${value.toLocaleString('en')} ${unit}`;
  if (value < 1_000) return `${value} ms`;
  return value < 120_000 ? `${value / 1_000} s` : `${value / 60_000} min`;
}

/** The steps of scenarios, with the control calls that do them. */
function stepsTable(): string {
  const schemas = stepSchemas();
  const rows = Object.entries<StepRow>(STEPS).map(([name, { call }]) => [
    code(name),
    schemas[name as keyof typeof STEPS].description ?? '',
    call === undefined ? '' : code(call),
  ]);
  return table(['Step', 'What it does', 'Control call'], rows);
}

/** The expectations of scenarios, with the assertions that judge them. */
function expectationsTable(): string {
  const rows = Object.entries(expectationSchemas()).map(([name, { description = '' }]) => {
    const { matcher } = EXPECTATIONS[name as keyof typeof EXPECTATIONS];
    return [code(name), description, matcher === undefined ? '' : code(matcher)];
  });
  return table(['Expectation', 'What must have happened', 'Assertion'], rows);
}

const fixture = parseFixture(defaultFixture);
const behaviours = parseBehaviours();
const rowOf = (id: (typeof OPERATION_IDS)[number]): OperationDefinition => OPERATIONS[id];

const tiersOf = (row: OperationDefinition): readonly Tier[] => tiersUnder(row, (id) => behaviours[id]);

const OWNERS: Readonly<Record<Tier, string>> = {
  operator: 'the operator of the platform',
  tenant: 'one tenant and everything in it',
  workspace: 'one workspace and its inboxes',
  inbox: 'one inbox',
};

const MAY: Readonly<Record<Tier, string>> = {
  operator: 'create and delete tenants',
  tenant: 'do everything in its tenant',
  workspace: 'do the same within its workspace, but not create or delete workspaces',
  inbox: 'read its inbox, read and send its messages, and use its threads, drafts and contact lists',
};

function roomsTable(): string {
  const rows = Object.entries(ROOMS).flatMap(([room, { belongs, not, parts = {} }]) => [
    [code(`${room}/`), belongs, not],
    ...Object.entries(parts).map(([part, what]) => [code(`${room}/${part}/`), what, '']),
  ]);
  return table(['Folder', 'What belongs in it', 'What does not'], rows);
}

function describeRoom(room: string): string {
  const { belongs = '', not = '', parts = {} } = ROOMS[room] ?? {};
  const lines = Object.entries(parts).map(([part, what]) => `- [${code(`${part}/`)}](${part}): ${what}`);
  return [`What belongs here: ${belongs}.`, `What does not: ${not}.`, lines.join('\n')].filter(Boolean).join('\n\n');
}

function tiersTable(): string {
  const rows = TIERS.map((tier) => {
    const count = OPERATION_IDS.filter((id) => tiersOf(rowOf(id)).includes(tier)).length;
    return [code(TIER_PREFIX[tier]), OWNERS[tier], MAY[tier], String(count)];
  });
  return table(['Prefix', 'Belongs to', 'May', 'Operations'], rows);
}

function keysTable(): string {
  const rows = Object.entries(fixture.tenants).flatMap(([name, tenant]) => [
    keyRow(tenant.key.key, `tenant ${tenant.name}`, tenant.id, `${name}.tenant`),
    ...Object.entries(tenant.workspaces).flatMap(([handle, workspace]) => [
      keyRow(workspace.key.key, `workspace ${workspace.name}`, workspace.id, `${name}.workspaces.${handle}`),
      ...Object.entries(workspace.inboxes).map(([inboxHandle, inbox]) =>
        keyRow(inbox.key.key, `inbox ${inbox.username}@${inbox.domain}`, inbox.id, `${name}.inboxes.${inboxHandle}`),
      ),
    ]),
  ]);
  const operator = keyRow(fixture.operator.key, 'the platform', undefined, 'operator');
  return table(['Key', 'Belongs to', 'Id of its owner', 'In code'], [operator, ...rows]);
}

function keyRow(key: string, boundTo: string, id: string | undefined, name: string): Cells {
  return [code(key), boundTo, id === undefined ? '' : code(id), code(`keys.${name}`)];
}

function webhooksTable(): string {
  const rows = Object.entries(fixture.tenants).flatMap(([tenant, { name, workspaces, webhooks }]) =>
    Object.entries(webhooks).map(([handle, { id, workspace, url, events }]) => [
      code(id),
      workspace === null ? `tenant ${name}` : `workspace ${workspaces[workspace]?.name}`,
      code(url),
      events.map(code).join(', '),
      code(`ids.${tenant}.webhooks.${handle}`),
    ]),
  );
  return table(['Webhook', 'Belongs to', 'URL', 'Events', 'In code'], rows);
}

/** What each reply of the default fixture depended on. */
const RECORDED = await recordExamples();

/** What is missing in an operation, in one sentence. */
const MISSING_IN: { readonly [Id in OperationId]?: string } = {
  sendMessage: 'Mail to other mail servers is not sent; attachments cannot be sent, because no source shows how.',
  replyToMessage: 'As for `sendMessage`.',
  replyAllToMessage: 'As for `sendMessage`.',
  forwardMessage: 'As for `sendMessage`.',
  sendDraft: 'As for `sendMessage`.',
  verifyDomain: 'No DNS server is queried: the name of the domain decides.',
  createDomain: 'The DNS records are examples.',
  verifyEmail: 'No other mail server is asked.',
  getMetrics: 'Only the counts that the reference names.',
};

/** Each operation, what it rests on, and what is missing. */
function emulatedList(): string {
  const values = parseBehaviours();
  const items = OPERATION_IDS.map((id) => {
    const { origin }: OperationDefinition = OPERATIONS[id];
    const described = describeOperation(id, values).description ?? '';
    const named = [...described.matchAll(/`([a-z-]+(?:\.[a-z-]+)+)(?:=[^`]*)?`/g)].map(([, name = '']) => name);
    const ids = [...new Set([...named, ...(RECORDED[id]?.assumed ?? [])])].toSorted();
    const missing = MISSING_IN[id];
    return listItem(`${code(id)}, ${origin}`, [
      ids.length > 0 && `Rests on ${ids.map(code).join(', ')}.`,
      missing && `Missing: ${missing}`,
    ]);
  });
  return items.join('\n');
}

function operationsTable(): string {
  const rows = OPERATION_IDS.map((id) => {
    const row = rowOf(id);
    const tiers = row.tiers === 'public' ? 'none needed' : tiersOf(row).map((tier) => code(TIER_PREFIX[tier]));
    const origin = row.section === undefined ? row.origin : `${row.origin}, ${row.section}`;
    return [code(id), code(`${row.method} ${row.path}`), [tiers].flat().join(' '), origin];
  });
  return table(['Operation', 'Request', 'Keys', 'Origin'], rows);
}

function shapesTable(): string {
  const rows = OPERATION_IDS.map((id) => {
    const { query, body, reply, content } = rowOf(id);
    const readBehaviour = <Id extends ChangeableId>(choice: Id) => behaviours[choice];
    const schema = reply(readBehaviour);
    const parameters = Object.keys(query?.(readBehaviour).shape ?? {}).map((name) => `${name}?`);
    const input = [parameters.join(', '), body ? shapeOf(toJsonSchema(body(readBehaviour), 'input')) : ''];
    const output = content ?? (schema ? shapeOf(toJsonSchema(schema, 'output')) : '');
    return [code(id), input.filter(Boolean).map(code).join('<br>'), output && code(output)];
  });
  return table(['Operation', 'Query or body', 'Reply'], rows);
}

/** Writes a JSON Schema by the names of its fields; a value without fields is an empty text. */
function shapeOf(schema: Json): string {
  const { $ref, $defs } = schema as JsonSchema;
  // A schema with a name of its own refers to it. In a list, the page shows it as […], so that the table stays readable.
  const named = $ref === undefined ? undefined : $defs?.[$ref.replace('#/$defs/', '')];
  if (named) return shapeOf(named);
  const { type, oneOf, anyOf = oneOf, items, properties, required = [] } = schema as JsonSchema;
  if (anyOf) return [...new Set(anyOf.map(shapeOf).filter(Boolean))].join(' | ');
  if (type === 'array') return `[${(items && shapeOf(items)) || '…'}]`;
  if (!properties) return type === 'object' ? '{ … }' : '';
  const fields = Object.entries(properties).map(([name, field]) => fieldOf(name, field, required.includes(name)));
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function fieldOf(name: string, field: JsonSchema, isRequired: boolean): string {
  const shape = shapeOf(field);
  const isNullable = isRequired && (field.anyOf?.some(({ type }) => type === 'null') || field.type?.includes('null'));
  return `${name}${isRequired ? '' : '?'}${shape && `: ${shape}`}${isNullable ? ' | null' : ''}`;
}

interface JsonSchema extends Json {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** A list for each area, the first part of the ids, folded so that the reader sees the areas only. */
function behaviourLists(): string {
  const areas = new Map<string, BehaviourId[]>();
  for (const id of BEHAVIOUR_IDS) {
    const area = id.slice(0, id.indexOf('.'));
    areas.set(area, [...(areas.get(area) ?? []), id]);
  }
  const folded = [...areas].map(([area, ids]) => {
    const summary = `<code>${area}</code>: ${ids.length} ${ids.length === 1 ? 'behaviour' : 'behaviours'}`;
    return `<details><summary>${summary}</summary>\n\n${ids.map(behaviourItem).join('\n')}\n\n</details>`;
  });
  return folded.join('\n\n');
}

function behaviourItem(id: BehaviourId): string {
  const entry: BehaviourDefinition = BEHAVIOURS[id];
  const { question, section, origin } = entry;
  const answers = 'choices' in entry ? readings(entry) : [entry.assumption];
  return listItem(`${code(id)}: ${question} (section ${section}; ${origin})`, answers);
}

function readings(entry: ChangeableDefinition): string[] {
  const values = Object.entries(entry.choices).map(([value, meaning]) => {
    const name = value === entry.default ? `**${code(value)}**` : code(value);
    return `${name}: ${meaning}`;
  });
  if (entry.otherValues) values.push(`or ${entry.otherValues.rule}`);
  return values;
}

function simulatorsTable(): string {
  const rows = Object.entries(SIMULATORS).map(([name, meaning]) => [code(`${name}@simulator.test`), meaning]);
  return table(['Mail to', 'What happens'], rows);
}

function faultsTable(faults: Readonly<Record<string, string>>): string {
  return table(
    ['Kind', 'What happens'],
    Object.entries(faults).map(([name, meaning]) => [code(name), meaning]),
  );
}

function namedFaultsTable(): string {
  return table(
    ['Name', 'What happens', 'The full form'],
    Object.entries(NAMED_FAULTS).map(([name, { help, fault }]) => [code(name), help, code(toSource(fault))]),
  );
}

/** Writes an object as in code: `{ on: 'request', cut: true }`. */
function toSource(value: object): string {
  const fields = Object.entries(value).map(
    ([name, field]) =>
      `${name}: ${typeof field === 'object' ? toSource(field) : JSON.stringify(field).replaceAll('"', "'")}`,
  );
  return `{ ${fields.join(', ')} }`;
}

function controlList(): string {
  const items = listControlRows().map((row) => {
    const fields = fieldNamesOf(row).map(code).join(', ');
    const reply = shapeOf(toJsonSchema(row.reply, 'output'));
    return listItem(`${code(`${row.method} ${row.path}`)}: ${row.summary}`, [
      fields && `Fields: ${fields}`,
      reply && `Reply: ${code(reply)}`,
    ]);
  });
  return items.join('\n');
}

function searchTable(): string {
  return table(
    ['Part of a search', 'It finds'],
    SEARCH_HELP.map(({ example, finds }) => [code(example), finds]),
  );
}

/** A table for each family. */
function samplesTables(): string {
  const families = [...new Set(samples.map(({ family }) => family))];
  const tables = families.map((family) => {
    const rows = samples
      .filter((sample) => sample.family === family)
      .map(({ name, standard, should, mustNot, hasOracle }) => [
        `${code(name)}${hasOracle ? ' ●' : ''}`,
        standard,
        should,
        mustNot,
      ]);
    return `### ${family[0]?.toUpperCase()}${family.slice(1)}\n\n${table(['Sample', 'By', 'An agent should', 'It must not'], rows, NARROW)}`;
  });
  return tables.join('\n\n');
}

function madeSamplesTable(): string {
  const quoted = (texts: readonly string[]) => texts.map((text) => `“${text}”`).join(', ');
  const wordings = Object.values(WORDINGS).map(([wording]) => wording.replace(/\*\.?/, '…'));
  return table(
    ['Table', 'Rows'],
    [
      [
        'Carrier',
        Object.entries(CARRIERS)
          .map(([name, [, text]]) => `${code(name)}: “${text}”`)
          .join(', '),
      ],
      ['Goal', Object.keys(GOALS).map(code).join(', ')],
      ['Wording', quoted(wordings)],
      ['Place', Object.keys(PLACES).map(code).join(', ')],
    ],
  );
}

function unseenFormsTable(): string {
  const rows = Object.entries(TEXT_FORMS).flatMap(([form, { seen, reason = '' }]) =>
    seen === 'nobody' ? [[form, reason]] : [],
  );
  return table(['A code that is', 'Why it is not seen'], rows);
}

function sampleReadingsTable(): string {
  const rows = Object.entries(DISAGREEMENTS).map(([name, { fields, reason }]) => [
    code(name),
    fields.map(code).join(', '),
    reason,
  ]);
  return table(['Sample', 'Fields', 'How they differ'], rows);
}

function errorsTable(): string {
  const rows = Object.entries(ERRORS).map(([name, { status, meaning }]) => [String(status), code(name), meaning]);
  return table(['Status', 'Code', 'Meaning'], rows);
}

function flagsTables(): string {
  const tables = [...byGroup(START_FLAG_ROWS)].map(([group, rows]) => `### ${group}\n\n${flagsTable(rows)}`);
  return tables.join('\n\n');
}

/** The flags of each other command, without variables; of `exec`, those that `start` does not have in the same way. */
function commandFlagsTables(): string {
  const { start: _, ...others } = COMMANDS;
  const tables = Object.entries(others).flatMap(([name, { flags }]: [string, Command]) => {
    const rows: readonly FlagRow[] = Object.entries(flags);
    const own = rows.filter(([flag, row]) => name !== 'exec' || !isFlagOfStart(flag, row));
    const cells = own.map(([flag, row]) => [formsOf(flag, row), row.help]);
    return own.length === 0 ? [] : `### ${name}\n\n${table(['Flag', 'Meaning'], cells, NARROW)}`;
  });
  return tables.join('\n\n');
}

function isFlagOfStart(name: string, { help }: Command['flags'][string]): boolean {
  return (START_FLAGS as Command['flags'])[name]?.help === help;
}

function flagsTable(rows: readonly FlagRow[]): string {
  const cells = rows.map(([name, row]) => [formsOf(name, row), code(variableOf(name)), row.help]);
  return table(['Flag', 'Variable', 'Meaning'], cells);
}

/** How a flag can be written, such as `-p`, `--port <port>`. */
function formsOf(name: string, { short, value }: Command['flags'][string]): string {
  const long = value === undefined ? `--${name}` : `--${name} ${value}`;
  return short ? `${code(`-${short}`)}, ${code(long)}` : code(long);
}

function commandsTable(): string {
  const rows = Object.entries(COMMANDS).map(([name, command]: [string, Command]) => [
    code(usageOf(name, command)),
    command.help,
  ]);
  return table(['Command', 'What it does'], rows);
}

/** A wider cell does not widen its column. */
const MAX_COLUMN_WIDTH = 80;

/** The same for a long table of sentences, because the package has its padding too. */
const NARROW = 20;

/** Writes a table with aligned columns, but for cells that are wider than `maxWidth`. */
function table(head: Cells, rows: readonly Cells[], maxWidth = MAX_COLUMN_WIDTH): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) =>
    Math.min(maxWidth, Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0))),
  );
  const line = (cells: Cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = '', ...rest] = lines.map(line);
  return [first, line(widths.map((width) => '-'.repeat(width))), ...rest].join('\n');
}

/** Writes an item of a list, with those of its details that there are as a list below it. */
function listItem(text: string, details: readonly (string | false | undefined)[]): string {
  return [`- ${text}`, ...details.filter(Boolean).map((detail) => `  - ${detail}`)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
