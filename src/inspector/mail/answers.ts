import type { NewMail } from './compose-form.tsx';
import { bareAddress } from './display-form.ts';
import type { MailDetails } from './mail-types.ts';

/** A mail that somebody outside could write now; the button for it says its title. */
interface Answer extends NewMail {
  readonly title: string;
}

/** Returns the mails that the people outside could answer: as a recipient of sent mail, or as the sender once more. */
export function answersTo(mail: MailDetails): Answer[] {
  const { direction, from, inbox, subject, messageIdHeader: inReplyTo, references, tenantId } = mail;
  const isSent = direction === 'outbound';
  const people = isSent ? [...mail.to, ...mail.cc, ...mail.bcc] : [from];
  const shared = {
    to: isSent ? (mail.replyTo ?? from) : inbox,
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    ...(isSent && { text: `\n\n${from} wrote:\n${quote(mail.plainBody)}` }),
    ...{ inReplyTo, references, tenantId },
  };
  // A mail may have no sender.
  return people.filter(Boolean).map((person) => ({
    ...shared,
    from: person,
    title: `${isSent ? 'Answer' : 'Write again'} as ${bareAddress(person)}`,
  }));
}

function quote(text: string): string {
  return text.trimEnd().replace(/^/gm, '> ');
}
