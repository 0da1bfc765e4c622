import type { SignatureCheck } from './signature/explain-signature.ts';

const SCHEMES = { standard: 'Signature by Standard Webhooks', hex: 'Hex HMAC of the body' } as const;

/** Shows the steps of a verification, and why it fails. `label` says what was signed, such as `attempt 2`. */
export function SignatureResult({ checks, label }: { checks: readonly SignatureCheck[]; label?: string }) {
  return (
    <>
      {checks.map(({ scheme, steps, problems }) => (
        <section key={scheme} class="signature" aria-label={label ? `${SCHEMES[scheme]}, ${label}` : SCHEMES[scheme]}>
          <h3>
            {SCHEMES[scheme]}:{' '}
            <span class={problems.length === 0 ? 'good' : 'bad'}>
              {problems.length === 0 ? 'verifies' : 'does not verify'}
            </span>
          </h3>
          {problems.map((problem) => (
            <p key={problem} class="bad">
              {problem}
            </p>
          ))}
          <ol class="steps">
            {steps.map(({ title, result, isOk }) => (
              <li key={title}>
                <span class={isOk ? 'good' : 'bad'}>{isOk ? '✓' : '✗'}</span> {title}
                <span class="hidden">{isOk ? '' : ' (failed)'}</span>
                <pre>{result}</pre>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}
