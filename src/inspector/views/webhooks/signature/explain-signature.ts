import { tryParseJson } from '../../../../basics/foreign-json.ts';
import {
  decodeBase64,
  findMistake,
  ROUND_TRIP,
  type Scheme,
  type SignedParts,
  signCorrectly,
  sortFields,
} from './find-mistake.ts';

/** A request that the emulator sent, which helps to find what was changed in a copy of it. */
export interface SentRequest {
  /** The headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it was sent. */
  readonly body: string;
  /** The secret of the webhook; undefined if the webhook is gone. */
  readonly secret: string | undefined;
  /** The fault that applied to the request; null if none applied. */
  readonly fault: string | null;
}

/** A request as its receiver has it, and the secret with which the receiver verifies it. */
export interface SignatureInput {
  /** The headers, as lines, as JSON, or as most languages print them. */
  readonly headers: string;
  readonly body: string;
  readonly secret: string;
  /** The time by the clock of the receiver, when it got the request. */
  readonly now: Date;
  /** The time by the clock of the mailbox, when it sent the request, if that is known. */
  readonly mailboxTime?: Date | undefined;
  /** What the emulator sent, if that is known. */
  readonly sent?: SentRequest | undefined;
}

/** One step of a verification, in the order in which a receiver does it. */
interface SignatureStep {
  readonly title: string;
  /** What the step results in. */
  readonly result: string;
  readonly isOk: boolean;
}

const createStep = (title: string, result: string, isOk = true): SignatureStep => ({ title, result, isOk });

/** Whether one of the signatures of a request verifies, step by step. */
export interface SignatureCheck {
  readonly scheme: Scheme;
  readonly steps: readonly SignatureStep[];
  /** Why the signature does not verify, in sentences; empty if it verifies. */
  readonly problems: readonly string[];
}

/** Headers by lower-case name. */
type Headers = ReadonlyMap<string, string>;

/** Verifies the signatures of a request step by step, and says why one does not verify. */
export function explainSignature(input: SignatureInput): SignatureCheck[] {
  const headers = parseHeaders(input.headers);
  return findSchemes(headers).map((scheme) =>
    scheme === 'standard' ? checkStandard(input, headers) : checkHex(input, headers),
  );
}

/** Returns the schemes by which a request is signed. A request without a signature should have that of the standard. */
function findSchemes(headers: Headers): Scheme[] {
  const hasHex = findHexHeader(headers) !== undefined;
  const schemes: Scheme[] = [];
  if (headers.has('webhook-signature') || !hasHex) schemes.push('standard');
  if (hasHex) schemes.push('hex');
  return schemes;
}

const findHexHeader = (headers: Headers) => [...headers].find(([name, value]) => isHexHeader(name, value));

/** Returns whether a header contains the hex signature, as its name or its value suggests. */
function isHexHeader(name: string, value: string): boolean {
  return name !== 'webhook-signature' && (name.includes('signature') || /^(\w+=)?[0-9a-f]{64}$/i.test(value));
}

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/** Checks the signatures of Standard Webhooks. */
function checkStandard({ body, secret, now, mailboxTime, sent }: SignatureInput, headers: Headers): SignatureCheck {
  const [id = '', timestamp = '', signatureHeader = ''] = STANDARD_HEADERS.map((name) => headers.get(name));
  const missing = STANDARD_HEADERS.filter((name) => !headers.get(name));
  const lines = STANDARD_HEADERS.map((name) => `${name}: ${headers.get(name) ?? '(missing)'}`).join('\n');
  const readStep = createStep('Read the headers', lines, missing.length === 0);
  const problems = missing.map((name) => `The header ${name} is missing.`);
  if (missing.length > 0) return { scheme: 'standard', steps: [readStep], problems };
  const parts: SignedParts = { id, timestamp, body, secret };
  const timeProblem = findTimeProblem(timestamp, now, mailboxTime);
  const times = `${describeTimestamp(timestamp)}; the receiver has ${now.toISOString()}`;
  const content = shorten(`${id}.${timestamp}.${body}`);
  const steps = [
    readStep,
    createStep('Compare the time; at most 5 minutes may differ', times, timeProblem === undefined),
    createKeyStep(secret),
    createStep('Join id, timestamp and body with full stops: that is the signed content', content),
  ];
  const signatures = signatureHeader.split(/\s+/);
  return completeCheck(steps, timeProblem ? [timeProblem] : [], { scheme: 'standard', parts, signatures, sent });
}

/** Checks the hex HMAC of the body. */
function checkHex({ body, secret, sent }: SignatureInput, headers: Headers): SignatureCheck {
  const [name, value] = findHexHeader(headers) ?? ['', ''];
  const [id = '', timestamp = ''] = STANDARD_HEADERS.map((each) => headers.get(each));
  const steps = [
    createStep('Read the header', `${name}: ${value}`),
    createStep('Use the whole text of the secret as the key', mask(secret), secret !== ''),
    createStep('Take the body alone: that is the signed content', shorten(body)),
  ];
  const parts = { id, timestamp, body, secret };
  return completeCheck(steps, [], { scheme: 'hex', parts, signatures: value.split(/,\s*/), sent });
}

