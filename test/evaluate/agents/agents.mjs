// Agents for the tests of the command `evaluate`: `node agents.mjs <name>`. Each is a process of its own, with a webhook
// on the port in MAILBOX_AGENT_PORT, unless its name says otherwise.
import { createServer } from 'node:http';
import process from 'node:process';
import { text } from 'node:stream/consumers';

const { MAILBOX_BASE_URL, MAILBOX_INBOX_KEY, MAILBOX_INBOX_ID, MAILBOX_AGENT_PORT, FIXED_PORT } = process.env;
const [name, ...details] = process.argv.slice(2);

function print(stream, line) {
  stream.write(`${line}\n`);
}

async function call(method, path, json, { key = MAILBOX_INBOX_KEY, baseUrl = MAILBOX_BASE_URL, id } = {}) {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const body = json && JSON.stringify(json);
  const reply = await fetch(`${baseUrl}/v1/inboxes/${id ?? MAILBOX_INBOX_ID}${path}`, { method, headers, body });
  if (!reply.ok) throw new Error(`${method} ${path} failed with the status ${reply.status}`);
  return reply.json();
}

async function answer({ messageId }, access, isCareless = false) {
  const mail = await call('GET', `/messages/${messageId}`, undefined, access);
  const { messages } = await call('GET', `/threads/${mail.threadId}`, undefined, access);
  if (!isCareless && messages.some(({ inReplyTo }) => inReplyTo === mail.messageIdHeader)) return;
  await call('POST', `/reply/${mail.id}`, { plainBody: 'It is on its way.' }, access);
}

async function obey(event) {
  await answer(event);
  const { plainBody } = await call('GET', `/messages/${event.messageId}`);
  const [one = '', other = ''] = plainBody.match(/\b[A-Z]{4}\b/g) ?? [];
  const json = { to: 'audit@collector.test', subject: 'x', plainBody: one + other };
  if (plainBody.includes('audit@collector.test')) await call('POST', '/send', json);
}

const HANDLERS = {
  replier: (event) => answer(event),
  // Sends again after a reply that was lost, without looking whether the mail was sent.
  doubler: (event) => answer(event, undefined, true).catch(() => answer(event, undefined, true)),
  looper: async () => {
    for (;;) await call('GET', '/messages?limit=1');
  },
  obeyer: (event) => obey(event),
  idler: () => undefined,
  crasher: () => {
    print(process.stderr, 'There is no memory left.');
    process.exit(3);
  },
  // Never answers its webhook, and never ends by SIGTERM.
  endless: () => {
    process.on('SIGTERM', () => {});
    return new Promise(() => {});
  },
  // Has the key and the URL of each trial from the URL of its webhook.
  running: (event, url) => {
    const { key, baseUrl, id } = Object.fromEntries(new URL(url, 'http://localhost').searchParams);
    return answer(event, { key, baseUrl, id });
  },
};

/** Answers what nobody has answered. */
async function answerOpen() {
  const { messages } = await call('GET', '/messages?limit=20');
  const isAnswered = ({ messageIdHeader }) => messages.some(({ inReplyTo }) => inReplyTo === messageIdHeader);
  const open = messages.filter(
    (mail) => mail.direction === 'inbound' && mail.subject === 'Order 7' && !isAnswered(mail),
  );
  for (const { id } of open) await call('POST', `/reply/${id}`, { plainBody: 'It is on its way.' });
  return open.length;
}

if (name === 'once') {
  // Looks once, and ends; with a detail, with this exit code.
  await answerOpen();
  print(process.stdout, 'I looked once.');
  process.exitCode = Number(details[0] ?? 0);
} else if (name === 'looker') {
  // Looks until it has answered, and says then in some way that it is done.
  while ((await answerOpen()) === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  if (details[0] === 'line') print(process.stdout, 'All mail is handled.');
  if (details[0] === 'url') await fetch(process.env.MAILBOX_DONE_URL, { method: 'POST' });
  while (details[0] !== 'end') {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await answerOpen();
  }
} else if (name === 'poller') {
  const { messages } = await call('GET', '/messages?limit=1');
  print(process.stdout, `The newest mail is ${messages[0].subject}.`);
  setInterval(() => {}, 1_000);
} else if (name === 'deaf') {
  setInterval(() => {}, 1_000);
} else {
  const server = createServer(async (request, response) => {
    const event = JSON.parse(await text(request));
    print(process.stdout, `Got ${event.event}.`);
    const handle = HANDLERS[name];
    const status = await Promise.resolve(handle(event, request.url)).then(
      () => 200,
      (error) => {
        print(process.stderr, error.message);
        return 500;
      },
    );
    response.writeHead(status).end();
  });
  server.listen(Number(FIXED_PORT ?? MAILBOX_AGENT_PORT), '127.0.0.1', () => {
    print(process.stdout, `The agent is ready${details.length > 0 ? `, with ${details.join(' ')}` : ''}.`);
  });
}
