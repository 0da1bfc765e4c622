import { wholeNumber } from '../basics/check-options.ts';
import { TOLD } from '../evaluate/scenario-values.ts';
import { MAILBOX_OPTIONS } from '../mailbox/mailbox-options.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../server/loopback.ts';
import { SERVER_OPTIONS } from '../server/server-options.ts';
import type { Flag } from './command.ts';
import { DEFAULT_FIXTURE_FILE, DEFAULT_PROFILE_FILE } from './files.ts';

/** The rows of all options that a flag sets alone. */
const OPTIONS = { ...MAILBOX_OPTIONS, ...SERVER_OPTIONS };

/** An option that a flag sets alone. */
export type OptionName = keyof typeof OPTIONS;

/** The flag of an option. */
type FlagOf<Option extends OptionName> = Omit<(typeof OPTIONS)[Option], 'flag'> & { readonly option: Option };

/** Returns the flags of options, by name. */
function flagsOf<Option extends OptionName>(...options: readonly Option[]) {
  const flags = options.map((option) => {
    const { flag, ...row } = OPTIONS[option];
    return [flag, { ...row, option }];
  });
  return Object.fromEntries(flags) as { readonly [Name in Option as (typeof OPTIONS)[Name]['flag']]: FlagOf<Name> };
}

/** The flag of a port that is free by default. `PORT` is not read, because it is for the command that is run. */
const FREE_PORT = { ...flagsOf('port').port, otherVariable: undefined };

/** Puts flags into a group. `--help` lists them under the name of the group. */
function inGroup<const Flags extends Readonly<Record<string, Flag>>>(group: string, flags: Flags): Flags {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }])) as Flags;
}

/** The flags of `agent-mailbox-mock start`. The type checks that the flag of each option is in one of the groups. */
export const START_FLAGS = {
  ...inGroup('Server', {
    ...flagsOf('port', 'host', 'publicUrl', 'drain'),
    handlers: { value: '<file>', help: 'Module with your own msw handlers, which run before the emulator' },
  }),
  ...inGroup('Data', {
    fixtures: {
      short: 'f',
      value: '<file>',
      help: `Fixture file, JSON with or without comments (default ${DEFAULT_FIXTURE_FILE}, if it is in this folder)`,
    },
    watch: { help: 'Load the fixture file again when it changes' },
    ...flagsOf('state', 'seed'),
  }),
  ...inGroup('Mail', {
    mail: {
      multiple: true,
      value: '<glob>',
      help: 'Start with the mail in these .eml and mbox files; a mail goes to the inboxes in its header; repeatable',
    },
    ...flagsOf('smtpPort', 'imapPort', 'tlsCert', 'tlsKey', 'tlsRequired', 'maxMailBytes', 'loopLimit'),
  }),
  ...inGroup('Behaviour', {
    behaviour: { multiple: true, value: '<id>=<value>', help: 'Change a behaviour; repeatable' },
    profile: { value: '<file>', help: 'Start with the behaviours in this file, written by profile init or verify' },
    fault: {
      multiple: true,
      isJson: true,
      value: '<name|json>',
      help: 'Start with this fault: its name, such as slow, or the JSON of POST /__mock/faults or a list; repeatable',
    },
  }),
  ...inGroup('Security', {
    ...flagsOf('allowHosts', 'corsOrigins', 'deliverTo', 'controlToken'),
  }),
  ...inGroup('Log and output', {
    quiet: { short: 'q', help: 'Do not print the log' },
    ...flagsOf('verbose', 'journalSize'),
    json: { help: 'Print one line of JSON when ready, and the log to stderr' },
    'env-file': {
      // Node itself reads --env-file before a `--`, even if it is after the name of the program. If the file does not
      // exist, Node, and therefore npx, ends with `not found` before it runs the program.
      short: 'e',
      value: '<file>',
      help:
        'Write the URL, keys and ids as environment variables into this file, and remove it at the end; ' +
        'for a new file, use -e, because Node itself reads --env-file and fails if the file does not exist',
    },
    open: { help: 'Open the inspector in a browser' },
  }),
} as const satisfies Readonly<Record<string, Flag>> & Readonly<Record<(typeof OPTIONS)[OptionName]['flag'], Flag>>;

