export { createSample, getSample, samples } from './create-sample.ts';
export type {
  Breach,
  Observed,
  Sample,
  SampleAuth,
  SampleInfo,
  SampleMail,
  SampleOptions,
  SampleVerdict,
} from './sample.ts';
export type { SampleFamily, SampleName, SampleNames } from './sample-names.ts';
