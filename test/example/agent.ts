import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseHeaders, type ServiceClient } from 'agent-mailbox-mock/client';
import { type Decide, decideByRules, type Mail, type MailEvent } from './decide.ts';

export interface AgentOptions {
  /** Calls the service with the key of the inbox that the agent looks after. */
  readonly client: ServiceClient;
  /** The secret of the webhook. */
  readonly secret: string;
  readonly decide?: Decide;
}

/** Creates an agent: a function that answers the requests to its webhook. */
export function createAgent(options: AgentOptions) {
  return async (request: Request): Promise<Response> => {
    const body = await request.text();
    if (!isGenuine(request.headers, body, options)) return new Response('The signature is wrong.', { status: 401 });
    try {
      await handle(JSON.parse(body), options);
      return new Response('Done.');
    } catch (error) {
      // The service sends the event again, for the first time after five seconds.
      return new Response(String(error), { status: 500 });
    }
  };
}

/** How far the time of an event may be from now. */
const TOLERANCE_MS = 300_000;

/** Checks the signature of an event, and that it is not an old one that somebody sends again. */
function isGenuine(headers: Headers, body: string, { secret }: AgentOptions): boolean {
  const time = headers.get('webhook-timestamp');
  const hmac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'));
  const expected = Buffer.from(`v1,${hmac.update(`${headers.get('webhook-id')}.${time}.${body}`).digest('base64')}`);
  const signatures = (headers.get('webhook-signature') ?? '').split(' ').map((each) => Buffer.from(each));
  const isSigned = signatures.some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  return isSigned && Math.abs(Date.now() - Number(time) * 1000) <= TOLERANCE_MS;
}

async function handle(event: MailEvent, { client, decide = decideByRules }: AgentOptions) {
  const inbox = event.inboxId;
  const mail = await client.getMessage(inbox, event.messageId);
  const { messages: thread } = await client.getThread(inbox, mail.threadId);
  const { drafts } = await client.listDrafts(inbox, { query: { limit: 200 } });
  // An event can come twice, for example after a lost reply. What the first one led to is in the mailbox.
  const isAnswer = ({ direction, inReplyTo }: Mail) => direction === 'outbound' && inReplyTo === mail.messageIdHeader;
  if (thread.some(isAnswer) || drafts.some(({ replyToMessageId }) => replyToMessageId === mail.id)) return;

  const fileDraft = (to: string[], plainBody: string) =>
    client.createDraft(inbox, { to, subject: `Re: ${mail.subject}`, plainBody, replyToMessageId: mail.id });
  if (event.event === 'message.bounced') return fileDraft([], `This did not reach ${event.recipient}.`);
  if (isAutomatic(parseHeaders(await client.getRawMessage(inbox, mail.id)))) return;
  const { action, text } = await decide(mail, thread);
  return action === 'reply' ? client.replyToMessage(inbox, mail.id, { plainBody: text }) : fileDraft([mail.from], text);
}

/** Whether a program wrote the mail: to answer it could begin a loop. */
function isAutomatic(headers: ReturnType<typeof parseHeaders>): boolean {
  const { 'auto-submitted': submitted = 'no', precedence = '', 'list-id': listId, 'return-path': sender } = headers;
  return !/^no\b/i.test(submitted) || /^(bulk|list|junk)$/i.test(precedence) || listId !== undefined || sender === '<>';
}
