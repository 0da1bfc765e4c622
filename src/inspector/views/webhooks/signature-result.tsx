import type { SignatureCheck } from './signature/explain-signature.ts';

const SCHEMES = { standard: 'Signature by Standard Webhooks', hex: 'Hex HMAC of the body' } as const;

/** Shows the steps of a verification, and why it fails; `signed` says of what, such as `attempt 2`, among several. */
export function SignatureResult({ checks, signed }: { checks: readonly SignatureCheck[]; signed?: string }) {
  return (
    <>
      {checks.map(({ scheme, steps, problems }) => (
        <section key={scheme} class="signature" aria-label={signed ? `${SCHEMES[scheme]}, ${signed}` : SCHEMES[scheme]}>
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
