import { BlockList, isIP, isIPv6 } from 'node:net';
import { describeValue } from '../basics/check-options.ts';
import { type Duration, isDuration, isShortWait } from '../basics/duration.ts';
import { toWholeNumber } from '../basics/number-options.ts';
import { createOptionError } from '../basics/option-error.ts';
import { isUrlWithScheme, trimEndSlashes } from '../basics/text.ts';
import { DEFAULT_HOST, DEFAULT_PORT, hostnameOf } from './loopback.ts';

/** The options of `startServer` that are also flags of the command. */
export interface SettingOptions {
  /** The port to listen on; 0 picks a free one. Default: 4025. */
  readonly port?: number | undefined;
  /** The address to listen on. Default: `127.0.0.1`. On a non-loopback address, the control plane requires a token. */
  readonly host?: string | undefined;
  /** Host names, besides loopback names, that a request's `Host` may have. Default: none. */
  readonly allowHosts?: readonly string[] | undefined;
  /**
   * The http or https URL at which clients reach this process, such as `https://mailbox.example/s2`. Replies contain
   * this URL, and a request's `Host` may be the host of this URL. Default: a reply contains the URL that its client
   * called.
   */
  readonly publicUrl?: string | undefined;
  /**
   * How long the server keeps running after `close()` or a signal, such as `10s`. During this time, `GET /__mock/ready`
   * answers 503, and no sandbox can be created. Default: the server ends at once.
   */
  readonly drain?: Duration | undefined;
  /** Origins, besides loopback origins, whose pages may call the API; `*` for all. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** The port for incoming mail over SMTP; 0 picks a free one. Default: no SMTP. */
  readonly smtpPort?: number | undefined;
  /** The port for IMAP; 0 picks a free one. Default: no IMAP. */
  readonly imapPort?: number | undefined;
  /** The PEM file with the certificate for TLS on the SMTP and IMAP ports; needs `tlsKey`. Default: no TLS. */
  readonly tlsCert?: string | undefined;
  /** The PEM file with the key of the certificate. Default: none. */
  readonly tlsKey?: string | undefined;
  /**
   * Receivers that webhooks may call, besides loopback addresses: hosts, ranges such as `10.0.0.0/8`, or `*` for all.
   * Link-local and cloud metadata addresses are never called. Default: none.
   */
  readonly deliverTo?: readonly string[] | undefined;
  /**
   * The token that the control plane requires: 16 to 256 letters, digits and `-._+/=`. Default: no token if the server
   * listens on loopback, otherwise a random token.
   */
  readonly controlToken?: string | undefined;
  /**
   * The file that keeps the data from one run to the next. If the file exists, it is loaded at the start. It is written
   * 0.1 seconds after each change and at the end. No reply waits for it, so `kill -9` loses what was acknowledged since
   * the latest write began. No other server can use the file at the same time. `reset()` restores the fixture
   * and not the data of the file. Default: none.
   */
  readonly state?: string | undefined;
}

/** The type of one item if the option is a list, otherwise the type of the option. */
type ItemOf<Option> = Option extends readonly (infer Item)[] ? Item : NonNullable<Option>;

/** One setting of a server: an option of `startServer`, and a flag and a variable of the command. */
export interface ServerSetting<Value = unknown> {
  /** The letter of the flag, such as `p` for `-p`. */
  readonly short?: string;
  /** Whether the option is a list and the flag is repeatable. */
  readonly multiple?: true;
  /** The placeholder of the flag's value in help. */
  readonly value: string;
  /** What the flag does, in one line of help. */
  readonly help: string;
  /** Describes a valid value, as the end of the sentence "must be …". */
  readonly expected: string;
  /** Whether messages must not show the value. */
  readonly isSecret?: true;
  /** Describes the valid items of a list, as the end of the sentence "takes …". */
  readonly takes?: string;
  /** Converts the text of a flag to a value. Default: the text itself. */
  readonly fromText?: (text: string) => unknown;
  /** Returns the value in the form that the server uses, or `undefined` if it is invalid. */
  readonly parse: (value: unknown) => Value | undefined;
  /** The class of the error for an invalid value. Default: `TypeError`. */
  readonly errorType?: typeof RangeError;
}

