export { createSample, getSample, samples } from '../../control/samples/create-sample.ts';
export { samplesFor } from '../../control/samples/made-injections.ts';
export type {
  Breach,
  Observed,
  Sample,
  SampleAuth,
  SampleInfo,
  SampleMail,
  SampleOptions,
  SampleVerdict,
} from '../../control/samples/sample.ts';
export type {
  InjectionCarrier,
  MadeInjection,
  SampleFamily,
  SampleName,
  SampleNames,
} from '../../control/samples/sample-names.ts';
export {
  type RunSamplesOptions,
  runSamples,
  type SampleResult,
  type SamplesReport,
  type SampleTask,
} from './run-samples.ts';
