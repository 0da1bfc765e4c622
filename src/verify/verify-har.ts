import { z } from 'zod';
import { isNestedDeeper, MAX_JSON_DEPTH } from '../basics/json-depth.ts';
import { messageOf } from '../basics/named-error.ts';
import type { BehaviourOptions } from '../contract/behaviours.ts';
import { OPERATION_ROWS, type OperationId, type OperationRow } from '../contract/operations.ts';
import { isKeyOfTier, TIERS, type Tier } from '../contract/tiers.ts';
import { createRouter, splitPath } from '../service/pipeline/router.ts';
import type { Compared } from './attribute-differences.ts';
import { compareReplies, Roles } from './compare-replies.ts';
import { maskFinding, type Verification } from './finding.ts';
import { findingsOf } from './operation-findings.ts';
import { parseJson, startEmulator } from './targets.ts';
import { type Reason, type Reply, type Target, VerifyError } from './verify-session.ts';

const headers = z.array(z.object({ name: z.string(), value: z.string() }));

/** The fields of a HAR 1.2 file that are read. */
const harFile = z.object({
  log: z.object({
    entries: z.array(
      z.object({
        request: z.object({
          method: z.string(),
          url: z.string(),
          headers,
          postData: z.object({ text: z.string().optional() }).optional(),
        }),
        response: z.object({
          status: z.int(),
          headers,
          content: z.object({ text: z.string().optional(), encoding: z.string().optional() }),
        }),
      }),
    ),
  }),
});

/** The tiers of keys that are not made in a recording: an emulator has a key of each of these. */
export const HAR_KEY_TIERS = ['operator', 'tenant'] as const satisfies Tier[];

/** A tier of `HAR_KEY_TIERS`. */
export type HarKeyTier = (typeof HAR_KEY_TIERS)[number];

type Entry = z.infer<typeof harFile>['log']['entries'][number];

/** How a recording is compared. */
export interface HarOptions {
  /** The tier of the key of requests whose key the recording hides. */
  readonly keyTier?: HarKeyTier | undefined;
  /** The behaviours of the server that was recorded. Default: those of the emulator. */
  readonly profile?: BehaviourOptions | undefined;
}

const ID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;
const WHOLE_ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The counts of a list, which also count what was there before the recording. */
const COUNTS = ['total', 'counts', 'resources', 'inbox', 'sent', 'starred', 'archived', 'trash', 'scope'];

/**
 * Sends the requests of a recording (HAR 1.2) to a fresh emulator, and compares the recorded replies with its replies.
 * A request whose ids or key were not made in the recording is not compared.
 *
 * @throws {VerifyError} if the text is not a HAR file, or has no request to the service.
 */
export async function verifyHar(text: string, options: HarOptions = {}): Promise<Verification> {
  const entries = parseHar(text);
  const { target, close } = await startEmulator(options.profile ?? {}, undefined);
  try {
    const replay = new Replay(target, options.keyTier, entries);
    const compared: Compared[] = [];
    for (const [index, entry] of entries.entries()) {
      const result = await replay.compare(entry).catch((error: unknown) => {
        const { method, url } = entry.request;
        const name = `The entry ${index + 1} of the recording, ${method} ${url.slice(0, 200)}`;
        throw new VerifyError(`${name}, cannot be compared. ${messageOf(error)}.`);
      });
      if (result) compared.push(result);
    }
    if (compared.length === 0) throw new VerifyError('The recording has no request to an operation of the service.');
    const findings = findingsOf(compared).map(({ operation: _, ...finding }) => maskFinding(finding));
    return { findings, behaviours: options.profile ?? {}, left: [] };
  } finally {
    await close();
  }
}

function parseHar(text: string): Entry[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new VerifyError('The recording must be a HAR file, and is not JSON.');
  }
  const { success, data, error } = harFile.safeParse(json);
  if (success) return data.log.entries;
  const [issue] = error.issues;
  throw new VerifyError(`The recording must be a HAR 1.2 file: ${issue?.path.join('.')} is not as in the format.`);
}

