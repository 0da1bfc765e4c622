import { expectTypeOf, test } from 'vitest';
import type { InputTo } from '../../src/control/table/client.ts';
import type { CallStepName, CallStepValues } from '../../src/evaluate/step-table.ts';

test('a step that is a control call takes what the row of the call takes', () => {
  type TakesMore = { [Id in CallStepName]: CallStepValues[Id] extends InputTo<Id> ? never : Id }[CallStepName];
  type TakesLess = { [Id in CallStepName]: InputTo<Id> extends CallStepValues[Id] ? never : Id }[CallStepName];
  expectTypeOf<keyof CallStepValues>().toEqualTypeOf<CallStepName>();
  // In code, a correspondent may have functions.
  expectTypeOf<TakesMore>().toEqualTypeOf<'addCorrespondent'>();
  // A query takes times as Date, too, and a call without fields takes anything.
  type WithoutFields = 'clearCorrespondents' | 'clearRequests' | 'restoreRequests';
  expectTypeOf<TakesLess>().toEqualTypeOf<'clearMail' | WithoutFields>();
  expectTypeOf<keyof CallStepValues['clearMail']>().toEqualTypeOf<keyof InputTo<'clearMail'>>();
});
