import { createSilentReader } from '../contract/behaviour-reader.ts';
import type { BehaviourValues } from '../contract/behaviours.ts';
import type { Dispatcher } from '../delivery/dispatcher.ts';
import type { Feed } from '../journal/feed.ts';
import type { Recorder } from '../journal/recorder.ts';
import { findInbox } from '../mail/route.ts';
import { createOpenApi } from '../openapi/create-openapi.ts';
import type { OpenApiDocument } from '../openapi/document.ts';
import type { Service } from '../pipeline/service.ts';
import type { ReachableWorlds } from '../store/reachable-worlds.ts';
import type { ControllableMailbox } from './controllable-mailbox.ts';
import { createDeliveryControls } from './delivery-controls.ts';
import { createJournalControls } from './journal-controls.ts';
import { createKeyControls } from './key-controls.ts';
import { createMailInspection } from './mail-inspection.ts';
import { createMailboxClock } from './mailbox-clock.ts';
import { createMailboxCorrespondents } from './mailbox-correspondents.ts';
import { createMailboxFaults } from './mailbox-faults.ts';
import { createMessageControls } from './message-controls.ts';
import { publishClock, publishFaults, publishKeys } from './publish-changes.ts';
import { receiveMailOrSample } from './receive-sample.ts';
import { settle } from './settled.ts';
import type { StateControls } from './state-controls.ts';
import { createWebhookControls } from './webhook-controls.ts';

/** The parts of a mailbox that its controls and those of its sandboxes need. */
export interface ControlledParts {
  readonly baseUrl: string;
  readonly service: Service;
  readonly dispatcher: Dispatcher;
  readonly recorder: Recorder;
  /** Returns a copy of the OpenAPI document. */
  openApi(): OpenApiDocument;
}

/** What controls apply to: the whole mailbox, or a sandbox. */
export interface ControlScope {
  readonly worlds: ReachableWorlds;
  /** The API keys by handle. */
  readonly keys: object;
  /** The id of the only tenant, and its feed; without it, the controls apply to all tenants. */
  readonly tenant?: { readonly id: string; readonly feed: Feed };
}

/** Creates everything that a test can do with a mailbox or a sandbox, except what saves and restores its state. */
export function createControls(
  { baseUrl, service, dispatcher, recorder, openApi }: ControlledParts,
  { worlds, keys, tenant }: ControlScope,
): Omit<ControllableMailbox, keyof StateControls> {
  const { behaviours, events, faults, loops, correspondents, operationFor } = service;
  const context = { worlds, events, loops, correspondents, ...createSilentReader(behaviours) };
  const locate = (address: string) => findInbox(context, address.toLowerCase());
  const faultControls = createMailboxFaults({ worlds, faults, tenantId: tenant?.id, findInbox: locate });
  return {
    baseUrl,
    behaviours,
    openApi,
    receiveMessage: (message) => receiveMailOrSample(context, baseUrl, message),
    clock: publishClock(createMailboxClock(worlds), recorder, tenant?.id),
    settled: (options) => settle({ worlds, dispatcher, loops, correspondents }, options),
    ...createDeliveryControls(worlds, events, dispatcher),
    ...publishFaults(faultControls, recorder, tenant?.id),
    ...createMailboxCorrespondents({ worlds, correspondents, tenantId: tenant?.id, findInbox: locate }),
    ...publishKeys(createKeyControls({ worlds, operationFor }, keys), recorder, tenant?.id),
    ...createMailInspection(worlds, context.readBehaviour),
    ...createMessageControls(recorder.mailLog, locate, tenant?.id),
    ...createJournalControls(recorder, tenant),
    ...createWebhookControls(worlds),
  };
}

/** Returns a function that creates the document on the first call and returns a copy on each call. */
export function createOpenApiReader(behaviours: BehaviourValues): () => OpenApiDocument {
  let document: OpenApiDocument | undefined;
  return () => {
    document ??= createOpenApi(behaviours);
    return structuredClone(document);
  };
}
