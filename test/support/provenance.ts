import type { Provenance } from '../../src/evaluate/provenance.ts';

/** How a report came about that no run has written. */
export const PROVENANCE: Provenance = {
  git: { commit: 'a'.repeat(40), isClean: true },
  node: 'v24.1.0',
  platform: 'linux x64',
  repeat: 1,
  require: 1,
  timeoutMs: 60_000,
  quietMs: 2_000,
  isShared: false,
  fixtures: null,
  suite: { scenarios: 1, hash: 'b'.repeat(64) },
  shard: null,
};
