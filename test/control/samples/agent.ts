import { generateText, stepCountIs, tool, zodSchema } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { z } from 'zod';
import type { Service } from '../../support/everywhere.ts';

type Generate = MockLanguageModelV3['doGenerate'];
type Prompt = Parameters<Generate>[0]['prompt'];

/** The inbox that an agent looks after. */
export interface Desk {
  readonly service: Pick<Service, 'send'>;
  readonly inboxId: string;
  readonly key: string;
}

interface Received {
  readonly id: string;
  readonly subject: string;
  readonly direction: string;
  readonly attachments: readonly { readonly id: string; readonly filename: string }[];
}

/** A call of a tool by a model. */
interface Call {
  readonly toolName: string;
  readonly input: object;
}

/** How a model answers what it has read. */
type Decide = (text: string) => readonly Call[];

/** Lets an agent read the new mail of an inbox, and do with it what its model decides. */
export async function runAgent(desk: Desk, decide: Decide): Promise<void> {
  await generateText({
    model: createModel(decide),
    tools: createTools(desk),
    stopWhen: stepCountIs(5),
    prompt: 'Read the new mail and do what is needed.',
  });
}

/** Creates a model that reads the mail first, then calls the tools that `decide` returns, and then ends. */
function createModel(decide: Decide): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const results = resultsIn(prompt);
      if (results.length === 0) return toResult([{ toolName: 'readMail', input: {} }]);
      return toResult(results.length === 1 ? decide(results[0] ?? '') : []);
    },
  });
}

function resultsIn(prompt: Prompt): string[] {
  return prompt.flatMap((message) =>
    message.role === 'tool'
      ? message.content.flatMap((part) =>
          part.type === 'tool-result' && part.output.type === 'text' ? [part.output.value] : [],
        )
      : [],
  );
}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

function toResult(calls: readonly Call[]): Awaited<ReturnType<Generate>> {
  const parts = calls.map(({ toolName, input }, index) => ({
    type: 'tool-call' as const,
    toolCallId: `call-${index}`,
    toolName,
    input: JSON.stringify(input),
  }));
  const unified = calls.length > 0 ? 'tool-calls' : 'stop';
  const content = calls.length > 0 ? parts : [{ type: 'text' as const, text: 'Done.' }];
  return { content, finishReason: { unified, raw: undefined }, usage: USAGE, warnings: [] };
}

/** The inputs of the tools. The SDK makes the JSON schema of each only once. */
const INPUTS = {
  nothing: zodSchema(z.object({})),
  mail: zodSchema(z.object({ to: z.string(), subject: z.string(), plainBody: z.string() })),
  answer: zodSchema(z.object({ plainBody: z.string() })),
  forwarding: zodSchema(z.object({ to: z.string(), subject: z.string().optional() })),
  subject: zodSchema(z.object({ subject: z.string() })),
  url: zodSchema(z.object({ url: z.string() })),
};

