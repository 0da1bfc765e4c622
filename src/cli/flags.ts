import { parseSize } from '../contract/size.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../server/default-address.ts';
import { SERVER_SETTINGS } from '../server/server-settings.ts';
import type { Flag } from './command.ts';
import { DEFAULT_FIXTURE_FILE } from './find-fixture-file.ts';

/** The flags of `agent-mailbox-mock start`. */
export const START_FLAGS = {
  port: SERVER_SETTINGS.port,
  host: SERVER_SETTINGS.host,
  'smtp-port': SERVER_SETTINGS.smtpPort,
  fixtures: {
    type: 'string',
    short: 'f',
    value: '<file>',
    help: `JSON file with what the mailbox starts with; it may have comments (default ${DEFAULT_FIXTURE_FILE}, if it is in this folder)`,
  },
  behaviour: {
    type: 'string',
    multiple: true,
    value: '<id>=<value>',
    help: 'Another reading of what the service document leaves open; repeatable',
  },
  'allow-host': SERVER_SETTINGS.allowHosts,
  'cors-origin': SERVER_SETTINGS.corsOrigins,
  'deliver-to': SERVER_SETTINGS.deliverTo,
  'max-mail': {
    type: 'string',
    value: '<size>',
    help: 'Mail that is stored in all, such as 512MiB or 1GiB (default 256MiB)',
    expected: 'a size such as 512MiB or 1GiB',
    fromText: parseSize,
  },
  json: { type: 'boolean', help: 'Print one line of JSON when ready; the log goes to stderr' },
  quiet: { type: 'boolean', short: 'q', help: 'Print no log' },
} as const satisfies Record<string, Flag>;

/** The flags of the commands that call an emulator that runs. */
const CONTROL_FLAGS = {
  url: {
    type: 'string',
    value: '<url>',
    help: `Where the emulator is (default http://${DEFAULT_HOST}:${DEFAULT_PORT})`,
  },
  token: { type: 'string', value: '<token>', help: 'The control token, where the emulator printed one' },
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock receive`. */
export const RECEIVE_FLAGS = {
  ...CONTROL_FLAGS,
  to: { type: 'string', multiple: true, value: '<address>', help: 'An inbox that gets the mail; repeatable' },
  from: { type: 'string', value: '<address>', help: 'Who writes it' },
  subject: { type: 'string', value: '<text>', help: 'The subject' },
  text: { type: 'string', value: '<text>', help: 'The body as text; - reads it from stdin' },
  html: { type: 'string', value: '<html>', help: 'The body as HTML' },
  attach: { type: 'string', multiple: true, value: '<file>', help: 'A file to attach; repeatable' },
  'in-reply-to': { type: 'string', value: '<id>', help: 'The Message-ID of what it answers' },
  eml: { type: 'string', value: '<file>', help: 'The whole mail as it travels, instead of its parts' },
  json: { type: 'boolean', help: 'Print one line of JSON instead of a line for each message' },
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock trigger`. */
export const TRIGGER_FLAGS = {
  ...CONTROL_FLAGS,
  inbox: { type: 'string', value: '<id>', help: 'Where it happens (default: the first inbox of each tenant)' },
  webhook: { type: 'string', value: '<id>', help: 'Deliver only to this webhook, even if it is inactive' },
  tenant: { type: 'string', value: '<id>', help: 'The only tenant in which it happens' },
  message: { type: 'string', value: '<id>', help: 'The message that it is about' },
  set: { type: 'string', multiple: true, value: '<field>=<text>', help: 'A field of the payload; repeatable' },
  data: { type: 'string', value: '<json>', help: 'More fields of the payload, as a JSON object; --set wins' },
  json: { type: 'boolean', help: 'Print one line of JSON instead of a line for each delivery' },
} as const satisfies Record<string, Flag>;

/** The flags of `agent-mailbox-mock behaviours`. */
export const BEHAVIOURS_FLAGS = {
  behaviour: { ...START_FLAGS.behaviour, help: 'Show it as it is with this value; repeatable' },
  json: { type: 'boolean', help: 'Print one line of JSON' },
} as const satisfies Record<string, Flag>;

/** The flags of every command. */
export const COMMON_FLAGS = {
  help: { type: 'boolean', short: 'h', help: 'Show this help' },
  version: { type: 'boolean', short: 'v', help: 'Show the version' },
} as const satisfies Record<string, Flag>;

/** A flag with its name. */
export type FlagRow = readonly [name: string, flag: Flag];

/** The flags of `start`, the command that needs no name, and of every command, as rows of a list. */
export const FLAG_ROWS: readonly FlagRow[] = Object.entries({ ...START_FLAGS, ...COMMON_FLAGS });

/** The environment variable that stands for a flag, such as `AGENT_MAILBOX_ALLOW_HOST`. */
export function variableOf(flag: string): string {
  return `AGENT_MAILBOX_${flag.toUpperCase().replaceAll('-', '_')}`;
}
