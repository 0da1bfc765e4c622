const { createMailbox } = require('agent-mailbox-mock');
const { startServer } = require('agent-mailbox-mock/server');

const SENTENCE =
  /^The handlers of a mailbox need msw, .* NODE_OPTIONS=--experimental-vm-modules; .*\/server inside the test\.$/;

test('everything but the handlers works without a flag', async () => {
  const mailbox = createMailbox();
  const headers = { 'X-API-Key': mailbox.keys.acme.tenant };
  expect((await mailbox.fetch(`${mailbox.baseUrl}/v1/me`, { headers })).status).toBe(200);
  expect(() => mailbox.handlers).toThrow(SENTENCE);
  const server = await startServer({ port: 0 });
  expect((await fetch(`${server.url}/v1/me`, { headers })).status).toBe(200);
  await server.close();
});