/** Replays a recording, and remembers which value of the emulator has the role of a recorded one. */
class Replay {
  readonly #target: Target;
  readonly #keyTier: HarKeyTier | undefined;
  readonly #roles = new Roles();
  /** The values of the emulator for recorded ids, keys and domains. */
  readonly #values = new Map<string, string>();
  readonly #tenantKeys: string[] = [];
  /** The fields whose values the recording hides: several things have the same one. */
  readonly #hidden: readonly string[];
  #count = 0;

  constructor(target: Target, keyTier: HarKeyTier | undefined, entries: readonly Entry[]) {
    this.#hidden = hiddenFields(entries);
    this.#target = target;
    this.#keyTier = keyTier;
  }

  /** Compares one request; `undefined` if it is no operation of the service. */
  async compare({ request, response }: Entry): Promise<Compared | undefined> {
    if (!URL.canParse(request.url, 'http://recorded.invalid')) return undefined;
    const url = new URL(request.url, 'http://recorded.invalid');
    const servicePath = servicePathOf(url.pathname);
    const row = route(splitPath(servicePath))?.get(request.method);
    if (!row) return undefined;
    this.#count += 1;
    const found = readReply(response);
    const key = row.tiers === 'public' ? '' : this.#keyOf(request);
    const path = servicePath + url.search;
    const body = request.postData?.text;
    const isWide = !row.path.includes('{');
    const recorded = {
      label: `${this.#count}`,
      operation: row.id as OperationId,
      aspect: 'reply' as const,
      key: { role: 'the recorded key', text: '' },
      note: `request ${this.#count} of the recording`,
      hasOthersItems: true,
      ignored: isWide ? COUNTS : ['total'],
    };
    const missing = this.#missingIn(`${path} ${body ?? ''}`);
    const reason = key === undefined ? NO_KEY_OF_RECORDING : missing ? NO_ID_OF_RECORDING : undefined;
    if (reason !== undefined) return { request: recorded, differences: [], reason };
    if (body === undefined && 'body' in row && HAS_BODY.test(headerOf(request, 'content-length') ?? '')) {
      return { request: recorded, differences: [], reason: { message: 'the recording has no body of the request' } };
    }
    const emulator = await this.#send(row, path, body, key ?? '');
    if (found.text === '' && emulator.text !== '' && response.content.text === undefined) {
      return { request: recorded, differences: [], reason: { message: 'the recording has no body of the reply' } };
    }
    const { hasOthersItems } = recorded;
    const ignored = [...recorded.ignored, ...this.#hidden];
    const origin = `the reply of ${row.id}`;
    const differences = compareReplies(found, emulator, { roles: this.#roles, origin, hasOthersItems, ignored });
    this.#learn(found.body, emulator.body);
    return { request: recorded, differences };
  }

  async #send({ method }: OperationRow, path: string, body: string | undefined, key: string): Promise<Reply> {
    const text = body === undefined || method === 'GET' ? undefined : this.#translate(body);
    const type = text === undefined ? {} : { 'Content-Type': 'application/json' };
    return await this.#target.send(this.#target.baseUrl + this.#translate(path), {
      method,
      headers: { ...(key !== '' && { 'X-API-Key': key }), ...type },
      ...(text !== undefined && { body: text }),
    });
  }

