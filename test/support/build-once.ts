import { buildPart } from '../../.config/build.ts';

/** Builds the package, if it has changed, before the tests that start it: from source, each start would compile it. */
export default function buildOnce(): Promise<void> {
  return buildPart('code');
}
