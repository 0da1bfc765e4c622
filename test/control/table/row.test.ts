import type { Mailbox } from 'agent-mailbox-mock';
import { expectTypeOf, test } from 'vitest';
import type { ReadonlyDeep } from '../../../src/basics/lazy-schema.ts';
import type { InputTo, ReplyTo } from '../../../src/control/table/client.ts';
import type { ControlCallId } from '../../../src/control/table/routes.ts';

/** The calls that reply with what a method of the mailbox returns, or with the resolved value of its promise. */
interface Methods {
  addCheckpoint: Mailbox['checkpoint'];
  restoreCheckpoint: Mailbox['restore'];
  removeCheckpoint: Mailbox['removeCheckpoint'];
  diffCheckpoints: Mailbox['diff'];
  addCorrespondent: Mailbox['addCorrespondent'];
  removeCorrespondent: Mailbox['removeCorrespondent'];
  waitForMessage: Mailbox['waitForMessage'];
  searchMail: Mailbox['searchMail'];
  listDrafts: Mailbox['drafts'];
  getMail: Mailbox['mail'];
  explainMail: Mailbox['explain'];
  getDelivery: Mailbox['delivery'];
  redeliver: Mailbox['redeliver'];
  addWebhook: Mailbox['addWebhook'];
  addInbox: Mailbox['addInbox'];
  getRequest: Mailbox['request'];
  rotateKey: Mailbox['rotateKey'];
  addFault: Mailbox['addFault'];
  removeFault: Mailbox['removeFault'];
}

/** The calls that reply with a list, which a method of the mailbox returns alone. */
interface ListMethods {
  listCheckpoints: [name: 'checkpoints', method: Mailbox['checkpoints']];
  listCorrespondents: [name: 'correspondents', method: Mailbox['correspondents']];
  receiveMessage: [name: 'messages', method: Mailbox['receiveMessage']];
  listMail: [name: 'messages', method: Mailbox['messages']];
  listTenants: [name: 'tenants', method: Mailbox['tenants']];
  triggerEvent: [name: 'deliveries', method: Mailbox['trigger']];
  listDeliveries: [name: 'deliveries', method: Mailbox['deliveries']];
  releaseDeliveries: [name: 'deliveries', method: Mailbox['release']];
  listWebhookSettings: [name: 'webhooks', method: Mailbox['webhooks']];
  listKeys: [name: 'keys', method: Mailbox['exposures']];
  listFaults: [name: 'faults', method: Mailbox['faults']];
}

type Returned<Method> = Method extends (...input: never) => infer Result ? ReadonlyDeep<Awaited<Result>> : never;

/** `never` if each of two types is assignable to the other; otherwise the name. */
type Differs<Name, One, Other> = [One, Other] extends [Other, One] ? never : Name;

test('a control call replies with what its method returns', () => {
  type Single = { [Id in keyof Methods]: Differs<Id, Returned<Methods[Id]>, ReadonlyDeep<ReplyTo<Id>>> }[keyof Methods];
  expectTypeOf<Single>().toEqualTypeOf<never>();
  type ListOf<Id extends ControlCallId, Name> = Name extends keyof ReplyTo<Id>
    ? ReadonlyDeep<ReplyTo<Id>[Name]>
    : 'none';
  type Lists = {
    [Id in keyof ListMethods]: Differs<Id, Returned<ListMethods[Id][1]>, ListOf<Id, ListMethods[Id][0]>>;
  }[keyof ListMethods];
  expectTypeOf<Lists>().toEqualTypeOf<never>();
});

/** The calls whose body is the only parameter of a method. */
interface FieldMethods {
  addCorrespondent: Mailbox['addCorrespondent'];
  addFault: Mailbox['addFault'];
  addWebhook: Mailbox['addWebhook'];
  releaseDeliveries: Mailbox['release'];
  receiveMessage: Mailbox['receiveMessage'];
  settle: Mailbox['settled'];
}

test('a method takes what its control call takes', () => {
  type Refused = {
    [Id in keyof FieldMethods]: InputTo<Id> extends Parameters<FieldMethods[Id]>[0] ? never : Id;
  }[keyof FieldMethods];
  expectTypeOf<Refused>().toEqualTypeOf<never>();
  // A query takes times as Date, too, so only the names of its fields are compared.
  type Names<Method extends (...input: never) => unknown> = keyof NonNullable<Parameters<Method>[0]>;
  expectTypeOf<keyof InputTo<'listDeliveries'>>().toEqualTypeOf<Names<Mailbox['deliveries']>>();
  expectTypeOf<keyof InputTo<'clearMail'>>().toEqualTypeOf<Names<Mailbox['clearMail']>>();
});
