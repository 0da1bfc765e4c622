/** A field of a candidate. */
import type { Delivery, Mail, RequestEntry } from '../../mailbox/without-msw.ts';
export interface CandidateField {
  /** The value that a failure shows. */
  readonly shown: unknown;
  /** The values of which one must be as expected. Default: only the one that is shown. */
  readonly options?: readonly unknown[];
}

/** Something that happened and that a matcher compares with what is expected. */
export interface Candidate {
  /** Names it in a failure. */
  readonly label: string;
  /** A hint for a failure in which it is the nearest one. */
  readonly hint?: string | undefined;
  readonly fields: Readonly<Record<string, CandidateField>>;
}

/** Describes a request of the journal; `comparedKey` is its key as the test writes keys. */
export function describeRequest(entry: RequestEntry, comparedKey: unknown = entry.key): Candidate {
  const { id, method, path, status, code, reason, key, ...rest } = entry;
  const { operation, request, ignored } = rest;
  const notes = [...(reason ? [`: ${reason}`] : []), ...ignored.map((each) => ` (ignored: ${each})`)].join('');
  return {
    label: `${id}, ${method} ${path} → ${[status || 'no reply', code].filter(Boolean).join(' ')}${notes}`,
    fields: {
      ...fieldsOf({
        ...{ operation, method, path, status, code },
        query: Object.fromEntries(request.query),
        headers: request.headers,
        body: parseJson(request.body),
      }),
      key: { shown: key, options: [comparedKey] },
    },
  };
}

/** Describes a webhook delivery. */
export function describeDelivery(delivery: Delivery): Candidate {
  const { event, webhookId, state, reason, payload, attempts } = delivery;
  const url = attempts.at(-1)?.url;
  return {
    label: `${event} to ${url ?? `webhook ${webhookId}`} (${state}${reason === null ? '' : `: ${reason}`})`,
    hint: state === 'pending' ? explainPending(delivery) : undefined,
    fields: { ...fieldsOf({ event, state, payload }), to: { shown: url ?? webhookId, options: [url, webhookId] } },
  };
}

/** Says what a pending delivery waits for. */
function explainPending({ attempts, nextAttemptAt }: Delivery): string {
  const error = attempts.at(-1)?.error;
  if (!error || nextAttemptAt === null) return 'It is still pending; await settled() before this assertion.';
  return (
    `It is still pending. The last attempt failed: ${error} The next is due at ${nextAttemptAt}; go there by ` +
    'clock.advance().'
  );
}

/**
 * Describes a mail that was sent. An address may be given with or without its name. The hint names what the request
 * that sent it has and the service did not read.
 */
export function describeMail(
  { id, from, to, cc, bcc, subject, ...rest }: Mail,
  requests: readonly RequestEntry[],
): Candidate {
  const recipients = [...to, ...cc, ...bcc];
  const { plainBody, htmlBody, headers, attachments } = rest;
  const request = requests.find(({ ignored, reply }) => ignored.length > 0 && reply.body?.includes(id));
  return {
    hint: request && `The request is ${describeRequest(request).label}`,
    label: `${JSON.stringify(subject)} to ${recipients.join(', ')}`,
    fields: {
      to: { shown: recipients.length === 1 ? recipients[0] : recipients, options: recipients.flatMap(formsOf) },
      subject: { shown: subject },
      from: { shown: from, options: formsOf(from) },
      ...fieldsOf({ plainBody, htmlBody, headers, attachments }),
    },
  };
}

function fieldsOf(values: Readonly<Record<string, unknown>>): Record<string, CandidateField> {
  return Object.fromEntries(Object.entries(values).map(([name, shown]) => [name, { shown }]));
}

/** Returns an address in display form, and without its name. */
export function formsOf(address: string): string[] {
  const [, bare] = /<([^<>]+)>\s*$/.exec(address) ?? [];
  return bare === undefined ? [address] : [address, bare];
}

/** Parses the body of a request; one that is not JSON, or was cut, stays a text. */
function parseJson(body: string | null): unknown {
  try {
    return body === null ? null : JSON.parse(body);
  } catch {
    return body;
  }
}