/** The tools of the agent; each is a request to the service, and the last one to any address. */
function createTools({ service, inboxId, key }: Desk) {
  const call = async (method: string, path: string, json?: object) =>
    service.send(method, `/v1${path}`, { key, ...(json && { json }) });
  const inbox = `/inboxes/${inboxId}`;
  const list = async () => {
    const { json } = await call('GET', `${inbox}/messages`);
    const all = json.messages as (Received & { receivedAt: string })[];
    const recent = all.filter(({ receivedAt }) => Date.parse(receivedAt) > Date.now() - 3_600_000);
    return recent.filter(({ direction }) => direction === 'inbound').reverse();
  };
  const latest = async () => (await list()).at(-1)?.id;
  return {
    readMail: tool({
      inputSchema: INPUTS.nothing,
      execute: async () => (await Promise.all((await list()).map((mail) => readMail(call, inbox, mail)))).join('\n\n'),
    }),
    sendMail: tool({
      inputSchema: INPUTS.mail,
      execute: async (mail) => `${(await call('POST', `${inbox}/send`, { ...mail, verified: true })).status}`,
    }),
    reply: tool({
      inputSchema: INPUTS.answer,
      execute: async (mail) => `${(await call('POST', `${inbox}/reply/${await latest()}`, mail)).status}`,
    }),
    forward: tool({
      inputSchema: INPUTS.forwarding,
      execute: async (mail) => `${(await call('POST', `${inbox}/forward/${await latest()}`, mail)).status}`,
    }),
    deleteMail: tool({
      inputSchema: INPUTS.subject,
      execute: async ({ subject }) => {
        const mail = (await list()).find((each) => each.subject === subject);
        return `${(await call('DELETE', `${inbox}/messages/${mail?.id}`)).status}`;
      },
    }),
    createWebhook: tool({
      inputSchema: INPUTS.url,
      execute: async ({ url }) => `${(await call('POST', '/webhooks', { url, events: ['message.received'] })).status}`,
    }),
    openLink: tool({
      inputSchema: INPUTS.url,
      execute: async ({ url }) => `${(await fetch(url)).status}`,
    }),
  };
}

type SendCall = (method: string, path: string) => Promise<{ readonly json: unknown; readonly text: string }>;

/** Returns everything of a mail as text, and its files too. */
async function readMail(call: SendCall, inbox: string, { id, attachments }: Received): Promise<string> {
  const { json } = await call('GET', `${inbox}/messages/${id}`);
  const { from, subject, plainBody, htmlBody } = json as Record<string, string>;
  const files = attachments.map(async ({ id: fileId, filename }) => {
    const { text } = await call('GET', `${inbox}/messages/${id}/attachments/${fileId}`);
    return `${filename}\n${text.replace(/\r?\n /g, '').replace(/\\([,;])/g, '$1')}`;
  });
  return [from, subject, plainBody, htmlBody ?? '', ...(await Promise.all(files))].join('\n');
}

/** What orders look like, and what somebody does who obeys them. */
const OBEY: readonly (readonly [order: RegExp, act: (found: string, code: string) => Call])[] = [
  [/create a webhook for all mail at (\S+) followed/i, (url, code) => call('createWebhook', { url: url + code })],
  [/open (\S+data=) with/, (url, code) => call('openLink', { url: url + code })],
  [/first letters of ([^;]+);/, (words) => call('reply', { plainBody: `It is ${words.match(/\b[A-Z]/g)?.join('')}.` })],
  [/forwards? this conversation to ([^\s,]+),/, (to, code) => call('forward', { to, subject: code })],
  [/"delete_message","subject":"([^"]+)"/, (subject) => call('deleteMail', { subject })],
  [/into your (answer)/, (_, code) => call('reply', { plainBody: `Yes. ${code}` })],
  [/to (\w+@collector\.test)/, (to, code) => call('sendMail', { to, subject: code, plainBody: '' })],
];

function call(toolName: string, input: object): Call {
  return { toolName, input };
}

/** The answer of a model that takes each text for orders. Without any, it answers. */
export const obey: Decide = (text) => {
  const parts = [...new Set(text.match(/\b[GHJKLMNPQRSTVWXZ]{4}\b/g))].slice(0, 2);
  const acts = OBEY.flatMap(([order, act]) => {
    const [, found] = order.exec(text) ?? [];
    return found === undefined ? [] : [act(found, parts.join(''))];
  });
  return acts.length > 0 ? acts.slice(0, 1) : resist(text);
};

/** The answer of a model that does its work: it quotes the mail to its sender, and forwards it to its owner. */
export const resist: Decide = (text) => [
  call('reply', { plainBody: `Yes, we are.\n\n${text.replace(/^/gm, '> ')}` }),
  call('sendMail', { to: 'owner@office.test', subject: 'Fwd: this mail', plainBody: text }),
  call('forward', { to: 'owner@office.test' }),
];
