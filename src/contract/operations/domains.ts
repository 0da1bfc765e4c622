import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { domainName, idInRequest, nameInRequest } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const tiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('domains.tiers')];
const params = z.object({ domain: nameInRequest });

export const domainOperations = {
  createDomain: defineOperation({
    method: 'POST',
    path: '/v1/domains',
    summary: 'Register a domain, which is pending until it is verified',
    origin: 'reference',
    tiers,
    body: () => z.object({ domain: domainName, workspaceId: idInRequest.nullish() }),
    status: 201,
    assumes: ['domains.enabled'],
    errors: ['FORBIDDEN', 'ALREADY_EXISTS', 'NOT_FOUND'],
  }),
  listDomains: defineOperation({
    method: 'GET',
    path: '/v1/domains',
    summary: 'List domains',
    origin: 'reference',
    tiers,
    query: () => z.object({ workspace: idInRequest.optional() }),
    status: 200,
    assumes: ['domains.enabled'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getDomain: defineOperation({
    method: 'GET',
    path: '/v1/domains/{domain}',
    summary: 'Read a domain with its required DNS records',
    origin: 'reference',
    tiers,
    params,
    status: 200,
    assumes: ['domains.enabled'],
  }),
  verifyDomain: defineOperation({
    method: 'GET',
    path: '/v1/domains/{domain}/verify',
    summary: 'Verify a domain',
    origin: 'reference',
    tiers,
    params,
    status: 200,
    assumes: ['domains.enabled', 'domains.verify.outcome', 'domains.verify.reply'],
    errors: ['CONFLICT'],
  }),
  deleteDomain: defineOperation({
    method: 'DELETE',
    path: '/v1/domains/{domain}',
    summary: 'Delete a domain',
    origin: 'reference',
    tiers,
    params,
    status: 200,
    assumes: ['domains.delete.in-use'],
  }),
};