const { open: _open, json: _json, quiet: _quiet, ...EMULATOR_FLAGS } = START_FLAGS;

/** The flag of each command that writes a file where its user says. */
const FORCE_FLAG = {
  force: { help: 'Replace an existing file also if its start does not show that this command wrote it' },
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock exec`. */
export const EXEC_FLAGS = {
  ...EMULATOR_FLAGS,
  ...inGroup('Server', { port: { ...FREE_PORT, help: 'Port to listen on (default: a free one)' } }),
  ...inGroup('Log and output', {
    log: { help: 'Print the log to stderr' },
    report: {
      value: '<folder>',
      help: 'If the command fails, write the requests, the deliveries and the state into this folder',
    },
    trace: { value: '<file>', help: 'If the command fails, write what happened into this file, for the command show' },
    'trace-always': { help: 'Write the file of --trace also if the command succeeds' },
    ...FORCE_FLAG,
  }),
} as const satisfies Record<string, Flag>;

/** The flags of the commands that call a running emulator. */
const CONTROL_FLAGS = inGroup('Emulator', {
  url: { value: '<url>', help: `URL of the running emulator (default http://${DEFAULT_HOST}:${DEFAULT_PORT})` },
  token: { value: '<token>', help: 'Control token, if the emulator has one' },
  sandbox: { value: '<id>', help: 'Sandbox to which the command applies (default: the whole emulator)' },
});

