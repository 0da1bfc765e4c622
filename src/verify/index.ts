export type { Finding, Verification } from './finding.ts';
export { type HarOptions, verifyHar } from './verify-har.ts';
export { type VerifyOptions, verifyServer } from './verify-server.ts';
export { VerifyError } from './verify-session.ts';
