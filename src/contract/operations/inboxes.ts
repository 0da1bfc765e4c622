import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { bareEmail } from '../email-address-schema.ts';
import { defineOperation } from '../operation.ts';
import { queryFlag } from '../query.ts';
import { domainName, flag, idInRequest, idParams, line, metadata, nameInRequest, username } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const readTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('inboxes.read.tiers')];
const changeTiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('inboxes.change.tiers')];

const displayName = line(200).trim().nullish();

export const inboxOperations = {
  createInbox: defineOperation({
    method: 'POST',
    path: '/v1/inboxes',
    summary: 'Create an inbox, or return the existing one with this address',
    origin: 'reference',
    section: '4.4',
    tiers: () => ['tenant', 'workspace'],
    query: () => z.object({ strict: queryFlag.optional() }),
    assumes: ['inboxes.create.username'],
    body: () =>
      z.object({
        username: username.nullish(),
        displayName,
        domain: domainName.nullish(),
        workspaceId: idInRequest.nullish(),
      }),
    status: 201,
    otherStatus: 200,
    errors: ['FORBIDDEN', 'CONFLICT', 'USERNAME_TAKEN', 'NOT_FOUND'],
  }),
  listInboxes: defineOperation({
    method: 'GET',
    path: '/v1/inboxes',
    summary: 'List inboxes',
    origin: 'reference',
    tiers: readTiers,
    query: () => z.object({ workspace: idInRequest.optional() }),
    status: 200,
    assumes: ['inboxes.list.order'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getInbox: defineOperation({
    method: 'GET',
    path: '/v1/inboxes/{id}',
    summary: 'Read an inbox, with its credentials',
    origin: 'reference',
    tiers: readTiers,
    params: idParams,
    status: 200,
  }),
  updateInbox: defineOperation({
    method: 'PATCH',
    path: '/v1/inboxes/{id}',
    summary: 'Update the display name or the metadata of an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: idParams,
    body: () => z.object({ displayName, metadata: metadata.nullish() }),
    status: 200,
    assumes: ['inboxes.update.reply'],
  }),
  deleteInbox: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}',
    summary: 'Delete an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: idParams,
    status: 200,
    assumes: ['inboxes.delete.kept'],
  }),
  addInboxAddress: defineOperation({
    method: 'POST',
    path: '/v1/inboxes/{id}/addresses',
    summary: 'Add an address to an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: idParams,
    assumes: ['sending.addresses'],
    body: () => z.object({ email: bareEmail, primary: flag.default(true) }),
    status: 201,
    errors: ['FORBIDDEN', 'ALREADY_EXISTS'],
  }),
  deleteInboxAddress: defineOperation({
    method: 'DELETE',
    path: '/v1/inboxes/{id}/addresses/{address}',
    summary: 'Remove an address from an inbox',
    origin: 'reference',
    tiers: changeTiers,
    params: z.object({ id: idInRequest, address: nameInRequest }),
    status: 200,
    errors: ['CONFLICT'],
  }),
};
