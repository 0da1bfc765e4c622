import { describe, expect } from 'vitest';
import { everywhere, interceptRequests, type Service } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';

interceptRequests();

const { helpdesk, billing, outreach } = IDS.acme.inboxes;
const { support, sales } = IDS.acme.workspaces;
const acme = IDS.acme.tenant;

/** A week after the mail of the fixture. */
const NOW = '2026-01-15T12:00:00.000Z';
const THEN = { environment: { now: () => new Date(NOW) } };

const asTenant = ({ mailbox }: Service) => ({ key: mailbox.keys.acme.tenant });
const metrics = (service: Service, query = {}, key = service.mailbox.keys.acme.tenant) =>
  service.send('GET', '/v1/metrics', { key, query });
const counts = async (service: Service, query = {}) => (await metrics(service, query)).json.counts;
const sendMail = (service: Service, to: string | string[]) =>
  service.send('POST', `/v1/inboxes/${helpdesk}/send`, {
    ...asTenant(service),
    json: { to, subject: 'Hi', verified: true },
  });
const verdict = async (service: Service, email: string) =>
  (await service.send('POST', '/v1/verify-email', { ...asTenant(service), json: { email } })).json;

describe('me', () => {
  everywhere('each tier receives its identity, with null for ids that do not apply', async ({ send, mailbox }) => {
    const { operator, acme: keys, globex } = mailbox.keys;
    const nobody = { tenantId: null, workspaceId: null, inboxId: null, email: null };
    const identities: [key: string, identity: object][] = [
      [operator, { ...nobody, tier: 'operator' }],
      [keys.tenant, { ...nobody, tier: 'tenant', tenantId: acme }],
      [keys.workspaces.sales, { ...nobody, tier: 'workspace', tenantId: acme, workspaceId: sales }],
      [
        keys.inboxes.helpdesk,
        { tier: 'inbox', tenantId: acme, workspaceId: support, inboxId: helpdesk, email: 'helpdesk@acme.test' },
      ],
      [globex.tenant, { ...nobody, tier: 'tenant', tenantId: IDS.globex.tenant }],
    ];
    for (const [key, identity] of identities) {
      const { status, json } = await send('GET', '/v1/me', { key });
      expect([status, json]).toEqual([200, identity]);
    }
  });

  everywhere('the e-mail address of an inbox key is the primary one', async (service) => {
    const json = { email: 'help@mailbox.test' };
    await service.send('POST', `/v1/inboxes/${helpdesk}/addresses`, { ...asTenant(service), json });
    const me = await service.send('GET', '/v1/me', { key: service.mailbox.keys.acme.inboxes.helpdesk });
    expect(me.json.email).toBe('help@mailbox.test');
  });
});

