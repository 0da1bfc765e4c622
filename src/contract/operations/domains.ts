import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { DELETE_REPLIES } from '../replies.ts';
import { domainName, domainStatus, lookupId, lookupName, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const tiers = (choose: Choose) => TIER_SETS[choose('domains.tiers')];
const params = z.object({ domain: lookupName });

const dnsRecord = z.strictObject({
  type: z.enum(['MX', 'TXT', 'CNAME']),
  name: z.string(),
  value: z.string(),
  priority: z.int().nullable(),
  status: domainStatus,
});

const domain = z.strictObject({
  id: uuid,
  domain: z.string(),
  status: domainStatus,
  workspaceId: uuid.nullable(),
  dnsRecords: z.array(dnsRecord),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const domainReply = (choose: Choose) => ({ reference: domain })[choose('domains.shape')];

const DELETED = {
  ...DELETE_REPLIES,
  'deleted-and-domain': z.strictObject({ deleted: z.literal(true), domain: z.string() }),
};

export const domainOperations = {
  createDomain: defineOperation({
    method: 'POST',
    path: '/v1/domains',
    summary: 'Register a domain, which is pending until it is verified',
    origin: 'reference',
    tiers,
    body: () => z.object({ domain: domainName, workspaceId: lookupId.nullish() }),
    status: 201,
    reply: domainReply,
    errors: ['FORBIDDEN', 'ALREADY_EXISTS', 'NOT_FOUND'],
  }),
  listDomains: defineOperation({
    method: 'GET',
    path: '/v1/domains',
    summary: 'List domains',
    origin: 'reference',
    tiers,
    query: () => z.object({ workspace: lookupId.optional() }),
    status: 200,
    reply: (choose) => z.strictObject({ domains: z.array(domainReply(choose)) }),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getDomain: defineOperation({
    method: 'GET',
    path: '/v1/domains/{domain}',
    summary: 'Read a domain with the DNS records that it asks for',
    origin: 'reference',
    tiers,
    params,
    status: 200,
    reply: domainReply,
  }),
  verifyDomain: defineOperation({
    method: 'GET',
    path: '/v1/domains/{domain}/verify',
    summary: 'Verify a domain',
    origin: 'reference',
    tiers,
    params,
    status: 200,
    reply: (choose) => ({ domain: domainReply(choose) })[choose('domains.verify.reply')],
  }),
  deleteDomain: defineOperation({
    method: 'DELETE',
    path: '/v1/domains/{domain}',
    summary: 'Delete a domain',
    origin: 'reference',
    tiers,
    params,
    status: 200,
    reply: (choose) => DELETED[choose('domains.delete.body')],
  }),
};
