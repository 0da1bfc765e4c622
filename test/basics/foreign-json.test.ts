import { expect, test } from 'vitest';
import { parseForeignJson } from '../../src/basics/foreign-json.ts';

test('objects of JSON can be written in a sentence, whatever their fields are called', () => {
  const texts = [
    '{"toString":1}',
    '{"valueOf":"x","toString":null}',
    '{"\\u0074oString":{}}',
    '{"toString":{"toString":{"valueOf":1}},"a":[null,false,{"toString":[]}]}',
    '[null,0,{"toString":1}]',
    '{"__proto__":{"toString":1},"constructor":2,"toJSON":3}',
  ];
  const read = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(read)] : [value];
  for (const text of texts) {
    const value = parseForeignJson(text);
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    for (const each of read(value)) expect(() => `${each} ${String(each)} ${[each].join()}`).not.toThrow();
  }
});

test('what is no JSON is a syntax error', () => {
  expect(() => parseForeignJson('{')).toThrow(SyntaxError);
});
