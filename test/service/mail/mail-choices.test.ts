import type { BehaviourId } from 'agent-mailbox-mock';
import { describe, expect } from 'vitest';
import { everywhere, interceptRequests } from '../../support/everywhere.ts';
import { IDS } from '../../support/ids.ts';
import { ADDRESS, openInboxClients } from '../../support/inbox-clients.ts';
import {
  deleteThenChange,
  deleteThenDelete,
  deleteThenRead,
  deleteThenReply,
  forward,
  list,
  listAll,
  type MailCall,
  read,
  sendTo,
} from '../../support/mail-calls.ts';
import { namedIn } from '../../support/readings.ts';

interceptRequests();

const { messages: MESSAGES, drafts: DRAFTS } = IDS.acme;

/** What a reply names, and what it does not: a behaviour is named where another value would have changed the reply. */
const NAMED: [title: string, call: MailCall, named: BehaviourId[], unnamed: BehaviourId[]][] = [
  [
    'a message that is read',
    read,
    ['messages.shape', 'messages.to', 'messages.get.marks-read'],
    ['messages.list.order'],
  ],
  [
    'a message that was read before',
    ({ helpdesk }) => helpdesk.call('GET', `/messages/${MESSAGES.cannotLogIn}`),
    ['messages.shape'],
    ['messages.get.marks-read', 'messages.deleted'],
  ],
  [
    'a list of messages',
    list,
    ['messages.list.order', 'messages.shape'],
    ['messages.list.over-limit', 'messages.deleted'],
  ],
  [
    'a limit that is too high',
    ({ helpdesk }) => helpdesk.call('GET', '/messages?limit=201'),
    ['messages.list.over-limit'],
    ['messages.update.deleted'],
  ],
  ['a tenant-wide row', listAll, ['messages.all.shape', 'messages.addresses', 'messages.to'], ['messages.shape']],
  [
    'a change of a message in the trash',
    deleteThenChange,
    ['messages.update.deleted'],
    ['messages.deleted', 'messages.answer.deleted'],
  ],
  [
    'an answer to a message in the trash',
    deleteThenReply,
    ['messages.answer.deleted', 'sending.reply'],
    ['messages.deleted', 'messages.update.deleted'],
  ],
  [
    'the deletion of a message in the trash',
    deleteThenDelete,
    ['messages.delete.deleted', 'messages.delete.body'],
    ['messages.deleted', 'messages.update.deleted'],
  ],
  [
    'the deletion of a message',
    ({ helpdesk }) => helpdesk.call('DELETE', `/messages/${MESSAGES.thanks}`),
    ['messages.delete.body'],
    ['messages.delete.deleted'],
  ],
  ['a send to several in one string', sendTo(`${ADDRESS.dana}, ${ADDRESS.dana}`), ['sending.address-lists'], []],
  ['a send to what is no address', sendTo('dana@cust'), [], ['sending.address-lists']],
  [
    'a draft of what is half typed',
    ({ helpdesk }) => helpdesk.call('POST', '/drafts', { to: 'dana@cust' }),
    ['drafts.recipients'],
    [],
  ],
  [
    'sending a draft of what is half typed',
    async ({ helpdesk }) => {
      const { json } = await helpdesk.call('POST', '/drafts', { to: 'dana@cust' });
      return helpdesk.call('POST', `/drafts/${json.id}/send`);
    },
    [],
    ['drafts.recipients', 'sending.reply'],
  ],
  ['a message that is deleted', deleteThenRead, ['messages.deleted'], ['messages.shape']],
  [
    'a send to somebody known and away',
    sendTo(ADDRESS.dana),
    ['sending.reply'],
    ['sending.verified', 'sending.verified.scope', 'sending.simulators', 'sending.unknown-user'],
  ],
  [
    'a send to a stranger',
    sendTo(ADDRESS.stranger),
    ['sending.verified'],
    ['sending.verified.scope', 'sending.reply', 'sending.simulators'],
  ],
  [
    'a send to a simulator',
    sendTo('success@simulator.test'),
    ['sending.simulators'],
    ['sending.verified', 'sending.unknown-user'],
  ],
  [
    'a send to nobody at home',
    ({ helpdesk }) => helpdesk.call('POST', '/send', { to: 'nobody@acme.test', subject: 'Hi', verified: true }),
    ['sending.unknown-user'],
    ['sending.verified', 'sending.simulators'],
  ],
  [
    'a send from a paused inbox',
    async (inboxClients, service) => {
      await inboxClients.helpdesk.mail('pause@simulator.test');
      return sendTo(ADDRESS.stranger)(inboxClients, service);
    },
    [],
    ['sending.verified', 'sending.reply'],
  ],
  [
    'a send within the emulator',
    ({ helpdesk, info }) => helpdesk.call('POST', '/send', { to: info.address, subject: 'Hi', verified: true }),
    [],
    ['sending.verified'],
  ],
  [
    'a forward to somebody known',
    ({ helpdesk }) => helpdesk.call('POST', `/forward/${MESSAGES.thanks}`, { to: ADDRESS.dana, subject: 'Mine' }),
    ['sending.forward.body', 'sending.reply'],
    ['sending.verified', 'sending.verified.scope'],
  ],
  ['a forward to a stranger', forward, ['sending.verified.scope'], ['sending.verified']],
  [
    'a reply',
    ({ helpdesk }) => helpdesk.call('POST', `/reply/${MESSAGES.thanks}`, {}),
    [],
    ['sending.verified.scope', 'sending.forward.body'],
  ],
  [
    'a draft that says where it goes and what it is about',
    ({ helpdesk }) => helpdesk.call('POST', `/drafts/${DRAFTS.helpdesk}/send`),
    ['sending.reply'],
    ['sending.verified.scope'],
  ],
  [
    'a thread',
    ({ helpdesk }) => helpdesk.call('GET', `/threads/${IDS.acme.threads.login}`),
    ['messages.shape'],
    ['messages.list.order', 'messages.deleted'],
  ],
  ['a list of threads', ({ helpdesk }) => helpdesk.call('GET', '/threads'), [], ['messages.shape']],
  [
    'a draft without recipients',
    async ({ helpdesk }) => {
      const { json } = await helpdesk.call('POST', '/drafts', {});
      return helpdesk.call('POST', `/drafts/${json.id}/send`);
    },
    [],
    ['sending.reply'],
  ],
  [
    'a raw message',
    ({ helpdesk }) => helpdesk.call('GET', `/messages/${MESSAGES.thanks}/raw`),
    [],
    ['messages.shape', 'messages.get.marks-read'],
  ],
];

describe('choices about mail', () => {
  for (const [title, call, named, unnamed] of NAMED) {
    everywhere(`${title} names ${named.join(' and ') || 'no choice that it does not depend on'}`, async (service) => {
      const ids = namedIn(await call(openInboxClients(service), service));
      expect(ids).toEqual(expect.arrayContaining(named));
      expect(ids.filter((id) => unnamed.some((other) => other === id))).toEqual([]);
    });
  }
});