const TOLERANCE_SECONDS = 5 * 60;

function findTimeProblem(timestamp: string, now: Date, mailboxTime: Date | undefined): string | undefined {
  if (!/^\d+$/.test(timestamp)) return 'The header webhook-timestamp must be a whole number of seconds since 1970.';
  if (timestamp.length > 11) return 'The header webhook-timestamp is in milliseconds; it must be in seconds.';
  const ageAt = (time: Date) => Math.floor(time.getTime() / 1000) - Number(timestamp);
  const age = ageAt(now);
  if (Math.abs(age) <= TOLERANCE_SECONDS) return undefined;
  const difference = formatSeconds(Math.abs(age));
  if (mailboxTime && Math.abs(ageAt(mailboxTime)) <= TOLERANCE_SECONDS) {
    return (
      `The request was signed by the clock of the mailbox, which was ${difference} ${age > 0 ? 'behind' : 'ahead of'} ` +
      'real time, because the behaviour deliveries.timestamp was clock. A receiver that compares timestamps with real ' +
      'time refuses it: set the behaviour to real, or let the receiver use the time of the mailbox.'
    );
  }
  return (
    `The time is outside the tolerance: the request was signed ${difference} ${age > 0 ? 'before' : 'after'} the time ` +
    'of the receiver, and at most 5 minutes are allowed. Deliveries are signed in real time, or by the clock of the ' +
    'mailbox if the behaviour deliveries.timestamp is clock.'
  );
}

function formatSeconds(seconds: number): string {
  const units = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 };
  const [name, size] = Object.entries(units).find(([, size]) => seconds >= 2 * size) ?? ['seconds', 1];
  return `${Math.floor(seconds / size)} ${name}`;
}

function describeTimestamp(timestamp: string): string {
  const at = new Date(Number(timestamp) * 1000);
  return Number.isNaN(at.getTime()) ? timestamp : `${timestamp} is ${at.toISOString()}`;
}

function createKeyStep(secret: string): SignatureStep {
  const key = decodeBase64(secret.replace(/^whsec_/, ''));
  const result = key ? `${mask(secret)}: ${key.length} bytes` : `${mask(secret)} is not whsec_ followed by base64`;
  return createStep('Decode the secret after whsec_ from base64: that is the key', result, key !== undefined);
}

/** Shows only the start of a secret. */
function mask(secret: string): string {
  return secret === '' ? '(empty)' : `${secret.slice(0, 10)}…`;
}

const MAX_SHOWN_LENGTH = 300;

