import type { BehaviourValues } from '../contract/behaviours.ts';
import { createOpenApi } from '../contract/openapi/create-openapi.ts';
import type { OpenApiDocument } from '../contract/openapi/document.ts';
import type { Worlds } from '../world/store/worlds.ts';
import { createConnectControls } from './connect.ts';
import type { ControlScope } from './control-scope.ts';
import type { ControllableMailbox } from './controllable-mailbox.ts';
import { createDeliveryControls, createWebhookControls } from './delivery-controls.ts';
import { createMailboxFaults } from './faults/mailbox-faults.ts';
import { createJournalControls } from './journal-controls.ts';
import { createKeyControls } from './key-controls.ts';
import { createMailInspection } from './mail/mail-inspection.ts';
import { createMessageControls } from './mail/message-controls.ts';
import { createMailboxClock } from './mailbox-clock.ts';
import { createMailboxCorrespondents } from './mailbox-correspondents.ts';
import { DeliveredSamples } from './samples/delivered-samples.ts';
import { receiveMailOrSample } from './samples/receive-sample.ts';
import { settle } from './settled.ts';
import { createStateControls, type StateParts } from './state/state-controls.ts';

/**
 * Creates everything that a test can do with a mailbox or a sandbox. `keys` contains the API keys by handle; `state` saves
 * and restores the data.
 */
export function createControls(scope: ControlScope, keys: object, state: StateParts): ControllableMailbox {
  const { baseUrl, service, samplesOf, openApi, worlds, readBehaviour } = scope;
  const { journals, loops, correspondents } = service;
  const methods: Pick<ControllableMailbox, 'receiveMessage' | 'settled'> = {
    receiveMessage(message) {
      const { epoch } = worlds.mailbox;
      const context = { worlds, journals, loops, correspondents, readBehaviour, epoch };
      return receiveMailOrSample(context, baseUrl, message, (delivered) => {
        const world = worlds.get(delivered.messages[0]?.tenantId ?? '');
        // A sample whose mails reached nobody, or whose tenant was deleted, is not kept.
        if (!world) return;
        samplesOf(world).add(delivered);
        const messageIds = delivered.messages.map(({ id }) => id);
        journals.publish(world, 'sample', { name: delivered.sample.name, messageIds });
      });
    },
    settled: (options) => settle(scope, options),
  };
  return {
    baseUrl,
    openApi,
    behaviours: service.behaviours,
    mailServers: worlds.mailbox.mailServers,
    ...methods,
    samples: () => samplesOf.in(worlds.withoutSandboxes()).flatMap(({ list }) => list),
    clock: createMailboxClock(scope),
    ...createDeliveryControls(scope),
    ...createMailboxFaults(scope),
    ...createMailboxCorrespondents(scope),
    ...createKeyControls(scope, keys),
    ...createMailInspection(scope),
    ...createMessageControls(scope),
    ...createJournalControls(scope),
    ...createWebhookControls(scope),
    ...createConnectControls(scope, methods),
    ...createStateControls(scope, state),
  };
}

/** Creates the parts that a mailbox and its sandboxes share: the samples of each tenant, and the OpenAPI document. */
export function createSharedParts(worlds: Worlds, behaviours: BehaviourValues) {
  let document: OpenApiDocument | undefined;
  return {
    discardDocument: () => {
      document = undefined;
    },
    samplesOf: worlds.addPart('samples', () => new DeliveredSamples()),
    openApi() {
      document ??= createOpenApi(behaviours);
      return structuredClone(document);
    },
  };
}
