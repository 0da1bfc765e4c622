import { type BehaviourReader, createSilentReader } from '../contract/behaviours.ts';
import type { OpenApiDocument } from '../contract/openapi/document.ts';
import type { Dispatcher } from '../service/delivery/dispatcher.ts';
import { findInbox } from '../service/mail/outgoing/route.ts';
import type { Service } from '../service/pipeline/exchange.ts';
import type { ReachableWorlds } from '../world/store/reachable-worlds.ts';
import type { InboxLocation, PartOf } from '../world/store/world.ts';
import type { ChangeFeedItem } from './journal/feed-event.ts';
import type { Recorder } from './journal/recorder.ts';
import type { DeliveredSamples } from './samples/delivered-samples.ts';

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
export interface ControlScope extends ControlledParts, BehaviourReader {
  readonly worlds: ReachableWorlds;
  /** Finds the inbox of an address. */
  locate(address: string): InboxLocation | undefined;
  /** Publishes a change in the feed that belongs to no tenant, or only to the sandbox. */
  publishChange(kind: ChangeFeedItem['kind'], action: ChangeFeedItem['action'], name?: string): void;
}

/** Creates the scope of some worlds of a mailbox. */
export function createScope(parts: ControlledParts, worlds: ReachableWorlds): ControlScope {
  const reader = createSilentReader(parts.service.behaviours);
  const { sandboxId: tenantId = null } = worlds;
  return {
    ...{ ...parts, ...reader, worlds },
    locate: (address) => findInbox({ worlds, ...reader }, address.toLowerCase()),
    publishChange: (kind, action, name) =>
      parts.recorder.publish(tenantId, { kind, action, tenantId, name: name ?? null }),
  };
}
