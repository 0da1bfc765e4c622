import { useState } from 'preact/hooks';
import { Chip, Code } from '../../parts.tsx';
import { indentJson } from '../../text.tsx';
import { Time } from '../../time.tsx';
import { type Attempt, countBytes } from './explain-delivery.ts';
import { explainSignature, type SignatureCheck } from './signature/explain-signature.ts';
import { SignatureResult } from './signature-result.tsx';

interface AttemptProps {
  readonly attempt: Attempt;
  readonly number: number;
  /** The secret of the webhook; `undefined` if the webhook is gone. */
  readonly secret: string | undefined;
}

/** One attempt in the timeline: what was sent and what the receiver answered. */
export function AttemptItem({ attempt, number, secret, isLast }: AttemptProps & { readonly isLast: boolean }) {
  const { at, status, error, durationMs, fault, url, requestBody, responseBody } = attempt;
  const tone = error === null ? 'good' : 'bad';
  const answer = `${status}\n${writeHeaders(attempt.responseHeaders)}\n\n${indentJson(responseBody) || '(no body)'}`;
  return (
    <li class={`reason ${tone}-edge`}>
      <details open={isLast}>
        <summary>
          <strong>Attempt {number}</strong>{' '}
          <Chip tone={tone} text={status === null ? 'no answer' : `answered ${status}`} />{' '}
          <span class="soft">
            in {durationMs} ms, <Time at={at} />
          </span>
        </summary>
        {error !== null && <p class="bad">{error}</p>}
        {fault !== null && (
          <p class="warn">
            The fault <code>{fault}</code> applied to this attempt.
          </p>
        )}
        {status !== null && <h3>Answer of the receiver</h3>}
        {status !== null && <Code label={`Answer to attempt ${number}`} text={answer} />}
        <h3>Request</h3>
        <Code label={`Request of attempt ${number}`} text={`POST ${url}\n${writeHeaders(attempt.requestHeaders)}`} />
        <h3>Body, {countBytes(requestBody)} bytes</h3>
        <Code label={`Body of attempt ${number}`} text={indentJson(requestBody)} />
        <SignatureSteps attempt={attempt} number={number} secret={secret} />
      </details>
    </li>
  );
}

/** Writes headers in lines. */
export function writeHeaders(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** Verifies the signatures of an attempt, at the time at which it was made. */
function checkAttempt({ requestHeaders, requestBody, at }: Attempt, secret: string): SignatureCheck[] {
  return explainSignature({ headers: writeHeaders(requestHeaders), body: requestBody, secret, now: new Date(at) });
}

/** Returns whether the signatures of an attempt verify with a secret. */
export function isSignedWith(attempt: Attempt, secret: string): boolean {
  return checkAttempt(attempt, secret).every(({ problems }) => problems.length === 0);
}

/** The signature of an attempt, computed again when somebody opens it. */
function SignatureSteps({ attempt, number, secret }: AttemptProps) {
  const [isOpen, setOpen] = useState(false);
  if (secret === undefined) return null;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The signature, step by step</summary>
      {isOpen && <SignatureResult checks={checkAttempt(attempt, secret)} signed={`attempt ${number}`} />}
    </details>
  );
}
