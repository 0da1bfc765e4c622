import { z } from 'zod';
import type { Choose } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { deletedReply, domainName, emptyReply, pathId, pathName, timestamp, uuid } from '../schemas.ts';
import type { Tier } from '../tiers.ts';

const DOMAIN_TIERS = {
  'tenant-and-workspace': ['tenant', 'workspace'],
  'tenant-only': ['tenant'],
} as const satisfies Record<string, readonly Tier[]>;

const tiers = (choose: Choose) => DOMAIN_TIERS[choose('domains.tiers')];
const params = z.object({ domain: pathName });

const status = z.enum(['pending', 'verified', 'failed']);

const dnsRecord = z.strictObject({
  type: z.enum(['MX', 'TXT', 'CNAME']),
  name: z.string(),
  value: z.string(),
  priority: z.int().nullable(),
  status,
});

const domain = z.strictObject({
  id: uuid,
  domain: z.string(),
  status,
  workspaceId: uuid.nullable(),
  dnsRecords: z.array(dnsRecord),
  createdAt: timestamp,
  updatedAt: timestamp,
});

const domainReply = (choose: Choose) => ({ reference: domain })[choose('domains.shape')];

const DELETE_REPLIES = {
  'deleted-and-domain': z.strictObject({ deleted: z.literal(true), domain: z.string() }),
  'deleted-and-id': deletedReply,
  empty: emptyReply,
};

export const domainOperations = {
  createDomain: defineOperation({
    method: 'POST',
    path: '/v1/domains',
    summary: 'Register a domain, which is pending until it is verified',
    origin: 'reference',
    tiers,
    body: () => z.object({ domain: domainName, workspaceId: pathId.nullish() }),
    status: 201,
    reply: domainReply,
    errors: ['ALREADY_EXISTS', 'NOT_FOUND'],
  }),
  listDomains: defineOperation({
    method: 'GET',
    path: '/v1/domains',
    summary: 'List domains',
    origin: 'reference',
    tiers,
    status: 200,
    reply: (choose) => z.strictObject({ domains: z.array(domainReply(choose)) }),
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
    reply: (choose) => DELETE_REPLIES[choose('domains.delete.body')],
  }),
};