/** The flags of `agent-mailbox-mock mcp`. */
export const MCP_FLAGS = {
  url: { value: '<url>', help: 'URL of a running emulator; without it, this command starts and stops an emulator' },
  as: {
    value: '<address>',
    help: 'Offer the operations that the key of this inbox may call, instead of control calls',
  },
  key: { value: '<key>', help: 'Offer the operations that this API key may call, instead of control calls' },
  'all-tools': {
    help: 'With --as or --key: offer every operation; without it, at most 13 for reading and sending mail',
  },
  token: CONTROL_FLAGS.token,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock fleet`. */
export const FLEET_FLAGS = {
  servers: {
    value: '<url>,<url>…',
    help: 'URLs at which the load balancer reaches the processes; for Kubernetes, one for each pod',
  },
  'public-url': {
    ...flagsOf('publicUrl')['public-url'],
    help: 'URL at which clients reach the load balancer, such as https://mailbox.example',
  },
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock receive`. */
export const RECEIVE_FLAGS = {
  to: { multiple: true, value: '<address>', help: 'Address of a recipient inbox; repeatable' },
  from: { value: '<address>', help: 'Address of the sender' },
  subject: { value: '<text>', help: 'Subject' },
  text: { value: '<text>', help: 'Plain text body; - reads it from stdin' },
  html: { value: '<html>', help: 'HTML body' },
  attach: { multiple: true, value: '<file>', help: 'File to attach; repeatable' },
  cc: { multiple: true, value: '<address>', help: 'Address in the field Cc, which gets no message; repeatable' },
  'reply-to': { value: '<address>', help: 'Address to which answers are to be sent' },
  header: {
    multiple: true,
    value: '<name: value>',
    help: 'Further header field, such as "List-Id: <a.list.test>"; repeatable',
  },
  'in-reply-to': { value: '<id>', help: 'Message-ID of the message to which this message replies' },
  eml: { value: '<file>', help: 'File with the whole message (RFC 5322), instead of its parts' },
  'envelope-from': { value: '<address>', help: 'Envelope sender; <> for the null sender' },
  auth: { multiple: true, value: '<method>=<result>', help: 'Result of spf, dkim or dmarc; repeatable' },
  sample: { value: '<name>', help: 'Sample to deliver instead of your own mail; the command samples lists the names' },
  seed: { value: '<number>', help: 'Seed for the names and codes in the sample' },
  json: { help: 'Print one line of JSON instead of a line for each message' },
  ...CONTROL_FLAGS,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock wait`. */
export const WAIT_FLAGS = {
  // The parser does not know the command yet, so a flag that is repeatable for one command is so for each.
  to: {
    multiple: true,
    value: '<address>',
    help: 'Address at which the mail arrives: of an inbox, or of somebody outside',
  },
  subject: { value: '<text>', help: 'Only mail whose subject contains this text' },
  direction: { value: '<direction>', help: 'Only mail that an inbox received (inbound) or sent (outbound)' },
  since: { value: '<time|id>', help: 'Only mail since this time (ISO 8601), or after the message with this id' },
  timeout: { value: '<duration>', help: 'How long to wait, such as 30s (default 4s)' },
  code: { help: 'Print only the code that the reader of the mail is meant to type' },
  link: { help: 'Print only the link that the reader of the mail is meant to follow' },
  json: { help: 'Print the mail as one line of JSON' },
  ...CONTROL_FLAGS,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock story`. */
export const STORY_FLAGS = {
  json: { help: 'Print one line of JSON' },
  ...CONTROL_FLAGS,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock client`. */
export const CLIENT_FLAGS = { ...FORCE_FLAG } as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock samples`. */
export const SAMPLES_FLAGS = { json: { help: 'Print one line of JSON' } } as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock trigger`. */
export const TRIGGER_FLAGS = {
  inbox: { value: '<id>', help: 'Inbox of the event (default: the first inbox of each tenant)' },
  webhook: { value: '<id>', help: 'Deliver only to this webhook, even if it is inactive' },
  tenant: { value: '<id>', help: 'Fire the event only in this tenant' },
  message: { value: '<id>', help: 'Message of the event' },
  set: { multiple: true, value: '<field>=<text>', help: 'Set a field of the payload; repeatable' },
  data: { value: '<json>', help: 'Set fields of the payload from a JSON object; --set has priority' },
  json: { help: 'Print one line of JSON instead of a line for each delivery' },
  ...CONTROL_FLAGS,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock listen`. */
export const LISTEN_FLAGS = {
  'forward-to': { value: '<url>', help: 'Send each delivery on to this URL, with the same headers and body' },
  'deliver-to': {
    ...flagsOf('deliverTo')['deliver-to'],
    help: 'Allow --forward-to to call this host or IP range; repeatable',
  },
  tenant: { value: '<id>', help: 'Select only deliveries of this tenant' },
  webhook: { value: '<id>', help: 'Select only deliveries to this webhook' },
  json: { help: 'Print one line of JSON for each delivery' },
  ...CONTROL_FLAGS,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock logs`. */
export const LOGS_FLAGS = {
  follow: { help: 'Keep running, and show what happens from now on too' },
  json: { help: 'Print a line of JSON for each event' },
  ...CONTROL_FLAGS,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock show`. */
export const SHOW_FLAGS = {
  open: { help: 'Open the trace in the views of the inspector, in a browser, until the command is interrupted' },
  html: { value: '<file>', help: 'Write the views of the inspector with the trace into one HTML file' },
  json: { help: 'Print one line of JSON for each mail' },
  ...FORCE_FLAG,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock behaviours`. */
export const BEHAVIOURS_FLAGS = {
  behaviour: { ...START_FLAGS.behaviour, help: 'Show the values after this change of a behaviour; repeatable' },
  json: { help: 'Print one line of JSON' },
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock openapi`. */
export const OPENAPI_FLAGS = {
  behaviour: { ...START_FLAGS.behaviour, help: 'Describe the service after this change of a behaviour; repeatable' },
  profile: { ...START_FLAGS.profile, help: 'Describe the service with the behaviours in this file' },
  ...FORCE_FLAG,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock profile`. */
export const PROFILE_FLAGS = {
  file: { value: '<file>', help: `File to write (default ${DEFAULT_PROFILE_FILE})` },
  ...FORCE_FLAG,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock verify`. */
export const VERIFY_FLAGS = {
  'base-url': { value: '<url>', help: 'URL of the server' },
  'api-key': { isSecret: true, value: '<key>', help: 'tk_ key of a tenant in which verify may create data' },
  'second-key': { isSecret: true, value: '<key>', help: 'tk_ key of another tenant, to check isolation' },
  'operator-key': { isSecret: true, value: '<key>', help: 'sa_ key, to create and delete a tenant' },
  'receiver-url': {
    value: '<url>',
    help: 'Public URL at which deliveries reach --receiver-port (not needed if the server is on loopback)',
  },
  'receiver-port': {
    ...FREE_PORT,
    help: 'Port on loopback at which verify receives deliveries (default: a free one)',
  },
  slow: { help: 'Also run the checks that must wait, such as for a retry' },
  thorough: {
    help: 'Read everything after each step, and not only between groups of steps (four to five times as many requests)',
  },
  'no-deliveries': { help: 'Send no mail, because a mail calls the webhooks that the tenant already has' },
  rate: {
    ...wholeNumber(1, 10_000),
    value: '<number>',
    help: 'Requests per second (default 25; no limit on loopback)',
  },
  timeout: {
    ...wholeNumber(1, 86_400),
    value: '<seconds>',
    help: 'Time in which the run must end (default 300; with --slow 1200)',
  },
  profile: {
    value: '<file>',
    help: 'Compare under the behaviours in this file, instead of finding those of the server',
  },
  har: { value: '<file>', help: 'Compare this recording (HAR 1.2) of a server, instead of a running server' },
  'har-key': {
    value: '<tier>',
    help: 'With --har: the tier of the key, if the recording hides it: operator or tenant',
  },
  yes: { help: 'Do not ask before verify writes to a server that is not on loopback' },
  'write-profile': { value: '<file>', help: 'Write the behaviours that were found into this profile' },
  junit: { value: '<file>', help: 'Write the findings as JUnit XML into this file' },
  json: { help: 'Print one line of JSON at the end instead of a table' },
  ...FORCE_FLAG,
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock evaluate`. */
export const EVALUATE_FLAGS = {
  ...inGroup('Trials', {
    repeat: { value: '<number>', help: 'Run each scenario so often (default 1)' },
    require: {
      value: '<share>',
      help:
        'Gate: exit with 0 if at least this share of the trials of each scenario passed, from 0 to 1 (default 1, every trial); ' +
        'a trial that cannot be told did not pass; a scenario may say its own share by require',
    },
    k: {
      value: '<number>',
      help: 'Show pass^k for this k, the probability that k trials in a row pass, and require the share of it',
    },
    concurrency: {
      value: '<number>',
      help: 'Trials that run at the same time (default: one for each processor, at most 8)',
    },
    only: {
      value: '<text>',
      help: 'Run only the scenarios whose names, or those of their twins, contain this text; each with its twin',
    },
    tag: { multiple: true, value: '<tag>', help: 'Run only the scenarios that have this tag; repeatable: any of them' },
    'max-failures': {
      value: '<number>',
      help: 'Begin no further trial of an agent after so many that did not pass',
    },
    shard: {
      value: '<part>/<parts>',
      help: 'Run only this part of the scenarios, such as 1/4; evaluate merge puts the reports of all parts together',
    },
    set: {
      multiple: true,
      value: '<parameter>=<text>',
      help: 'Set a parameter of the scenarios, such as question="Where is my order?"; repeatable',
    },
    seed: { ...flagsOf('seed').seed, help: 'Make mails, ids and domains the same in every run with this number' },
    timeout: { value: '<duration>', help: 'Longest real time of a trial whose scenario has no limit (default 60s)' },
    'quiet-time': {
      value: '<duration>',
      help:
        'How long nothing may come from an agent that has not said that it is done, until a trial is over; the longest gap ' +
        'that the agent has shown is added (default 2s)',
    },
    fixtures: { ...START_FLAGS.fixtures, help: 'JSON file with data (default: the built-in data, with empty inboxes)' },
    port: { ...FREE_PORT, help: 'Port of the emulator (default: a free one)' },
  }),
  ...inGroup('Agent', {
    agent: {
      multiple: true,
      value: '<name>=<command>',
      help:
        'Command of the shell that starts the agent; with names, such as rules="node rules.js", it can be given for several ' +
        'agents, which are compared; with compare: the name of the agent to compare; repeatable',
    },
    ready: {
      value: '<text>',
      help: 'The agent is ready when it prints a line with this text (default: when its port answers)',
    },
    done: {
      value: '<text>',
      help: 'The agent says that it is done when it prints a line with this text (or it calls MAILBOX_DONE_URL by POST)',
    },
    told: {
      value: '<way>',
      help: `How the agent learns of mail, in every scenario: ${TOLD.join(', ')} (default: as each scenario says, or webhook)`,
    },
    shared: { help: 'Start the agent once; trials run one after the other, and each begins with the same data' },
    'agent-url': {
      multiple: true,
      value: '<url>',
      help:
        'Use an agent that runs already and receives deliveries here; with {key}, {inboxId} or {baseUrl} in the URL, ' +
        'each trial has a sandbox of its own; <name>=<url> gives it a name, as --agent does; repeatable',
    },
  }),
  ...inGroup('Report', {
    json: { help: 'Print the report as JSON instead of a table' },
    markdown: { help: 'Print the report, or with compare the comparison, as Markdown instead of a table' },
    summary: {
      help:
        'For GitHub Actions: add the report as Markdown to the file in GITHUB_STEP_SUMMARY, and print an annotation for each ' +
        'scenario that has not reached what is required; elsewhere: print the Markdown',
    },
    junit: { value: '<file>', help: 'Write the report as JUnit XML into this file: one case for each trial' },
    html: { value: '<file>', help: 'Write the report as one HTML file in which each trial can be opened' },
    traces: { value: '<folder>', help: 'Write the trace of each trial into this folder, for the command show' },
    all: { help: 'With compare: also list the scenarios that are unchanged' },
    ...FORCE_FLAG,
  }),
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock init`. */
export const INIT_FLAGS = {
  ci: {
    value: '<service>',
    help: 'Write a workflow that runs the command evaluate in CI, for github or gitlab',
  },
  scenarios: { help: 'Write 24 scenarios for the command evaluate, into the folder scenarios' },
  ...FORCE_FLAG,
} as const satisfies Record<string, Flag>;

/** The flags that every command has. */
export const COMMON_FLAGS = inGroup('Every command', {
  help: { short: 'h', help: 'Show this help' },
  version: { short: 'v', help: 'Show the version' },
});

/** A flag with its name. */
export type FlagRow = readonly [name: string, flag: Flag];

/** The flags of `start`, the default command, and the flags that every command has. */
export const START_FLAG_ROWS: readonly FlagRow[] = Object.entries({ ...START_FLAGS, ...COMMON_FLAGS });

/** Groups rows by the group of their flag, and keeps their order. Flags without a group are in the group `Flags`. */
export function byGroup(rows: readonly FlagRow[]): ReadonlyMap<string, readonly FlagRow[]> {
  const groups = new Map<string, FlagRow[]>();
  for (const row of rows) {
    const [, { group = 'Flags' }] = row;
    groups.set(group, [...(groups.get(group) ?? []), row]);
  }
  return groups;
}

/** Returns the environment variable of a flag, such as `AGENT_MAILBOX_ALLOW_HOST`. */
export function variableOf(flag: string): string {
  return `AGENT_MAILBOX_${flag.toUpperCase().replaceAll('-', '_')}`;
}