  /** Returns the emulator's key for the key of a request; `undefined` if there is none. */
  #keyOf(request: Entry['request']): string | undefined {
    const bearer = headerOf(request, 'authorization')?.replace(/^bearer +/i, '');
    const sent = headerOf(request, 'x-api-key') ?? bearer ?? '';
    const known = this.#values.get(sent);
    if (known !== undefined) return known;
    const tier = TIERS.find((each) => isKeyOfTier(sent, each)) ?? this.#keyTier;
    if (tier === 'operator') return this.#target.operatorKey;
    if (tier !== 'tenant') return undefined;
    // The first tenant of the recording is one tenant of the emulator, and a second one is the other.
    if (!this.#tenantKeys.includes(sent)) this.#tenantKeys.push(sent);
    return [this.#target.key, this.#target.secondKey][this.#tenantKeys.indexOf(sent)];
  }

  /** Whether a request has an id that no reply of the recording has shown. */
  #missingIn(text: string): boolean {
    return [...text.matchAll(ID)].some(([id]) => !this.#values.has(id));
  }

  #translate(text: string): string {
    return [...this.#values].reduce((translated, [found, value]) => translated.replaceAll(found, value), text);
  }

  /** Remembers the values that two replies show at the same place. */
  #learn(found: unknown, emulator: unknown): void {
    if (Array.isArray(found) && Array.isArray(emulator)) return;
    if (typeof found !== 'object' || found === null || typeof emulator !== 'object' || emulator === null) return;
    for (const [name, value] of Object.entries(found)) {
      const other = (emulator as Record<string, unknown>)[name];
      if (typeof value === 'string' && typeof other === 'string') this.#learnText(name, value, other);
      else this.#learn(value, other);
    }
  }

  #learnText(name: string, value: string, other: string): void {
    if (this.#values.has(value) || value === other || this.#hidden.includes(name)) return;
    const isKey = TIERS.some((tier) => isKeyOfTier(value, tier) && isKeyOfTier(other, tier));
    const isId = WHOLE_ID.test(value);
    if (name === 'domain' && value.includes('.')) this.#roles.bindWord(value, other);
    if (isKey || isId || name === 'domain') this.#values.set(value, other);
  }
}

const NO_KEY_OF_RECORDING: Reason = {
  message: 'the key was not made in the recording, or is hidden',
  flag: '--har-key, which says whose key it was',
};
const NO_ID_OF_RECORDING: Reason = { message: 'an id of the request was not made in the recording' };

const route = createRouter(OPERATION_ROWS);

/** The length of a body that is not empty. */
const HAS_BODY = /^[1-9]/;

const headerOf = ({ headers }: Entry['request'], name: string) =>
  headers.find((header) => header.name.toLowerCase() === name)?.value;

/** The fields with secrets, which a recorder may hide. */
const FIELDS_OF_SECRETS = ['apiKey', 'key', 'secret', 'imapPassword', 'password'];

/** Returns the fields of secrets that have the same value in several things, because the recorder has replaced it. */
function hiddenFields(entries: readonly Entry[]): string[] {
  const owners = new Map<string, Set<unknown>>();
  const visit = (value: unknown, owner: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const self = 'id' in value ? value.id : owner;
    for (const [name, each] of Object.entries(value)) {
      if (FIELDS_OF_SECRETS.includes(name) && typeof each === 'string') {
        owners.set(`${name} ${each}`, (owners.get(`${name} ${each}`) ?? new Set()).add(self));
      }
      visit(each, self);
    }
  };
  for (const { response } of entries) {
    const body = parseJson(response.content.text ?? '');
    if (!isNestedDeeper(body)) visit(body, undefined);
  }
  const several = [...owners].filter(([, ids]) => ids.size > 1).map(([name]) => name.split(' ')[0] ?? '');
  return [...new Set(several)];
}

/** Returns the path of the service in the path of a recorded request, which may begin with the path of a gateway. */
function servicePathOf(path: string): string {
  return path.slice(path.search(/\/(?:v1\/|health$)/));
}

function readReply({ status, headers, content }: Entry['response']): Reply {
  const { text = '', encoding } = content;
  const decoded = encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text;
  const body = parseJson(decoded);
  if (isNestedDeeper(body)) throw new VerifyError(`Its JSON is nested more than ${MAX_JSON_DEPTH} levels deep.`);
  const readable = new Headers();
  for (const { name, value } of headers) {
    // Recordings also have what is no field of HTTP/1.1, such as `:status`, and values with other characters.
    if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)) readable.append(name, value);
  }
  return { status, headers: readable, text: decoded, body };
}