describe('metrics', () => {
  everywhere('without selectors they cover the last 30 days of the whole tenant', THEN, async (service) => {
    const { status, json } = await metrics(service);
    expect([status, json]).toEqual([
      200,
      {
        window: { from: '2025-12-16T12:00:00.000Z', to: NOW },
        scope: { tenantId: acme, workspaceId: null, inboxId: null },
        counts: { sent: 2, received: 3, bounced: 0 },
        resources: { inboxes: 3, domains: 2 },
      },
    ]);
  });

  everywhere('selectors and the key decide their scope', THEN, async (service) => {
    const { tenant, workspaces, inboxes } = service.mailbox.keys.acme;
    const views: [key: string, query: object, scope: unknown[], counts: number[], resources: number[]][] = [
      [tenant, { workspace: support }, [support, null], [1, 3], [2, 1]],
      [tenant, { workspace: sales }, [sales, null], [1, 0], [1, 0]],
      [tenant, { inbox: billing }, [support, billing], [0, 1], [1, 0]],
      [tenant, { inbox: billing, workspace: support }, [support, billing], [0, 1], [1, 0]],
      [workspaces.sales, {}, [sales, null], [1, 0], [1, 0]],
      [workspaces.support, { inbox: helpdesk }, [support, helpdesk], [1, 2], [1, 0]],
      [inboxes.outreach, {}, [sales, outreach], [1, 0], [1, 0]],
      [inboxes.outreach, { inbox: outreach }, [sales, outreach], [1, 0], [1, 0]],
    ];
    for (const [key, query, scope, [sent, received], [inboxCount, domains]] of views) {
      const { json } = await metrics(service, query, key);
      expect(json.scope).toEqual({ tenantId: acme, workspaceId: scope[0], inboxId: scope[1] });
      expect(json.counts).toEqual({ sent, received, bounced: 0 });
      expect(json.resources).toEqual({ inboxes: inboxCount, domains });
    }
  });

  everywhere('an inbox out of scope, or of another workspace than the one selected, is not found', async (service) => {
    const { tenant, workspaces, inboxes } = service.mailbox.keys.acme;
    const refused: [key: string, query: object][] = [
      [tenant, { inbox: IDS.globex.inboxes.info }],
      [tenant, { inbox: IDS.nobody }],
      [tenant, { inbox: helpdesk, workspace: sales }],
      [workspaces.support, { inbox: outreach }],
      [inboxes.helpdesk, { inbox: billing }],
    ];
    for (const [key, query] of refused) {
      const { status, json } = await metrics(service, query, key);
      expect([status, json.error]).toEqual([404, 'There is no inbox with this id.']);
    }
  });

  everywhere('both ends of the window are inclusive', THEN, async (service) => {
    const first = '2026-01-06T08:12:03.000Z';
    const last = '2026-01-08T10:05:00.000Z';
    expect(await counts(service, { from: first, to: last })).toMatchObject({ sent: 2, received: 3 });
    expect(await counts(service, { from: '2026-01-06T08:12:03.001Z', to: last })).toMatchObject({
      sent: 2,
      received: 2,
    });
    expect(await counts(service, { from: first, to: '2026-01-08T10:04:59.999Z' })).toMatchObject({
      sent: 1,
      received: 3,
    });
    expect(await counts(service, { from: first, to: first })).toMatchObject({ sent: 0, received: 1 });
  });

  everywhere('times are accepted in any time zone, and a date means the whole day in UTC', THEN, async (service) => {
    const windowOf = async (query: object) => (await metrics(service, query)).json.window;
    expect(await windowOf({ from: '2026-01-05', to: '2026-01-06' })).toEqual({
      from: '2026-01-05T00:00:00.000Z',
      to: '2026-01-06T23:59:59.999Z',
    });
    expect(await windowOf({ from: '2026-01-05T09:00:00+02:00', to: '2026-01-05T09:00:00Z' })).toEqual({
      from: '2026-01-05T07:00:00.000Z',
      to: '2026-01-05T09:00:00.000Z',
    });
    expect(await windowOf({ from: '2026-01-05' })).toEqual({ from: '2026-01-05T00:00:00.000Z', to: NOW });
    expect(await windowOf({ to: '2026-01-31' })).toEqual({
      from: '2026-01-01T23:59:59.999Z',
      to: '2026-01-31T23:59:59.999Z',
    });
  });

  everywhere(
    'a number below 100,000,000,000 is in seconds since 1970, any other in milliseconds',
    THEN,
    async (service) => {
      const windowOf = async (query: object) => (await metrics(service, query)).json.window;
      const window = { from: '2026-01-05T09:00:00.000Z', to: '2026-01-06T09:00:00.123Z' };
      expect(await windowOf({ from: '1767603600', to: '1767690000123' })).toEqual(window);
      expect(await windowOf({ from: '1767603600000', to: '1767690000123' })).toEqual(window);
      expect(await windowOf({ from: '0', to: '1' })).toEqual({
        from: '1970-01-01T00:00:00.000Z',
        to: '1970-01-01T00:00:01.000Z',
      });
      expect(await windowOf({ from: '100000000000', to: '99999999999' })).toEqual({
        from: '1973-03-03T09:46:40.000Z',
        to: '5138-11-16T09:46:39.000Z',
      });
      expect(await counts(service, { from: '1767225600', to: '1768435200' })).toMatchObject({ sent: 2, received: 3 });
    },
  );

  everywhere('what is neither a time nor a number since 1970 returns 400', THEN, async (service) => {
    const rule =
      'from must be a time such as 2026-01-05T09:00:00.000Z, a day such as 2026-01-05, or seconds or milliseconds since 1970 such as 1767603600';
    for (const from of ['yesterday', '', '-1', '1767603600.5', '1e9', ' 1', '0x10', '2026-02-30', '1'.repeat(16)]) {
      const { status, json } = await metrics(service, { from });
      expect([from, status, json.error]).toEqual([from, 400, `The query is not valid: ${rule}.`]);
    }
    const { json } = await metrics(service, { from: '999999999999999' });
    expect(json.error).toBe('The query is not valid: from must be in the years 0001 to 9999.');
  });

  everywhere('a from that is later than to or than now returns 400', THEN, async (service) => {
    for (const query of [{ from: '2026-01-06', to: '2026-01-05' }, { from: '2026-01-16' }]) {
      const { status, json } = await metrics(service, query);
      expect([status, json.error]).toEqual([400, 'The query is not valid: from must not be later than to.']);
    }
  });

  everywhere(
    'a sent message, each received copy and a bounce count once each',
    { behaviours: { 'sending.bounce.report': 'none' } },
    async (service) => {
      expect(await counts(service)).toEqual({ sent: 0, received: 0, bounced: 0 });
      await sendMail(service, ['billing@acme.test', 'outreach@acme.test']);
      expect(await counts(service)).toEqual({ sent: 1, received: 2, bounced: 0 });
      await sendMail(service, ['nobody@mailbox.test', 'bounce@simulator.test']);
      expect(await counts(service)).toEqual({ sent: 2, received: 2, bounced: 1 });
      await sendMail(service, 'relay-error@simulator.test');
      await sendMail(service, 'info@globex.test');
      expect(await counts(service)).toEqual({ sent: 3, received: 2, bounced: 1 });
      const globex = await metrics(service, {}, service.mailbox.keys.globex.tenant);
      expect(globex.json.counts).toEqual({ sent: 0, received: 1, bounced: 0 });
    },
  );

  everywhere('a deleted message still counts, but not a message of a deleted inbox', THEN, async (service) => {
    await service.send('DELETE', `/v1/inboxes/${billing}/messages/${IDS.acme.messages.invoice}`, asTenant(service));
    expect((await metrics(service)).json).toMatchObject({
      counts: { sent: 2, received: 3 },
      resources: { inboxes: 3 },
    });
    await service.send('DELETE', `/v1/inboxes/${billing}`, asTenant(service));
    expect((await metrics(service)).json).toMatchObject({
      counts: { sent: 2, received: 2 },
      resources: { inboxes: 2 },
    });
  });
});

