import type { Correspondent, CorrespondentOptions, Mail } from 'agent-mailbox-mock';
import { expect } from 'vitest';
import { type ControlAnswer, control } from './control.ts';
import type { Service } from './everywhere.ts';
import { IDS } from './ids.ts';

/** The time at which these tests start. */
export const START = '2026-03-02T09:00:00.000Z';

/** Asks for a correspondent: by the method in process, by the control plane over HTTP. */
export function askForCorrespondent(service: Service, options: unknown): Promise<ControlAnswer> {
  return control(service, 'POST /correspondents', options, () =>
    service.mailbox.addCorrespondent(options as CorrespondentOptions),
  );
}

/** Adds a correspondent that is data, in either runtime. */
export async function addCorrespondent(service: Service, options: CorrespondentOptions): Promise<Correspondent> {
  const { status, json } = await askForCorrespondent(service, options);
  expect([status, json.error]).toEqual([200, undefined]);
  return json;
}

/** Lists the correspondents, in either runtime. */
export async function listCorrespondents(service: Service): Promise<Correspondent[]> {
  const list = () => ({ correspondents: service.mailbox.correspondents() });
  return (await control(service, 'GET /correspondents', undefined, list)).json.correspondents;
}

/** Sends a mail from Acme's helpdesk. */
export async function write(service: Service, to: string | readonly string[], subject = 'Your order', more = {}) {
  const { helpdesk } = IDS.acme.inboxes;
  const { status, json } = await service.send('POST', `/v1/inboxes/${helpdesk}/send`, {
    key: service.mailbox.keys.acme.inboxes.helpdesk,
    json: { to, subject, plainBody: 'Which size?', verified: true, ...more },
  });
  expect([status, json.error]).toEqual([200, undefined]);
  return json;
}

/** Replies to a mail that has arrived at Acme's helpdesk. */
export async function reply(service: Service, { id }: Pick<Mail, 'id'>, plainBody = 'Thank you.') {
  const { helpdesk } = IDS.acme.inboxes;
  const { status, json } = await service.send('POST', `/v1/inboxes/${helpdesk}/reply/${id}`, {
    key: service.mailbox.keys.acme.inboxes.helpdesk,
    json: { plainBody },
  });
  expect([status, json.error]).toEqual([200, undefined]);
  return json;
}

/** Returns the mail that has arrived since the start, oldest first. */
export function arrived({ mailbox }: Pick<Service, 'mailbox'>, to = 'helpdesk@acme.test'): Mail[] {
  return mailbox.messages({ to, direction: 'inbound' });
}
