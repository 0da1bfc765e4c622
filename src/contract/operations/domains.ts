import { z } from 'zod';
import { chooseBy, defineOperations } from '../operation.ts';
import { deleteReplies, domainName, domainStatus, fieldsOf, idInRequest, object, timestamp, uuid } from '../schemas.ts';

const simpleStatus = () => domainStatus().extract(['pending', 'verified', 'failed']);

const dnsRecord = () =>
  z.strictObject({
    type: z.enum(['MX', 'TXT', 'CNAME']),
    ...fieldsOf(() => z.string(), 'name', 'value'),
    priority: z.int().nullable(),
    status: simpleStatus(),
  });

/** The fields that a domain has with each value of `domains.shape`. */
const commonFields = () => ({
  ...fieldsOf(z.boolean, 'inboundEnabled', 'outboundEnabled'),
  verifiedAt: timestamp().nullable(),
  createdAt: timestamp(),
});

const domain = () =>
  object('Domain', {
    id: uuid(),
    domain: z.string(),
    status: simpleStatus(),
    workspaceId: uuid().nullable(),
    dnsRecords: z.array(dnsRecord()),
    ...commonFields(),
    updatedAt: timestamp(),
  });

const wrappedDomain = () => {
  const { type } = dnsRecord().shape;
  const record = z.strictObject({ type, host: z.string(), value: z.string(), priority: z.int().optional() });
  return object('Domain', { domain: z.string(), status: domainStatus(), ...commonFields(), records: z.array(record) });
};

const reply = chooseBy('domains.shape', () => ({
  reference: domain(),
  wrapped: z.strictObject({ domain: wrappedDomain() }),
}));

/** Creates the row of an operation on domains. */
const operation = defineOperations({
  origin: 'reference',
  tiers: 'domains.tiers',
});

export const domainOperations = {
  createDomain: operation('POST /v1/domains', 'Register a domain, which is pending until it is verified', {
    body: () => z.object({ domain: domainName(), workspaceId: idInRequest().nullish() }),
    reply,
    status: 201,
    errors: ['FORBIDDEN', 'ALREADY_EXISTS', 'NOT_FOUND'],
  }),
  listDomains: operation('GET /v1/domains', 'List domains', {
    query: () => z.object({ workspace: idInRequest().optional() }),
    reply: chooseBy('domains.shape', () => ({
      reference: z.strictObject({ domains: z.array(domain()) }),
      wrapped: z.strictObject({ domains: z.array(wrappedDomain()) }),
    })),
    errors: ['FORBIDDEN', 'NOT_FOUND'],
  }),
  getDomain: operation('GET /v1/domains/{domain}', 'Read a domain with its required DNS records', { reply }),
  verifyDomain: operation('GET /v1/domains/{domain}/verify', 'Verify a domain', {
    reply,
    errors: ['CONFLICT'],
  }),
  deleteDomain: operation('DELETE /v1/domains/{domain}', 'Delete a domain', {
    reply: chooseBy('domains.delete.body', () => ({
      ...deleteReplies(),
      'deleted-and-domain': z.strictObject({ deleted: z.literal(true), domain: z.string() }),
    })),
  }),
};
