import { type BehaviourValues, createSilentReader } from '../contract/behaviours.ts';
import { createOpenApi } from '../contract/openapi/create-openapi.ts';
import type { OpenApiDocument } from '../contract/openapi/document.ts';
import type { Dispatcher } from '../service/delivery/dispatcher.ts';
import { findInbox } from '../service/mail/outgoing/route.ts';
import type { Service } from '../service/pipeline/exchange.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import type { PartOf } from '../world/store/world.ts';
import type { Worlds } from '../world/store/worlds.ts';
import type { ControllableMailbox } from './controllable-mailbox.ts';
import { createDeliveryControls, createWebhookControls } from './delivery-controls.ts';
import { createJournalControls } from './journal/journal-controls.ts';
import { createMailInspection } from './journal/mail-inspection.ts';
import type { Recorder } from './journal/recorder.ts';
import { createKeyControls } from './key-controls.ts';
import { createMailboxClock } from './mailbox-clock.ts';
import { createMailboxCorrespondents } from './mailbox-correspondents.ts';
import { createMailboxFaults } from './mailbox-faults.ts';
import { createMessageControls } from './message-controls.ts';
import { DeliveredSamples } from './samples/delivered-samples.ts';
import { receiveMailOrSample } from './samples/receive-sample.ts';
import { settle } from './settled.ts';
import { publishClock, publishFaults, publishKeys } from './state/publish-changes.ts';
import type { StateControls } from './state/state-controls.ts';

/** The parts of a mailbox that its controls and those of its sandboxes need. */
export interface ControlledParts {
  readonly baseUrl: string;
  readonly service: Service;
  readonly dispatcher: Dispatcher;
  readonly recorder: Recorder;
  /** Returns the samples that were delivered to a tenant. */
  readonly samplesOf: PartOf<DeliveredSamples>;
  /** Returns a copy of the OpenAPI document, which is created on the first call. */
  openApi(): OpenApiDocument;
}

/** What controls apply to: the whole mailbox, or a sandbox. */
export interface ControlScope {
  readonly worlds: ReachableWorlds;
  /** The API keys by handle. */
  readonly keys: object;
}

/** Creates everything that a test can do with a mailbox or a sandbox, except what saves and restores its state. */
export function createControls(
  { baseUrl, service, dispatcher, recorder, samplesOf, openApi }: ControlledParts,
  { worlds, keys }: ControlScope,
): Omit<ControllableMailbox, keyof StateControls> {
  const { sandboxId } = worlds;
  const { behaviours, events, faults, loops, correspondents, operationFor } = service;
  const context = { worlds, events, loops, correspondents, ...createSilentReader(behaviours) };
  const locate = (address: string) => findInbox(context, address.toLowerCase());
  const faultControls = createMailboxFaults({ worlds, faults, findInbox: locate });
  return {
    baseUrl,
    behaviours,
    openApi,
    mailServers: worlds.mailServers,
    receiveMessage: (message) =>
      receiveMailOrSample(context, baseUrl, message, (delivered) => {
        const world = worlds.get(delivered.messages[0]?.tenantId ?? '');
        if (world) samplesOf(world).add(delivered);
      }),
    samples: () => samplesOf.in(worlds.neighbours()).flatMap(({ list }) => list),
    clock: publishClock(createMailboxClock(worlds), recorder, sandboxId),
    settled: (options) => settle({ worlds, dispatcher, loops, correspondents }, options),
    ...createDeliveryControls(worlds, events, dispatcher),
    ...publishFaults(faultControls, recorder, sandboxId),
    ...createMailboxCorrespondents({ worlds, correspondents, findInbox: locate }),
    ...publishKeys(createKeyControls({ worlds, operationFor }, keys), recorder, sandboxId),
    ...createMailInspection(worlds, context.readBehaviour, (world, id) => ({
      request: recorder.journal.findCauseOf(worlds.owners(), id),
      deliveries: dispatcher
        .list([world])
        .filter(({ payload }) => payload.messageId === id)
        .map((delivery) => delivery.id),
    })),
    ...createMessageControls(recorder, worlds, locate),
    ...createJournalControls(recorder, worlds),
    ...createWebhookControls({ worlds, readBehaviour: context.readBehaviour, findInbox: locate }),
  };
}

/** Creates what the controls of a mailbox and of its sandboxes share: the samples of each tenant, and the document. */
export function createSharedParts(
  worlds: Worlds,
  behaviours: BehaviourValues,
): Pick<ControlledParts, 'samplesOf' | 'openApi'> & { forgetDocument(): void } {
  let document: OpenApiDocument | undefined;
  return {
    forgetDocument: () => {
      document = undefined;
    },
    samplesOf: worlds.addPart('samples', () => new DeliveredSamples()),
    openApi() {
      document ??= createOpenApi(behaviours);
      return structuredClone(document);
    },
  };
}
