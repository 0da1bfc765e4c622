import { defaultFixture } from 'agent-mailbox-mock';
import { FLAG_ROWS, variableOf } from '../../src/cli/flags.ts';
import {
  BEHAVIOUR_IDS,
  BEHAVIOURS,
  type BehaviourDefinition,
  type BehaviourId,
  type ChoiceDefinition,
  parseBehaviours,
} from '../../src/contract/behaviours.ts';
import { ERRORS } from '../../src/contract/errors.ts';
import type { OperationDefinition } from '../../src/contract/operation.ts';
import { OPERATION_IDS, OPERATIONS } from '../../src/contract/operations.ts';
import { TIER_PREFIX, TIERS, type Tier } from '../../src/contract/tiers.ts';
import { fieldsOf } from '../../src/control/describe-control.ts';
import { CONTROL_TABLE } from '../../src/control/table.ts';
import { DELIVERY_FAULTS } from '../../src/faults/fault.ts';
import { parseFixture } from '../../src/fixture/parse-fixture.ts';
import { SIMULATORS } from '../../src/mail/simulators.ts';

type Cells = readonly string[];

const GENERATED = /(<!-- generated:([\w-]+) -->\n)[\s\S]*?(<!-- \/generated -->)/g;

/** The parts of the README that are made from the code, by the name in their opening marker. */
const PARTS: Readonly<Record<string, () => string>> = {
  tiers: tiersTable,
  keys: keysTable,
  webhooks: webhooksTable,
  operations: operationsTable,
  behaviours: behavioursTables,
  errors: errorsTable,
  flags: flagsTable,
  simulators: simulatorsTable,
  faults: faultsTable,
  control: controlTable,
};

/** Answers the README with its generated parts as the code has them now. */
export function renderReadme(readme: string): string {
  const missing = new Set(Object.keys(PARTS));
  const rendered = readme.replace(GENERATED, (_, opening: string, name: string, closing: string) => {
    const part = PARTS[name];
    if (!part) throw new Error(`README.md asks for a part "${name}"; there are: ${Object.keys(PARTS).join(', ')}.`);
    missing.delete(name);
    return `${opening}\n${part()}\n\n${closing}`;
  });
  if (missing.size > 0) throw new Error(`README.md has no place for: ${[...missing].join(', ')}.`);
  return rendered;
}

/** A fenced block: what it is written in, the file that it stands for if any, and its text. */
export interface Block {
  readonly language: string;
  readonly file: string | undefined;
  readonly text: string;
  readonly line: number;
}

/** Finds every fenced block, in order. */
export function findBlocks(readme: string): Block[] {
  return [...readme.matchAll(/^```(\w*)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    file: match[2],
    text: match[3] ?? '',
    line: readme.slice(0, match.index).split('\n').length,
  }));
}

const fixture = parseFixture(defaultFixture);
const choices = parseBehaviours();
const rowOf = (id: (typeof OPERATION_IDS)[number]): OperationDefinition => OPERATIONS[id];

function tiersOf(row: OperationDefinition): readonly Tier[] {
  return row.tiers === 'public' ? [] : row.tiers((id) => choices[id]);
}

const SPEAKS_FOR: Readonly<Record<Tier, string>> = {
  operator: 'the operator of the platform',
  tenant: 'one tenant and everything in it',
  workspace: 'one workspace and its inboxes',
  inbox: 'one inbox',
};

const MAY: Readonly<Record<Tier, string>> = {
  operator: 'create and delete tenants',
  tenant: 'do everything in its tenant, and select a workspace where an operation lets it',
  workspace: 'do what a tenant key may, within its workspace; not create or delete workspaces',
  inbox: 'read its inbox; read and send its messages; its threads, drafts and lists',
};

function tiersTable(): string {
  const rows = TIERS.map((tier) => {
    const count = OPERATION_IDS.filter((id) => tiersOf(rowOf(id)).includes(tier)).length;
    return [code(TIER_PREFIX[tier]), SPEAKS_FOR[tier], MAY[tier], String(count)];
  });
  return table(['Prefix', 'Speaks for', 'May', 'Operations'], rows);
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
  return table(['Key', 'Bound to', 'Id of that', 'In code'], [operator, ...rows]);
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
  return table(['Webhook', 'Belongs to', 'Url', 'Events', 'In code'], rows);
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

/** A table for each area, the first part of the ids, folded so that the reader sees the areas only. */
function behavioursTables(): string {
  const areas = new Map<string, BehaviourId[]>();
  for (const id of BEHAVIOUR_IDS) {
    const area = id.slice(0, id.indexOf('.'));
    areas.set(area, [...(areas.get(area) ?? []), id]);
  }
  const folded = [...areas].map(([area, ids]) => {
    const summary = `<code>${area}</code>: ${ids.length} ${ids.length === 1 ? 'behaviour' : 'behaviours'}`;
    const head = ['Id', 'Question (section)', 'Choices, or what is assumed', 'Origin'];
    return `<details><summary>${summary}</summary>\n\n${table(head, ids.map(behaviourRow))}\n\n</details>`;
  });
  return folded.join('\n\n');
}

function behaviourRow(id: BehaviourId): Cells {
  const entry: BehaviourDefinition = BEHAVIOURS[id];
  const { question, section, origin } = entry;
  return [code(id), `${question} (${section})`, 'choices' in entry ? readings(entry) : entry.assumption, origin];
}

function readings(entry: ChoiceDefinition): string {
  const values = Object.entries(entry.choices).map(([value, meaning]) => {
    const name = value === entry.default ? `**${code(value)}**` : code(value);
    return `${name}: ${meaning}`;
  });
  if (entry.otherValues) values.push(`or ${entry.otherValues.rule}`);
  return values.join('<br>');
}

function simulatorsTable(): string {
  const rows = Object.entries(SIMULATORS).map(([name, meaning]) => [code(`${name}@simulator.test`), meaning]);
  return table(['Mail to', 'Brings about'], rows);
}

function faultsTable(): string {
  const rows = Object.entries(DELIVERY_FAULTS).map(([name, meaning]) => [code(name), meaning]);
  return table(['Kind', 'What becomes of the delivery'], rows);
}

function controlTable(): string {
  const rows = CONTROL_TABLE.map((row) => {
    const fields = fieldsOf(row).map(code).join(', ');
    return [code(`${row.method} ${row.path}`), row.summary, fields];
  });
  return table(['Call', 'What it does', 'Fields of its query or body'], rows);
}

function errorsTable(): string {
  const rows = Object.entries(ERRORS).map(([name, { status, meaning }]) => [String(status), code(name), meaning]);
  return table(['Status', 'Code', 'Meaning'], rows);
}

function flagsTable(): string {
  const rows = FLAG_ROWS.map(([name, { short, value, help }]) => {
    const long = value === undefined ? `--${name}` : `--${name} ${value}`;
    return [short ? `${code(`-${short}`)}, ${code(long)}` : code(long), code(variableOf(name)), help];
  });
  return table(['Flag', 'Variable', 'Meaning'], rows);
}

/** Writes a table as the formatter would: each column as wide as its widest cell. */
function table(head: Cells, rows: readonly Cells[]): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...lines.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: Cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = '', ...rest] = lines.map(line);
  return [first, line(widths.map((width) => '-'.repeat(width))), ...rest].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
