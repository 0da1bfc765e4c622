import { z } from 'zod';
import type { ReadBehaviour } from '../../behaviours.ts';
import { defineReplies } from '../../operation.ts';
import { domainStatus, timestamp, uuid } from '../../schemas.ts';
import { deleteReplies } from './common.ts';

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
  z.strictObject({
    id: uuid(),
    domain: z.string(),
    status: simpleStatus(),
    workspaceId: uuid().nullable(),
    dnsRecords: z.array(dnsRecord()),
    ...commonFields(),
    updatedAt: timestamp(),
  });

const wrappedDomain = () =>
  z.strictObject({
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
  });

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
