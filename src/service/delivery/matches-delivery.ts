import type { Delivery, DeliveryFilter } from './delivery.ts';

/** Returns whether a delivery matches every field of a filter that is given. */
export function matchesDelivery(delivery: Delivery, filter: DeliveryFilter): boolean {
  const { tenantId, webhookId, event, state } = delivery;
  return (
    (filter.tenant === undefined || filter.tenant === tenantId) &&
    (filter.webhookId === undefined || filter.webhookId === webhookId) &&
    (filter.event === undefined || filter.event === event) &&
    (filter.state === undefined || filter.state === state)
  );
}
