import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { bareEmail } from '../email-address-schema.ts';
import { defineOperation } from '../operation.ts';
import { queryFlag } from '../query.ts';
import { domainName, flag, idInRequest, idParams, line, metadata, nameInRequest, username } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const readTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('inboxes.read.tiers')];
const changing = {
  origin: 'reference',
  tiers: (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('inboxes.change.tiers')],
} as const;

const displayName = () => line(200).trim().nullish();

export const inboxOperations = {
  createInbox: defineOperation('POST /v1/inboxes', 'Create an inbox, or return the existing one with this address', {
    origin: 'reference',
    section: '4.4',
    tiers: () => ['tenant', 'workspace'],
    query: () => z.object({ strict: queryFlag().optional() }),
    assumes: ['inboxes.create.username'],
    body: () =>
      z.object({
        username: username().nullish(),
        displayName: displayName(),
        domain: domainName().nullish(),
        workspaceId: idInRequest().nullish(),
      }),
    status: 201,
    otherStatus: 200,
    errors: ['FORBIDDEN', 'CONFLICT', 'USERNAME_TAKEN', 'NOT_FOUND'],
  }),
  listInboxes: defineOperation('GET /v1/inboxes', 'List inboxes', {
    origin: 'reference',
    tiers: readTiers,
    query: () => z.object({ workspace: idInRequest().optional() }),
    assumes: ['inboxes.list.order'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getInbox: defineOperation('GET /v1/inboxes/{id}', 'Read an inbox, with its credentials', {
    origin: 'reference',
    tiers: readTiers,
    params: idParams,
  }),
  updateInbox: defineOperation('PATCH /v1/inboxes/{id}', 'Update the display name or the metadata of an inbox', {
    ...changing,
    params: idParams,
    body: () => z.object({ displayName: displayName(), metadata: metadata().nullish() }),
    assumes: ['inboxes.update.reply'],
  }),
  deleteInbox: defineOperation('DELETE /v1/inboxes/{id}', 'Delete an inbox', {
    ...changing,
    params: idParams,
    assumes: ['inboxes.delete.kept'],
  }),
  addInboxAddress: defineOperation('POST /v1/inboxes/{id}/addresses', 'Add an address to an inbox', {
    ...changing,
    params: idParams,
    assumes: ['sending.addresses'],
    body: () => z.object({ email: bareEmail(), primary: flag().default(true) }),
    status: 201,
    errors: ['FORBIDDEN', 'ALREADY_EXISTS'],
  }),
  deleteInboxAddress: defineOperation(
    'DELETE /v1/inboxes/{id}/addresses/{address}',
    'Remove an address from an inbox',
    { ...changing, params: () => z.object({ id: idInRequest(), address: nameInRequest() }), errors: ['CONFLICT'] },
  ),
};
