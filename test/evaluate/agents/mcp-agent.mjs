// An agent that has its mail tools over MCP, with the package `ai`, for the tests of the command `evaluate`. The model is
// the mock of that package: it looks for mail that came since the start, and answers what was not answered.
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { createMCPClient } from '@ai-sdk/mcp';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';

const { MAILBOX_MCP_URL, MAILBOX_INBOX_KEY } = process.env;
const headers = { 'X-API-Key': MAILBOX_INBOX_KEY };
const client = await createMCPClient({ transport: { type: 'http', url: MAILBOX_MCP_URL, headers } });
const tools = await client.tools();
const known = new Set();

/** Returns the latest result of a tool that a prompt has; undefined if there is none. */
function latestResult(prompt) {
  return prompt.findLast(({ role }) => role === 'tool')?.content.at(-1);
}

/** Returns the mails in a result of listMessages: its last text, after a warning. They are none if the call failed. */
function mailsIn({ output }) {
  const text = output.type === 'content' ? output.value.at(-1).text : '{}';
  return JSON.parse(text).messages ?? [];
}

/** Decides which tool is called next; undefined at the end. */
function decide(prompt) {
  const last = latestResult(prompt);
  // After an answer, it looks whether the answer was sent, because the call may have failed only at its end.
  if (!last || last.toolName === 'replyToMessage') return { toolName: 'listMessages', input: { limit: 20 } };
  const mails = mailsIn(last);
  const isAnswered = ({ messageIdHeader }) => mails.some(({ inReplyTo }) => inReplyTo === messageIdHeader);
  const open = mails.find((mail) => mail.direction === 'inbound' && !known.has(mail.id) && !isAnswered(mail));
  if (!open) return undefined;
  return { toolName: 'replyToMessage', input: { messageId: open.id, plainBody: 'It is on its way.' } };
}

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const call = decide(prompt);
    const content = call
      ? { type: 'tool-call', toolCallId: `${prompt.length}`, ...call, input: JSON.stringify(call.input) }
      : { type: 'text', text: 'Every mail is answered.' };
    return { content: [content], finishReason: { unified: call ? 'tool-calls' : 'stop' }, usage, warnings: [] };
  },
});

const first = await tools.listMessages.execute({ limit: 200 }, { toolCallId: '0', messages: [] });
for (const { id } of first.structuredContent.messages) known.add(id);
process.stdout.write('The agent is ready.\n');
// Over MCP, nobody tells the agent that mail has come, so it looks again and again.
for (;;) {
  await generateText({ model, tools, prompt: 'Answer the mail.', stopWhen: stepCountIs(10) });
  await setTimeout(300);
}