/** Addresses and the reasons why they are invalid. */
const VERDICTS: [email: string, reason: string | null][] = [
  ['helpdesk@acme.test', null],
  ['info@globex.test', null],
  ['ada@example.com', null],
  ["o'brien+tag@sub.example.co", null],
  ['success@simulator.test', null],
  ['bounce@simulator.test', 'bounces'],
  ['bounce+42@simulator.test', 'bounces'],
  ['nobody@mailbox.test', 'no-such-inbox'],
  ['nobody@acme.test', 'no-such-inbox'],
  ['nobody@mail.acme.test', null],
  ['', 'syntax'],
  ['ada', 'syntax'],
  ['ada@', 'syntax'],
  ['@example.com', 'syntax'],
  ['ada@example', 'syntax'],
  ['ada@@example.com', 'syntax'],
  ['ada..b@example.com', 'syntax'],
  ['ada@example.com, eve@example.com', 'syntax'],
  ['ada <ada@example.com>', 'syntax'],
  ['ada@exam\nple.com', 'syntax'],
];

describe('verifying an e-mail address', () => {
  for (const [email, reason] of VERDICTS) {
    everywhere(`${JSON.stringify(email)} is ${reason === null ? 'valid' : `invalid: ${reason}`}`, async (service) => {
      expect(await verdict(service, email)).toEqual({ email, valid: reason === null, reason });
    });
  }

  everywhere('an address is trimmed and converted to lower case', async (service) => {
    expect(await verdict(service, ' Helpdesk@ACME.test\n')).toEqual({
      email: 'helpdesk@acme.test',
      valid: true,
      reason: null,
    });
  });

  everywhere('an address is invalid once its inbox is deleted', async (service) => {
    await service.send('DELETE', `/v1/inboxes/${outreach}`, asTenant(service));
    expect(await verdict(service, 'outreach@acme.test')).toMatchObject({ valid: false, reason: 'no-such-inbox' });
  });

  everywhere(
    'without simulators an address at simulator.test is like any other',
    { behaviours: { 'sending.simulators': 'off' } },
    async (service) => {
      expect(await verdict(service, 'bounce@simulator.test')).toMatchObject({ valid: true, reason: null });
    },
  );

  everywhere(
    'if mail to unknown addresses is accepted, an unknown address is valid',
    { behaviours: { 'sending.unknown-user': 'accepted' } },
    async (service) => {
      expect(await verdict(service, 'nobody@mailbox.test')).toMatchObject({ valid: true, reason: null });
    },
  );
});
