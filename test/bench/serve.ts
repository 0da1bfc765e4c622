// A child process: `serve.ts mailbox` or `serve.ts static`. It tells its parent where it listens.
import { createMiddleware } from '@mswjs/http-middleware';
import { createMailbox } from 'agent-mailbox-mock';
import { startServer } from 'agent-mailbox-mock/server';
import express from 'express';
import { HttpResponse, http } from 'msw';

process.once('disconnect', () => process.exit());

const START: Record<string, () => Promise<string>> = {
  mailbox: async () => (await startServer({ port: 0 })).url,
  static: startStatic,
};

async function startStatic(): Promise<string> {
  const { fetch, keys } = createMailbox();
  const reply = await fetch(
    new Request('http://localhost/v1/webhooks', { headers: { 'X-API-Key': keys.acme.tenant } }),
  );
  const headers = [...reply.headers];
  const bytes = await reply.arrayBuffer();
  const handler = http.get('/v1/webhooks', () => new HttpResponse(bytes, { headers }));
  // The middleware is CommonJS, so its types come from msw's other build.
  const app = express().use(createMiddleware(handler as never));
  return new Promise((resolve) => {
    const listener = app.listen(0, '127.0.0.1', () => {
      const address = listener.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`);
    });
  });
}

process.send?.(await START[process.argv[2] ?? '']?.());
