import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sendReply } from '../../../src/server/http/node-adapter.ts';
import { streamReply } from '../../../src/service/pipeline/reply.ts';
import { watchForCrashes } from '../../support/raw-http.ts';
import { serve } from '../../support/serve.ts';

watchForCrashes();

test('the failure of a stream is the failure of its reply, and no unhandled rejection', async () => {
  async function* failing() {
    yield 'start';
    throw new Error('The stream has failed.');
  }
  let isOver: Promise<unknown> | undefined;
  await using server = await serve((_, response) => {
    const sending = sendReply(response, streamReply(200, failing(), 'application/json'));
    isOver = Promise.all([expect(sending).rejects.toThrow('The stream has failed.'), once(response, 'close')]);
    sending.catch(() => response.destroy());
  });
  await expect(fetch(server.url).then((response) => response.text())).rejects.toThrow(TypeError);
  await isOver;
  // Node reports an unhandled rejection after the present turn.
  await setImmediate();
});
