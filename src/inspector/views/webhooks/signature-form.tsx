import { useState } from 'preact/hooks';
import { Field } from '../../parts.tsx';
import { writeHeaders } from './attempt-item.tsx';
import type { Delivery, Webhook } from './explain-delivery.ts';
import {
  explainComputed,
  explainSignature,
  type SentRequest,
  type SignatureCheck,
  type SignatureInput,
} from './signature/explain-signature.ts';
import { SignatureResult } from './signature-result.tsx';

interface SignatureFormProps {
  readonly deliveries: readonly Delivery[];
  readonly webhooks: readonly Webhook[];
  /** The delivery whose last attempt fills the form. */
  readonly start: Delivery | undefined;
}

type Texts = Readonly<Record<'headers' | 'body' | 'secret' | 'computed', string>>;

/** The fields of the form. Long texts have more than one line. */
const FIELDS: readonly (readonly [name: keyof Texts, label: string, isLong?: boolean])[] = [
  ['headers', 'Headers, as your code prints them', true],
  ['body', 'Body, as your code verifies it', true],
  ['secret', 'Secret of the webhook'],
  ['computed', 'Signature that your code computed (may be empty)'],
];

/** A form that says why a signature does not verify, from what the receiver has. */
export function SignatureForm({ deliveries, webhooks, start }: SignatureFormProps) {
  const [texts, setTexts] = useState(() => textsFrom(start, webhooks));
  const [result, setResult] = useState<ResultProps>();
  const change = (name: keyof Texts, text: string) => {
    setTexts({ ...texts, [name]: text });
    setResult(undefined);
  };
  const check = (event: Event) => {
    event.preventDefault();
    const { computed, ...request } = texts;
    const input = { ...request, now: new Date(), sent: findSent(texts.headers, deliveries, webhooks) };
    setResult({ checks: explainSignature(input), computed: describeComputed(computed, input) });
  };
  return (
    <>
      <h1>Check a signature</h1>
      <p class="hint">
        Paste what your receiver has. The page says why its signature does not verify. Nothing is sent.
      </p>
      <form class="fields" onSubmit={check}>
        {FIELDS.map(([name, label, isLong]) => (
          <Field key={name} label={label}>
            <Input isLong={isLong} value={texts[name]} change={(text) => change(name, text)} />
          </Field>
        ))}
        <p>
          <button type="submit" class="primary">
            Check
          </button>
        </p>
      </form>
      <div role="status">{result && <Result {...result} />}</div>
    </>
  );
}

interface InputProps {
  readonly isLong: boolean | undefined;
  readonly value: string;
  readonly change: (text: string) => void;
}

function Input({ isLong, value, change }: InputProps) {
  const props = { value, spellcheck: false, autocomplete: 'off' } as const;
  return isLong ? (
    <textarea {...props} onInput={({ currentTarget }) => change(currentTarget.value)} />
  ) : (
    <input {...props} onInput={({ currentTarget }) => change(currentTarget.value)} />
  );
}

interface ResultProps {
  readonly checks: readonly SignatureCheck[];
  /** How the receiver's code computed its signature; `undefined` if that is not asked. */
  readonly computed: string | undefined;
}

function Result({ checks, computed }: ResultProps) {
  return (
    <>
      <h2>Result</h2>
      {computed !== undefined && <p class="reason warn-edge">{computed}</p>}
      <SignatureResult checks={checks} />
    </>
  );
}

function textsFrom(start: Delivery | undefined, webhooks: readonly Webhook[]): Texts {
  const attempt = start?.attempts.at(-1);
  const webhook = webhooks.find(({ id }) => id === start?.webhookId);
  return {
    headers: attempt ? writeHeaders(attempt.requestHeaders) : '',
    body: attempt?.requestBody ?? '',
    secret: webhook?.secret ?? '',
    computed: '',
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

function describeComputed(computed: string, input: SignatureInput): string | undefined {
  if (computed === '') return undefined;
  const mistakes = explainComputed(computed, input);
  if (!mistakes) return 'Your code computed this signature in a way that this page does not know.';
  return mistakes.length === 0 ? 'Your code computed the correct signature.' : mistakes.join(' ');
}