const PORT = {
  value: '<port>',
  expected: 'a whole number from 0 to 65535',
  fromText: toWholeNumber,
  parse: (value: unknown) => (isPort(value) ? Number(value) : undefined),
  errorType: RangeError,
} as const;

const FILE = {
  value: '<file>',
  expected: 'the name of a file',
  parse: (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined),
} as const;

/** Every setting of a server, by the name of its option. The type checks that each option has a setting. */
export const SERVER_SETTINGS = {
  port: { ...PORT, short: 'p', help: `Port to listen on; 0 picks a free one (default ${DEFAULT_PORT}; also PORT)` },
  host: {
    value: '<address>',
    help: `Address to listen on (default ${DEFAULT_HOST})`,
    expected: 'an address or a host name',
    // An empty text is invalid, because Node would then listen on all addresses of the machine.
    parse: (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined),
  },
  smtpPort: { ...PORT, help: 'Accept mail over SMTP on this port too; 0 picks a free one' },
  imapPort: { ...PORT, help: 'Serve the mail of inboxes over IMAP on this port; 0 picks a free one' },
  tlsCert: { ...FILE, help: 'PEM file with the certificate for TLS on the SMTP and IMAP ports; needs --tls-key' },
  tlsKey: { ...FILE, help: 'PEM file with the key of the certificate' },
  allowHosts: {
    multiple: true,
    value: '<host>',
    help: 'Accept requests with this host in the Host header, besides loopback names; repeatable',
    expected: 'a host name without scheme and port',
    takes: 'host names such as "mailbox.example", without a port',
    parse: (value: unknown) => (typeof value === 'string' ? toHostname(value) : undefined),
  },
  publicUrl: {
    value: '<url>',
    help: 'URL that clients call, such as https://mailbox.example/s2; its host is then accepted in the Host header',
    expected: 'an http or https URL without a query, such as https://mailbox.example/s2',
    parse: (value: unknown) =>
      typeof value === 'string' && isUrlWithScheme(value, /^https?$/) && !/[?#@]/.test(value)
        ? trimEndSlashes(new URL(value).href)
        : undefined,
  },
  drain: {
    value: '<time>',
    help: 'After a signal, keep running for this time, such as 10s; GET /__mock/ready then answers 503 (default: 0s)',
    expected: 'a time of at most 1h, such as 10s',
    parse: (value: unknown) => (isDuration(value) && isShortWait(value) ? value : undefined),
  },
  corsOrigins: {
    multiple: true,
    value: '<origin>',
    help: 'Allow pages from this origin to call the API, or * for all; repeatable',
    expected: 'an origin such as https://app.example, or *',
    takes: 'origins such as "https://app.example", or "*"',
    parse: (value: unknown) => (typeof value === 'string' ? toOrigin(value) : undefined),
  },
  deliverTo: {
    multiple: true,
    value: '<host>',
    help: 'Allow deliveries to this host or IP range too, or * for all; repeatable',
    expected: 'a host name without scheme and port, a range such as 10.0.0.0/8, or *',
    takes: 'hosts, ranges such as "10.0.0.0/8", or "*"',
    parse: (value: unknown) => (typeof value === 'string' ? toReceiver(value) : undefined),
  },
  controlToken: {
    value: '<token>',
    help: 'Token that control calls need (default: none on loopback, else a random one)',
    expected: '16 to 256 letters, digits and -._+/=',
    isSecret: true,
    // Only these characters are allowed, because they need no quotes in a header, a shell or an environment file.
    parse: (value: unknown) => (typeof value === 'string' && /^[\w.+/=-]{16,256}$/.test(value) ? value : undefined),
  },
  state: {
    ...FILE,
    help: 'File that keeps the data: loaded at the start, written 0.1 s after each change (kill -9 loses what is newer); no other emulator may use it',
  },
} as const satisfies { [Name in keyof SettingOptions]-?: ServerSetting<ItemOf<SettingOptions[Name]>> };

/** The default values of options. */
const DEFAULTS = {
  port: DEFAULT_PORT,
  host: DEFAULT_HOST,
  drain: 0 as Duration,
  allowHosts: [],
  corsOrigins: [],
  deliverTo: [],
} satisfies SettingOptions;

/** The settings of a server: its parsed options, with the defaults. */
export type Settings = SettingOptions & {
  readonly [Name in keyof typeof DEFAULTS]: NonNullable<SettingOptions[Name]>;
};

/**
 * Checks the options of `startServer` that are flags of the command too, and applies defaults.
 *
 * @throws {RangeError} on an invalid port.
 * @throws {TypeError} on any other invalid value.
 */
export function parseSettings(options: SettingOptions): Settings {
  const parsed = (Object.keys(SERVER_SETTINGS) as (keyof SettingOptions)[]).map((name) => {
    const value = options[name] === undefined ? (DEFAULTS as SettingOptions)[name] : options[name];
    return [name, value === undefined ? undefined : parseOption(name, value)] as const;
  });
  return Object.fromEntries(parsed) as object as Settings;
}

/** Checks an option, and returns its value in the form that the server uses. */
function parseOption(name: keyof SettingOptions, value: unknown): unknown {
  const { multiple, parse, expected, isSecret, errorType = TypeError }: ServerSetting = SERVER_SETTINGS[name];
  if (multiple) return parseList(name, value);
  const parsed = parse(value);
  if (parsed !== undefined) return parsed;
  const message = `The option ${name} must be ${expected}${isSecret ? '' : `, not ${describeValue(value)}`}.`;
  throw createOptionError(new errorType(message), { option: name, value });
}

/** Checks an option that is a list. An invalid item is refused, because it would never match. */
function parseList(name: keyof SettingOptions, items: unknown): string[] {
  const { parse, takes }: ServerSetting = SERVER_SETTINGS[name];
  if (!Array.isArray(items)) throw new TypeError(`The option ${name} must be a list, not ${describeValue(items)}.`);
  return items.map((item) => {
    const parsed = parse(item);
    if (parsed !== undefined) return String(parsed);
    const error = new TypeError(`The option ${name} takes ${takes}, not ${describeValue(item)}.`);
    throw createOptionError(error, { option: name, value: item });
  });
}

const isPort = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65535;

/** Returns a host name as it is written in URLs; `undefined` for other texts, such as a host name with a port. */
function toHostname(host: string): string | undefined {
  const authority = isIPv6(host) ? `[${host}]` : host;
  return /:\d*$/.test(authority) ? undefined : hostnameOf(authority);
}

function toOrigin(text: string): string | undefined {
  if (text === '*') return text;
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  const { origin, protocol, host } = new URL(text);
  // `URL` returns no origin for other schemes, such as those of browser extensions.
  return origin === 'null' ? `${protocol}//${host.toLowerCase()}` : origin;
}

/** Returns a range or `*` unchanged, and a host as it is written in URLs, but without brackets. */
function toReceiver(entry: string): string | undefined {
  if (entry === '*' || isRange(entry)) return entry;
  return toHostname(entry)?.replace(/^\[|\]$/g, '');
}

function isRange(entry: string): boolean {
  const [, base = '', bits = ''] = /^([^/%]+)\/(\d+)$/.exec(entry) ?? [];
  const version = isIP(base);
  if (version === 0) return false;
  return version === 4 ? Number(bits) <= 32 : Number(bits) <= 128 && !isMappedIPv4(base);
}

/**
 * Returns whether an IPv6 address contains an IPv4 address. The address is then compared as IPv4, so an IPv6 range
 * would never match it.
 */
function isMappedIPv4(address: string): boolean {
  const mapped = new BlockList();
  mapped.addSubnet('::ffff:0:0', 96, 'ipv6');
  return mapped.check(address, 'ipv6');
}
