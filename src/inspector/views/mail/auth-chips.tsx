import { type IconNode, Shield, ShieldAlert, ShieldCheck, ShieldX, TriangleAlert } from 'lucide';
import { Chip, countOf, type Tone } from '../../parts.tsx';
import type { MailDetails } from './mail-types.ts';

/** How a result is shown; others, such as `softfail`, are between the two. */
const RESULTS: Readonly<Record<string, readonly [tone: Tone, icon: IconNode]>> = {
  pass: ['good', ShieldCheck],
  fail: ['bad', ShieldX],
};

/** The results of SPF, DKIM and DMARC, and a warning about links that do not lead where their text says. */
export function AuthChips({ mail }: { readonly mail: MailDetails }) {
  const { direction, misleadingLinks } = mail;
  const results = direction === 'inbound' ? resultsOf(mail) : [];
  const unchecked = results.filter(({ result }) => result === undefined).map(({ method }) => method);
  const misleading = countOf(misleadingLinks.length, 'link shows', 'links show');
  return (
    <>
      {results.map(({ method, result }) => {
        if (result === undefined) return null;
        const [tone, icon] = RESULTS[result] ?? ['warn', ShieldAlert];
        return <Chip key={method} tone={tone} icon={icon} text={`${method} ${result}`} />;
      })}
      {unchecked.length > 0 && <Chip icon={Shield} text={`${unchecked.join(', ')} not checked`} />}
      {misleadingLinks.length > 0 && <Chip tone="bad" icon={TriangleAlert} text={`${misleading} another address`} />}
    </>
  );
}

const METHODS = [
  ['SPF', /; spf=(\w+)/i],
  ['DKIM', /; dkim=(\w+)/i],
  ['DMARC', /; dmarc=(\w+)/i],
] as const;

/** Reads the results that the emulator put before the mail; a sender may have written others. */
function resultsOf({ headers }: MailDetails) {
  const field = headers.find(({ name, isTrace }) => isTrace && name === 'Authentication-Results')?.value ?? '';
  return METHODS.map(([method, result]) => ({ method, result: result.exec(field)?.[1] }));
}
