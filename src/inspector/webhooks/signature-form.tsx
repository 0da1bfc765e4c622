import { useState } from 'preact/hooks';
import { Field } from '../parts.tsx';
import {
  explainComputed,
  explainSignature,
  type SentRequest,
  type SignatureCheck,
  type SignatureInput,
} from '../signature/explain-signature.ts';
import { writeHeaders } from './attempt-item.tsx';
import { SignatureResult } from './signature-result.tsx';
import type { Delivery, Webhook } from './webhook-types.ts';

interface SignatureFormProps {
  readonly deliveries: readonly Delivery[];
  readonly webhooks: readonly Webhook[];
  /** The delivery whose last attempt fills the form. */
  readonly start: Delivery | undefined;
}

interface Result {
  readonly checks: readonly SignatureCheck[];
  readonly computed: string | undefined;
}

/** A form that says why a signature does not verify, from what the receiver has. */
export function SignatureForm({ deliveries, webhooks, start }: SignatureFormProps) {
  const [input, setInput] = useState(() => inputFrom(start, webhooks));
  const [computed, setComputed] = useState('');
  const [result, setResult] = useState<Result>();
  const change = (name: keyof typeof input) => (event: { currentTarget: { value: string } }) => {
    setInput({ ...input, [name]: event.currentTarget.value });
    setResult(undefined);
  };
  const check = (event: Event) => {
    event.preventDefault();
    const sent = findSent(input.headers, deliveries, webhooks);
    const full: SignatureInput = { ...input, now: new Date(), sent };
    setResult({
      checks: explainSignature(full),
      computed: computed === '' ? undefined : describeComputed(computed, full),
    });
  };
  return (
    <>
      <h1>Check a signature</h1>
      <p class="hint">
        Paste what your receiver has. The page says why its signature does not verify. Nothing is sent.
      </p>
      <form class="fields" onSubmit={check}>
        <Field label="Headers, as your code prints them">
          <textarea spellcheck={false} required value={input.headers} onInput={change('headers')} />
        </Field>
        <Field label="Body, as your code verifies it">
          <textarea spellcheck={false} value={input.body} onInput={change('body')} />
        </Field>
        <Field label="Secret of the webhook">
          <input spellcheck={false} autocomplete="off" value={input.secret} onInput={change('secret')} />
        </Field>
        <Field label="Signature that your code computed (may be empty)">
          <input
            spellcheck={false}
            autocomplete="off"
            value={computed}
            onInput={({ currentTarget }) => {
              setComputed(currentTarget.value);
              setResult(undefined);
            }}
          />
        </Field>
        <p>
          <button type="submit" class="primary">
            Check
          </button>
        </p>
      </form>
      <div role="status">
        {result && (
          <>
            <h2>Result</h2>
            {result.computed !== undefined && <p class="reason warn-edge">{result.computed}</p>}
            <SignatureResult checks={result.checks} />
          </>
        )}
      </div>
    </>
  );
}

function inputFrom(start: Delivery | undefined, webhooks: readonly Webhook[]) {
  const attempt = start?.attempts.at(-1);
  const webhook = webhooks.find(({ id }) => id === start?.webhookId);
  return {
    headers: attempt ? writeHeaders(attempt.requestHeaders) : '',
    body: attempt?.requestBody ?? '',
    secret: webhook?.secret ?? '',
  };
}

/** Finds the attempt whose signature is among pasted headers, or else the latest one of the same event. */
function findSent(
  headers: string,
  deliveries: readonly Delivery[],
  webhooks: readonly Webhook[],
): SentRequest | undefined {
  const attempts = deliveries.flatMap(({ webhookId, attempts }) => attempts.map((attempt) => ({ webhookId, attempt })));
  const has = (name: string) => {
    return attempts.findLast(({ attempt: { requestHeaders } }) => {
      const value = requestHeaders[name];
      return value !== undefined && headers.includes(value);
    });
  };
  const found = has('webhook-signature') ?? has('webhook-id');
  return (
    found && {
      headers: found.attempt.requestHeaders,
      body: found.attempt.requestBody,
      fault: found.attempt.fault,
      secret: webhooks.find(({ id }) => id === found.webhookId)?.secret,
    }
  );
}

function describeComputed(computed: string, input: SignatureInput): string {
  const mistakes = explainComputed(computed, input);
  if (!mistakes) return 'Your code computed this signature in a way that this page does not know.';
  return mistakes.length === 0 ? 'Your code computed the correct signature.' : mistakes.join(' ');
}
