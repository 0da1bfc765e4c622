import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { domainName, idInRequest, nameInRequest } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const byReference = {
  origin: 'reference',
  tiers: (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('domains.tiers')],
} as const;
const params = () => z.object({ domain: nameInRequest() });

export const domainOperations = {
  createDomain: defineOperation('POST /v1/domains', 'Register a domain, which is pending until it is verified', {
    ...byReference,
    body: () => z.object({ domain: domainName(), workspaceId: idInRequest().nullish() }),
    status: 201,
    assumes: ['domains.enabled'],
    errors: ['FORBIDDEN', 'ALREADY_EXISTS', 'NOT_FOUND'],
  }),
  listDomains: defineOperation('GET /v1/domains', 'List domains', {
    ...byReference,
    query: () => z.object({ workspace: idInRequest().optional() }),
    assumes: ['domains.enabled'],
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getDomain: defineOperation('GET /v1/domains/{domain}', 'Read a domain with its required DNS records', {
    ...byReference,
    params,
    assumes: ['domains.enabled'],
  }),
  verifyDomain: defineOperation('GET /v1/domains/{domain}/verify', 'Verify a domain', {
    ...byReference,
    params,
    assumes: ['domains.enabled', 'domains.verify.outcome', 'domains.verify.reply'],
    errors: ['CONFLICT'],
  }),
  deleteDomain: defineOperation('DELETE /v1/domains/{domain}', 'Delete a domain', {
    ...byReference,
    params,
    assumes: ['domains.delete.in-use'],
  }),
};
