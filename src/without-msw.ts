// All exports of the main entry, except what imports msw. Node loads one copy of this file for `import` and `require`;
// `index.ts` exists twice, because each module system has its own copy of msw.
export type { Duration } from './clock/duration.ts';
export {
  BEHAVIOURS,
  BehaviourError,
  type BehaviourId,
  type BehaviourOptions,
  type BehaviourValues,
} from './contract/behaviours.ts';
export { ERRORS, type ErrorCode } from './contract/errors.ts';
export { EVENT_KINDS, type EventKind } from './contract/events.ts';
export type {
  ComposedMessage,
  IncomingAttachment,
  IncomingMessage,
  RawMessage,
} from './contract/incoming-message.ts';
export type { IncomingSample } from './contract/incoming-sample.ts';
export type { OperationId } from './contract/operations.ts';
export type { ControllableMailbox } from './control/controllable-mailbox.ts';
export type { DeliveryControls, ReleaseOptions } from './control/delivery-controls.ts';
export type { JournalControls } from './control/journal-controls.ts';
export type { Exposure, KeyControls, KeyFilter, RotatedKey } from './control/key-controls.ts';
export type { MailFilter, WaitOptions } from './control/mail-filter.ts';
export type {
  InboxSummary,
  MailDetails,
  MailInspection,
  TenantSummary,
  WorkspaceSummary,
} from './control/mail-inspection.ts';
export type { MailPage, MailSearch, MailSummary } from './control/mail-search.ts';
export type { MailboxClock, TenantOption } from './control/mailbox-clock.ts';
export type { MailboxCorrespondents } from './control/mailbox-correspondents.ts';
export type { MailboxFaults } from './control/mailbox-faults.ts';
export type { MessageControls } from './control/message-controls.ts';
export type { Receivable } from './control/receive-sample.ts';
export type { Sandbox, SandboxControls, SandboxOptions, SandboxSummary } from './control/sandbox.ts';
export type { Settled, SettledOptions } from './control/settled.ts';
export type { StateControls } from './control/state-controls.ts';
export type { TriggerOptions } from './control/trigger.ts';
export type { WebhookControls, WebhookSettings } from './control/webhook-controls.ts';
export type {
  Correspondent,
  CorrespondentKind,
  CorrespondentOptions,
  CorrespondentReply,
  ReplyFunction,
} from './correspondents/correspondent.ts';
export type { Quoting } from './correspondents/quoting.ts';
export type { Attempt, Delivery, DeliveryLosses, DeliveryState } from './delivery/delivery.ts';
export type { DeliveryFilter } from './delivery/delivery-filter.ts';
export type { DeliveryPayload } from './delivery/request.ts';
export type { Environment, EnvironmentOverrides } from './environment.ts';
export type { DeliveryFault, DeliveryFaultKind, DeliveryFaultOptions } from './faults/delivery-fault.ts';
export type { Fault, FaultOptions, FaultTarget } from './faults/fault.ts';
export type { RequestFault, RequestFaultKind, RequestFaultOptions } from './faults/request-fault.ts';
export type { SmtpFault, SmtpFaultOptions } from './faults/smtp-fault.ts';
export type { StreamFault, StreamFaultKind, StreamFaultOptions } from './faults/stream-fault.ts';
export { RefusedError } from './fetch-in-process.ts';
export type { FixtureProblem } from './fixture/branch.ts';
export { defaultFixture } from './fixture/default-fixture.ts';
export type { ExportedRows } from './fixture/exported-rows.ts';
export { FixtureError } from './fixture/fixture-error.ts';
export type { DefaultIds, FixtureIds, TenantIds } from './fixture/fixture-ids.ts';
export type { DefaultKeys, FixtureKeys, TenantKeys } from './fixture/fixture-keys.ts';
export type { FixtureInput } from './fixture/parse-fixture.ts';
export type { FeedEvent, FeedItem, FeedOptions } from './journal/feed-event.ts';
export type { RequestContent, RequestEntry, RequestPrincipal, RequestSummary } from './journal/request-entry.ts';
export type { RequestFilter } from './journal/request-filter.ts';
export type { ReceivedMessage } from './mail/accept-message.ts';
export type { HeldMail } from './mail/loop-guard.ts';
export type { Mail, MailAttachment } from './mail/show-mail.ts';
export type { Mailbox, MailboxOptions } from './mailbox.ts';
export type { OpenApiDocument } from './openapi/document.ts';
export type { Checkpoint } from './state/checkpoints.ts';
export type { ByKindAndId, ChangedField, StateDiff, StateItem, StateKind } from './state/diff-states.ts';
export type { Persistence } from './state/page-storage.ts';
export type { MailboxState, TenantState } from './store/state.ts';
export type { StreamConnection } from './stream/stream.ts';
export type { AcceptStream, StreamSession } from './stream/streams.ts';
