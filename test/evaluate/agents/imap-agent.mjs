// An agent that is told of mail over IMAP, and answers by SMTP, for the tests of the command `evaluate`.
import process from 'node:process';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';

const env = process.env;
const client = new ImapFlow({
  host: env.MAILBOX_IMAP_HOST,
  port: Number(env.MAILBOX_IMAP_PORT),
  secure: false,
  auth: { user: env.MAILBOX_IMAP_USER, pass: env.MAILBOX_IMAP_PASSWORD },
  logger: false,
});
const smtp = createTransport({
  host: env.MAILBOX_SMTP_HOST,
  port: Number(env.MAILBOX_SMTP_PORT),
  auth: { user: env.MAILBOX_IMAP_USER, pass: env.MAILBOX_IMAP_PASSWORD },
  tls: { rejectUnauthorized: false },
});

await client.connect();
let { uidNext } = await client.mailboxOpen('INBOX');

/** Answers the mail that has come since the last look, each mail once. */
async function answer() {
  const mails = await client.fetchAll(`${uidNext}:*`, { uid: true, envelope: true, source: true }, { uid: true });
  // A range that ends with `*` always has the last mail.
  for (const { uid, envelope } of mails.filter((mail) => mail.uid >= uidNext)) {
    uidNext = uid + 1;
    await smtp.sendMail({
      from: env.MAILBOX_INBOX_ADDRESS,
      to: envelope.from[0].address,
      subject: `Re: ${envelope.subject}`,
      inReplyTo: envelope.messageId,
      references: envelope.messageId,
      text: 'It is on its way.',
    });
  }
  await fetch(env.MAILBOX_DONE_URL, { method: 'POST' });
}

let work = Promise.resolve();
client.on('exists', () => {
  // A new command ends the wait of IDLE, and the agent waits again after its answers.
  work = work.then(answer).then(() => void client.idle());
});
void client.idle();
process.stdout.write('The agent is ready.\n');
