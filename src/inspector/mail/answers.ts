import type { NewMail } from './compose-form.tsx';
import type { MailDetails } from './mail-types.ts';

/** A mail that somebody outside could write now; the button for it says its title. */
interface Answer extends NewMail {
  readonly title: string;
}

const MAX_PEOPLE = 5;

/** Returns the mails that the people outside could answer: as a recipient of sent mail, or as the sender once more. */
export function answersTo(mail: MailDetails): Answer[] {
  const { direction, from, inbox, subject, messageIdHeader: inReplyTo, references } = mail;
  const isSent = direction === 'outbound';
  const people = isSent ? [...mail.to, ...mail.cc, ...mail.bcc].slice(0, MAX_PEOPLE) : [from];
  const shared = {
    to: isSent ? (mail.replyTo ?? from) : inbox,
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    ...(isSent && { text: `\n\n${from} wrote:\n${quote(mail.plainBody)}` }),
    ...{ inReplyTo, references },
  };
  return people.map((person) => ({
    ...shared,
    from: person,
    title: `${isSent ? 'Answer' : 'Write again'} as ${addressOf(person)}`,
  }));
}

function quote(text: string): string {
  return text.trimEnd().replace(/^/gm, '> ');
}

/** Returns the address of a display form such as `Dana <dana@customer.test>`. */
function addressOf(person: string): string {
  return /<([^<>]+)>\s*$/.exec(person)?.[1] ?? person;
}
