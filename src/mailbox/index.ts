export { createMailbox } from './create-mailbox.ts';
export * from './without-msw.ts';
