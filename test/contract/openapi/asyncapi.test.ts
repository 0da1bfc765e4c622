import { startServer } from 'agent-mailbox-mock/server';
import { describe, expect, test } from 'vitest';
import { parseBehaviours } from '../../../src/contract/behaviours.ts';
import { createAsyncApi } from '../../../src/contract/openapi/create-asyncapi.ts';
import { CLOSE_CODES, STREAM_PATHS } from '../../../src/contract/stream-protocol.ts';
import { CONTROL_PATH } from '../../../src/control/table/control-path.ts';

describe('the AsyncAPI document', () => {
  test('describes both paths, the frames both ways, and the close codes', async () => {
    await using server = await startServer({ port: 0 });
    const document = await (await fetch(`${server.url}${CONTROL_PATH}/asyncapi.json`)).json();
    expect(document.asyncapi).toBe('3.0.0');
    const channels = Object.values(document.channels) as { address: string; 'x-close-codes': object }[];
    expect(channels.map(({ address }) => address)).toEqual(STREAM_PATHS);
    for (const channel of channels) {
      expect(Object.keys(channel['x-close-codes']).map(Number).toSorted()).toEqual(
        Object.values(CLOSE_CODES).toSorted(),
      );
    }
    expect(Object.keys(document.components.messages)).toEqual([
      'connected',
      'subscribed',
      'event',
      'ping',
      'error',
      'subscribe',
      'pong',
    ]);
  });

  test('each reference leads to a part of it', () => {
    const document = createAsyncApi(parseBehaviours());
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(20);
    for (const reference of references) {
      // biome-ignore lint/suspicious/noExplicitAny: a path may lead anywhere.
      const found = reference.split('/').reduce((part: any, name) => part?.[name], document);
      expect(found, reference).toBeDefined();
    }
  });
});