function shorten(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}… (${text.length} characters)` : text;
}

/** How a signature may begin. */
const PREFIXES: Readonly<Record<Scheme, readonly string[]>> = { standard: ['v1,'], hex: ['v1=', 'sha256=', ''] };

/** Removes the prefix of a signature. Returns `undefined` if the signature has no prefix that the scheme allows. */
function removePrefix(signature: string, scheme: Scheme): string | undefined {
  const prefix = PREFIXES[scheme].find((each) => signature.startsWith(each));
  return prefix === undefined ? undefined : signature.slice(prefix.length);
}

/** The signatures of a request, and the parts that they should sign. */
interface SignedRequest {
  readonly scheme: Scheme;
  readonly parts: SignedParts;
  readonly signatures: readonly string[];
  readonly sent: SentRequest | undefined;
}

/** Completes a check: adds the last two steps and, if no signature is correct, the reasons. */
function completeCheck(steps: SignatureStep[], problems: string[], request: SignedRequest): SignatureCheck {
  const { scheme, parts, signatures } = request;
  const expected = signCorrectly(parts, scheme);
  const isCorrect = expected !== undefined && signatures.some((each) => removePrefix(each, scheme) === expected);
  const prefixed = `${scheme === 'standard' ? 'v1,' : ''}${expected}`;
  const result = expected === undefined ? 'There is no key.' : prefixed;
  const reasons = isCorrect ? [] : findReasons(request);
  return {
    scheme,
    steps: [
      ...steps,
      createStep(`Compute the HMAC-SHA256 in ${ENCODING_NAMES[scheme]}`, result, expected !== undefined),
      createStep('Compare', isCorrect ? 'The same.' : `It differs from ${signatures.join(' ')}`, isCorrect),
    ],
    problems: [...problems, ...new Set(reasons)],
  };
}

const ENCODING_NAMES = { standard: 'base64', hex: 'hex' } as const;

function findReasons({ scheme, parts, signatures, sent }: SignedRequest): readonly string[] {
  for (const text of signatures) {
    const signature = text.replace(/^(v\d+[,=]|sha256=)/, '');
    const mistakes = findMistake(signature, parts, scheme, 'received');
    if (!mistakes) continue;
    const isPrefixed = removePrefix(text, scheme) !== undefined;
    return isPrefixed ? mistakes : [...mistakes, 'The signature lacks its prefix v1, with a comma after v1.'];
  }
  const changes = sent ? findChanges(parts, sent, signatures) : [];
  return changes.length > 0 ? changes : guessReasons(parts, scheme);
}

/** Compares the request with the request that the emulator sent, and says what was changed. */
function findChanges(parts: SignedParts, sent: SentRequest, signatures: readonly string[]): string[] {
  const { headers, body, secret, fault } = sent;
  const received = { 'webhook-id': parts.id, 'webhook-timestamp': parts.timestamp };
  const changed = Object.entries(received).filter(([name, value]) => value !== '' && headers[name] !== value);
  const isFromEmulator = Object.values(headers).some((value) => signatures.some((each) => value.includes(each)));
  const changes = [
    ...(secret !== undefined && secret !== parts.secret ? ['The secret is wrong: it is not that of the webhook.'] : []),
    ...(body === parts.body ? [] : [describeDifference(body, parts.body)]),
    ...changed.map(([name]) => `The header ${name} was changed; the emulator sent ${headers[name]}.`),
    ...(isFromEmulator ? [] : ['The signature was changed; it is not the one that the emulator sent.']),
  ];
  const isIntended = changes.length === 0 && fault !== null;
  return isIntended ? [`The fault ${fault} makes the verification fail on purpose.`] : changes;
}

/** Says where two bodies begin to differ, and whether they are the same JSON. */
function describeDifference(sent: string, received: string): string {
  const [sentValue, receivedValue] = [tryParseJson(sent), tryParseJson(received)].map(
    (value) => value !== undefined && JSON.stringify(sortFields(value)),
  );
  if (sentValue !== false && sentValue === receivedValue) {
    return (
      'The body was parsed and written again: it is the same JSON as the emulator sent, in other bytes. ' +
      `${ROUND_TRIP}`
    );
  }
  const end = Math.min(sent.length, received.length);
  let start = 0;
  while (start < end && sent[start] === received[start]) start += 1;
  const show = (text: string) => JSON.stringify(text.slice(Math.max(0, start - 10), start + 20));
  return (
    `The body was changed, from character ${start + 1}: the emulator sent ${show(sent)}, and this is ` +
    `${show(received)}.`
  );
}

/** Returns likely reasons, if nothing shows the reason with certainty. */
function guessReasons({ body, secret }: SignedParts, scheme: Scheme): string[] {
  if (secret === '') return ['The secret is missing.'];
  if (body === '') return ['The body is missing: something else, such as a body parser, may have read it already.'];
  if (scheme === 'standard' && !decodeBase64(secret.replace(/^whsec_/, '')))
    return ['The secret is wrong: it must be whsec_ followed by base64, as the reply to createWebhook has it.'];
  const changed = scheme === 'standard' ? 'webhook-id, webhook-timestamp or the body' : 'the body';
  return [
    `The secret is wrong: it is not that of the webhook. Or the content of ${changed} was changed. Or there is more ` +
      'than one mistake, because no single mistake that is known here leads to this signature.',
  ];
}

/**
 * Says how the receiver's own code computed a signature. Returns an empty list if the signature is correct, and
 * `undefined` if no single known mistake leads to it.
 */
export function explainComputed(computed: string, input: SignatureInput): readonly string[] | undefined {
  const headers = parseHeaders(input.headers);
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = Object.fromEntries(headers);
  const parts: SignedParts = { id, timestamp, body: input.body, secret: input.secret };
  const signature = computed.trim().replace(/^(v\d+[,=]|sha256=)/, '');
  const found = findSchemes(headers).map((scheme) => findMistake(signature, parts, scheme, 'computed'));
  return found.find((mistakes) => mistakes?.length === 0) ?? found.find((mistakes) => mistakes !== undefined);
}

/**
 * The forms in which people paste headers: an object in JSON, JavaScript or Python; a map as Go prints it; lines with
 * one header each, which may be options of curl. The first form that finds a header is used.
 */
const HEADER_FORMS: readonly RegExp[] = [
  /['"]([\w-]+)['"]\s*:\s*(?:\[\s*)?['"]([^'"]*)['"]/g,
  /(?<![\w-])([\w-]+):\[([^[\]]*)\]/g,
  /^[ \t]*(?:(?:-H|--header)[ \t]*)?['"]?([\w-]+)['"]?[ \t]*:(.*)$/gm,
];

/** Reads pasted headers, in any common form, by lower-case name. */
export function parseHeaders(text: string): ReadonlyMap<string, string> {
  const found = HEADER_FORMS.map((form) => [...text.matchAll(form)]).find(({ length }) => length > 0) ?? [];
  return new Map(found.map(([, name = '', value = '']) => [name.toLowerCase(), removeCurlEnd(value)]));
}

/** Removes the quote and the backslash with which an option of curl ends. */
function removeCurlEnd(value: string): string {
  return value.trim().replace(/\\$/, '').trimEnd().replace(/['"]$/, '');
}
