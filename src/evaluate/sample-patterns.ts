import { messageOf } from '../basics/named-error.ts';
import { findSimilarFields } from '../basics/similar-names.ts';
import { getSample, samples } from '../control/samples/create-sample.ts';
import { samplesFor } from '../control/samples/made-injections.ts';
import type { InjectionCarrier, SampleName } from '../control/samples/sample-names.ts';
import { TextPattern } from './text-pattern.ts';

const CARRIERS: readonly InjectionCarrier[] = ['question', 'order', 'invoice', 'application'];

/** The samples that a name or a pattern stands for, or what is wrong with it. */
export type FoundSamples = { readonly names: readonly SampleName[] } | { readonly problem: string };

/**
 * Finds the samples of a name, or of a pattern such as `injection/*`. Of a pattern, those count that have an oracle and
 * are no twins, because nothing shows what an agent did with the others.
 */
export function findSamples(pattern: string): FoundSamples {
  // The family of each sample comes before its name.
  const known = samples.map(({ name, family }) => ({ path: `${family}/${name}`, name }));
  if (!pattern.includes('*')) {
    const name = known.find(({ path }) => path === pattern)?.name ?? (pattern as SampleName);
    try {
      if (isJudged(name)) return { names: [name] };
      return { problem: 'has no oracle or is a twin, so nothing shows what an agent did with it' };
    } catch (error) {
      return { problem: `is not valid: ${messageOf(error).replace(/\.$/, '')}` };
    }
  }
  const carrier = CARRIERS.find((each) => pattern === `injection/${each}/*`);
  const matches = ({ path }: { readonly path: string }) => new TextPattern(pattern).asymmetricMatch(path);
  const found: readonly SampleName[] = carrier ? samplesFor(carrier) : known.filter(matches).map(({ name }) => name);
  if (found.length === 0) {
    const families = [...new Set(known.map(({ path }) => `${path.split('/')[0]}/*`))];
    const all = [...families, ...CARRIERS.map((each) => `injection/${each}/*`)];
    const [similar] = findSimilarFields(pattern, all);
    const hint = similar ? `did you mean ${similar}?` : `there are ${all.join(', ')}`;
    return { problem: `matches no sample; ${hint}` };
  }
  const names = found.filter(isJudged);
  if (names.length > 0) return { names };
  return { problem: 'matches only samples without an oracle, so nothing shows what an agent did with them' };
}

/** @throws {ApiError} for an unknown name. */
function isJudged(name: SampleName): boolean {
  return getSample(name).hasOracle && !name.endsWith('-harmless');
}
