export { createSample, getSample, samples } from '../../control/samples/create-sample.ts';
export { samplesFor } from '../../control/samples/made-injections.ts';
export type * from '../../control/samples/sample.ts';
export type * from '../../control/samples/sample-names.ts';
export * from './run-samples.ts';
