import { createMailbox } from 'agent-mailbox-mock';
import { expect, test } from 'vitest';
import { AgentActivity } from '../../../src/control/verdicts/agent-activity.ts';
import { eventually } from '../../support/eventually.ts';

const UNKNOWN = { limitMs: 1, quietMs: 1, hasBreached: false, isAtWork: false, saidDone: false };

/** Follows an agent that looks for mail by GET. */
function follow() {
  const mailbox = createMailbox();
  const { helpdesk } = mailbox.ids.acme.inboxes;
  const activity = new AgentActivity(mailbox, { looks: 'again', startsUnseen: false, inboxId: helpdesk });
  activity.begin();
  return {
    mailbox,
    inbox: `/v1/inboxes/${helpdesk}`,
    /** Calls the service as the agent, and returns whether this showed it anything new. */
    async sawNews(method: string, path: string, json?: object): Promise<boolean> {
      const { lastNewsMs } = activity.observe(UNKNOWN);
      // Two looks in one millisecond could not be told apart.
      await eventually(() => expect(Date.now()).toBeGreaterThan(lastNewsMs));
      const headers = { 'X-API-Key': mailbox.keys.acme.tenant, 'Content-Type': 'application/json' };
      const { events } = activity;
      const body = json === undefined ? {} : { body: JSON.stringify(json) };
      const reply = await mailbox.fetch(`${mailbox.baseUrl}${path}`, { method, headers, ...body });
      expect(reply.status).toBeLessThan(300);
      await eventually(() => expect(activity.events).toBeGreaterThan(events));
      return activity.observe(UNKNOWN).lastNewsMs > lastNewsMs;
    },
    [Symbol.dispose]: () => activity.end(),
  };
}

test('a look that shows a mail for the first time is news, and one that shows nothing new is none', async () => {
  using agent = follow();
  const list = `${agent.inbox}/messages`;
  expect(await agent.sawNews('GET', list)).toBe(true);
  expect(await agent.sawNews('GET', list)).toBe(false);
  const [mail] = await agent.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'a@b.test', subject: 'New' });
  expect(await agent.sawNews('GET', list)).toBe(true);
  expect(await agent.sawNews('GET', list)).toBe(false);
  // The path is new, and the mail is not.
  expect(await agent.sawNews('GET', `${list}/${mail?.id}`)).toBe(true);
  expect(await agent.sawNews('GET', `${list}/${mail?.id}`)).toBe(false);
});

test('the mail that the agent itself has sent is no news to it', async () => {
  using agent = follow();
  const list = `${agent.inbox}/messages`;
  const [mail] = await agent.mailbox.receiveMessage({ to: 'helpdesk@acme.test', from: 'a@b.test' });
  expect(await agent.sawNews('GET', list)).toBe(true);
  expect(await agent.sawNews('POST', `${agent.inbox}/reply/${mail?.id}`, { plainBody: 'Hello' })).toBe(false);
  expect(await agent.sawNews('GET', list)).toBe(false);
});
