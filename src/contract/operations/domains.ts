import { z } from 'zod';
import type { ReadBehaviour } from '../behaviours.ts';
import { defineOperation, defineReplies } from '../operation.ts';
import { deleteReplies, domainName, domainStatus, idInRequest, nameInRequest, timestamp, uuid } from '../schemas.ts';
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

const simpleStatus = () => domainStatus().extract(['pending', 'verified', 'failed']);

const dnsRecord = () =>
  z.strictObject({
    type: z.enum(['MX', 'TXT', 'CNAME']),
    name: z.string(),
    value: z.string(),
    priority: z.int().nullable(),
    status: simpleStatus(),
  });

/** Fields that both forms of a domain have. */
const commonFields = () => ({
  inboundEnabled: z.boolean(),
  outboundEnabled: z.boolean(),
  verifiedAt: timestamp().nullable(),
  createdAt: timestamp(),
});

const domain = () =>
  z
    .strictObject({
      id: uuid(),
      domain: z.string(),
      status: simpleStatus(),
      workspaceId: uuid().nullable(),
      dnsRecords: z.array(dnsRecord()),
      ...commonFields(),
      updatedAt: timestamp(),
    })
    .meta({ id: 'Domain' });

const wrappedDomain = () =>
  z
    .strictObject({
      domain: z.string(),
      status: domainStatus(),
      ...commonFields(),
      records: z.array(
        z.strictObject({
          type: dnsRecord().shape.type,
          host: z.string(),
          value: z.string(),
          priority: z.int().optional(),
        }),
      ),
    })
    .meta({ id: 'Domain' });

const replies = () => ({ reference: domain(), wrapped: z.strictObject({ domain: wrappedDomain() }) });

const lists = () => ({
  reference: z.strictObject({ domains: z.array(domain()) }),
  wrapped: z.strictObject({ domains: z.array(wrappedDomain()) }),
});

const domainReply = (readBehaviour: ReadBehaviour) => replies()[readBehaviour('domains.shape')];

const deleted = () => ({
  ...deleteReplies(),
  'deleted-and-domain': z.strictObject({ deleted: z.literal(true), domain: z.string() }),
});

/** The bodies of the successful replies of these operations. */
export const domainReplies = defineReplies({
  createDomain: domainReply,
  listDomains: (readBehaviour) => lists()[readBehaviour('domains.shape')],
  getDomain: domainReply,
  verifyDomain: domainReply,
  deleteDomain: (readBehaviour) => deleted()[readBehaviour('domains.delete.body')],
});
