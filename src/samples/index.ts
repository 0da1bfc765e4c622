export { createSample, getSample, type SampleName, samples } from './create-sample.ts';
export type {
  Breach,
  Observed,
  Sample,
  SampleAuth,
  SampleFamily,
  SampleInfo,
  SampleMail,
  SampleOptions,
  SampleVerdict,
} from './sample.ts';
