import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation } from '../operation.ts';
import { DELETE_REPLIES } from '../replies.ts';
import { domainName, domainStatus, idInRequest, nameInRequest, timestamp, uuid } from '../schemas.ts';
import { TIER_SETS } from '../tiers.ts';

const tiers = (readBehaviour: ReadBehaviour) => TIER_SETS[readBehaviour('domains.tiers')];
const params = z.object({ domain: nameInRequest });

const flatStatus = domainStatus.extract(['pending', 'verified', 'failed']);

const dnsRecord = z.strictObject({
  type: z.enum(['MX', 'TXT', 'CNAME']),
  name: z.string(),
  value: z.string(),
  priority: z.int().nullable(),
  status: flatStatus,
});

/** Fields that both forms of a domain have. */
const commonFields = {
  inboundEnabled: z.boolean(),
  outboundEnabled: z.boolean(),
  verifiedAt: timestamp.nullable(),
  createdAt: timestamp,
};

const domain = z.strictObject({
  id: uuid,
  domain: z.string(),
  status: flatStatus,
  workspaceId: uuid.nullable(),
  dnsRecords: z.array(dnsRecord),
  ...commonFields,
  updatedAt: timestamp,
});

const wrappedDomain = z.strictObject({
  domain: z.string(),
  status: domainStatus,
  ...commonFields,
  records: z.array(
    z.strictObject({ type: dnsRecord.shape.type, host: z.string(), value: z.string(), priority: z.int().optional() }),
  ),
});

const REPLIES = { reference: domain, wrapped: z.strictObject({ domain: wrappedDomain }) };
const LISTS = {
  reference: z.strictObject({ domains: z.array(domain) }),
  wrapped: z.strictObject({ domains: z.array(wrappedDomain) }),
};

const domainReply = (readBehaviour: ReadBehaviour) => REPLIES[readBehaviour('domains.shape')];

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
    body: () => z.object({ domain: domainName, workspaceId: idInRequest.nullish() }),
    status: 201,
    assumes: ['domains.enabled'],
    reply: domainReply,
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
    reply: (readBehaviour) => LISTS[readBehaviour('domains.shape')],
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
    assumes: ['domains.enabled', 'domains.verify.outcome', 'domains.verify.reply'],
    reply: domainReply,
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
    reply: (readBehaviour) => DELETED[readBehaviour('domains.delete.body')],
  }),
};
