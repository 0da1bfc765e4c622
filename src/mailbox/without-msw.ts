// All exports of the main entry, except `createMailbox`, which needs msw: `index.ts` and the files of `.config/main-entries/` load it in their own ways.

export type { Duration } from '../basics/duration.ts';
export type { BehaviourId, BehaviourOptions, BehaviourValues } from '../contract/behaviours.ts';
export { BEHAVIOURS, BehaviourError } from '../contract/behaviours.ts';
export type { CallOptions, ServiceClient } from '../contract/client/client-types.ts';
export { ApiError, ERRORS, type ErrorCode } from '../contract/errors.ts';
export { EVENT_KINDS, type EventKind } from '../contract/events.ts';
export type {
  ComposedMessage,
  IncomingAttachment,
  IncomingMessage,
  RawMessage,
} from '../contract/incoming-message.ts';
export type { OpenApiDocument } from '../contract/openapi/document.ts';
export type { OperationId } from '../contract/operations.ts';
export type { Profile } from '../contract/profile.ts';
export type { AddedWebhook } from '../control/add-webhook.ts';
export type {
  BehaviourChanges,
  BehaviourControls,
  BehaviourSource,
  BehaviourState,
} from '../control/behaviour-controls.ts';
export type {
  ConnectControls,
  ConnectedHandler,
  Connection,
  ConnectionMail,
  ConnectOptions,
} from '../control/connect.ts';
export type { TenantOption } from '../control/control-scope.ts';
export type {
  ControllableMailbox,
  MailLogin,
  MailLogins,
  Sandbox,
  SandboxControls,
  SandboxIds,
  SandboxKeys,
  SandboxOptions,
  SandboxSummary,
} from '../control/controllable-mailbox.ts';
export type { CorrespondentOptions } from '../control/correspondent-options.ts';
export type {
  DeliveryControls,
  RedeliverOptions,
  ReleaseOptions,
  WebhookControls,
  WebhookSettings,
} from '../control/delivery-controls.ts';
export type {
  DeliveryFaultOptions,
  FaultOptions,
  NamedFault,
  NamedFaultOptions,
  SmtpFaultOptions,
  StreamFaultOptions,
} from '../control/faults/fault-options.ts';
export type { InitialFault, MailboxFaults } from '../control/faults/mailbox-faults.ts';
export type { FaultName } from '../control/faults/named-faults.ts';
export type { RequestFaultOptions } from '../control/faults/request-fault-options.ts';
export type { AddedInbox, InboxControls, InboxSettings } from '../control/inbox-controls.ts';
export type { FeedData, FeedEntry, FeedEvent, FeedGap, FeedMail, FeedOptions } from '../control/journal/feed-event.ts';
export type {
  EntryReference,
  FailureMessage,
  JournalData,
  JournalEntry,
  JournalLoss,
  JournalLosses,
  JournalMail,
  JournalQuery,
  MailRead,
} from '../control/journal/journal-entry.ts';
export type {
  HttpEntry,
  RequestContent,
  RequestEntry,
  RequestFilter,
  RequestPrincipal,
  RequestSummary,
} from '../control/journal/request-entry.ts';
export type { ConnectedClient, JournalControls } from '../control/journal-controls.ts';
export type { Exposure, KeyControls, KeyFilter, RotatedKey } from '../control/key-controls.ts';
export type { MailFilter, WaitOptions } from '../control/mail/mail-filter.ts';
export type {
  InboxSummary,
  MailDetails,
  MailInspection,
  TenantSummary,
  WorkspaceSummary,
} from '../control/mail/mail-inspection.ts';
export type { ShownLink } from '../control/mail/mail-links.ts';
export type {
  DraftDetails,
  DraftFilter,
  DraftPage,
  MailPage,
  MailSearch,
  MailSelection,
  MailSummary,
} from '../control/mail/mail-search.ts';
export type { FoundMail, MessageControls } from '../control/mail/message-controls.ts';
export type { AdvanceOptions, MailboxClock } from '../control/mailbox-clock.ts';
export type { MailboxCorrespondents } from '../control/mailbox-correspondents.ts';
export type { IncomingSample } from '../control/samples/incoming-sample.ts';
export type { Receivable } from '../control/samples/receive-sample.ts';
export type { Settled, SettledOptions } from '../control/settled.ts';
export type { Checkpoint } from '../control/state/checkpoints.ts';
export type { ByKindAndId, ChangedField, StateDiff, StateItem, StateKind } from '../control/state/diff-states.ts';
export type { Persistence } from '../control/state/page-storage.ts';
export type { StateControls } from '../control/state/state-controls.ts';
export type { TraceOptions } from '../control/trace.ts';
export type { TriggerOptions } from '../control/trigger.ts';
export type { MailStory, WebhookStory } from '../control/verdicts/story.ts';
export type { AddWebhookOptions, SecretReceiver } from '../control/webhook-receiver.ts';
export { defaultFixture } from '../fixture/default-fixture.ts';
export type { ExportedRows } from '../fixture/exported-rows.ts';
export type { FixtureProblem } from '../fixture/fixture-part.ts';
export { FixtureError } from '../fixture/fixture-part.ts';
export type {
  DefaultIds,
  DefaultKeys,
  FixtureIds,
  FixtureKeys,
  NamedFixture,
  TenantIds,
  TenantKeys,
} from '../fixture/keys-and-ids.ts';
export type { FixtureInput } from '../fixture/parse-fixture.ts';
export type { HandleRequest, HandlerContext } from '../service/delivery/connected-handlers.ts';
export type { Attempt, Delivery, DeliveryFilter, DeliveryLosses, DeliveryState } from '../service/delivery/delivery.ts';
export type { DeliveryPayload } from '../service/delivery/request.ts';
export type { HttpPart, ImapPart, ProtocolPart, SmtpPart } from '../service/journal/entry-data.ts';
export type { EntryKind, FeedKind } from '../service/journal/entry-kinds.ts';
export type {
  Correspondent,
  CorrespondentKind,
  CorrespondentReply,
  ReplyFunction,
} from '../service/mail/correspondents/correspondent.ts';
export type { Quoting } from '../service/mail/correspondents/quoting.ts';
export type { ReceivedMessage } from '../service/mail/incoming/accept-message.ts';
export type { HeldMail } from '../service/mail/outgoing/loop-guard.ts';
export type { Mail, MailAttachment } from '../service/mail/show-mail.ts';
export type { StreamConnection } from '../service/stream/stream.ts';
export type { AcceptStream, StreamSession } from '../service/stream/streams.ts';
export type { Environment, EnvironmentOverrides } from '../world/environment.ts';
export type {
  DeliveryFault,
  DeliveryFaultKind,
  Fault,
  FaultTarget,
  RequestFault,
  RequestFaultKind,
  SmtpFault,
  StreamFault,
  StreamFaultKind,
} from '../world/fault.ts';
export { RefusedError } from '../world/fetch-in-process.ts';
export type { MailboxState, TenantState } from '../world/store/state.ts';
export type { Mailbox } from './mailbox.ts';
export type { MailboxOptions } from './mailbox-options.ts';
