import { useEffect, useRef, useState } from 'preact/hooks';
import { useInspector } from '../../inspector.ts';
import { mailLink } from '../../links.ts';
import type { Route } from '../../page-route.ts';
import { Failure, Time } from '../../parts.tsx';
import { useLoaded } from '../../use-loaded.ts';
import { ComposeForm, type NewMail } from './compose-form.tsx';
import { MAIL_TABS } from './mail-tabs.tsx';
import type { MailDetails } from './mail-types.ts';
import { bareAddress } from './mail-types.ts';

/** One mail with everything that is known about it. */
export function MailDetail({ id, route }: { readonly id: string; readonly route: Route }) {
  const { client } = useInspector();
  const load = () => client.getMail({ id });
  const { value: mail, error } = useLoaded(load, id);
  const [answer, setAnswer] = useState<NewMail>();
  if (!mail) return <Failure error={error} />;
  if (answer) return <ComposeForm start={answer} route={route} cancel={() => setAnswer(undefined)} />;
  const tabs = MAIL_TABS.filter(({ isUseful }) => isUseful(mail));
  const tab = tabs.find(({ name }) => name === route.options.tab) ?? tabs[0];
  return (
    <>
      <Head mail={mail} />
      <p class="buttons">
        {answersTo(mail).map((start) => (
          <button key={start.title} type="button" onClick={() => setAnswer(start)}>
            {start.title}
          </button>
        ))}
      </p>
      <Thread mail={mail} route={route} />
      <nav class="tabs" aria-label="Parts of the mail">
        {tabs.map(({ name, title }) => (
          <a
            key={name}
            href={mailLink(route, id, { tab: name })}
            aria-current={name === tab?.name ? 'true' : undefined}
          >
            {title(mail)}
          </a>
        ))}
      </nav>
      {tab && <tab.Component mail={mail} />}
    </>
  );
}

const MARKS: readonly (readonly [text: string, isShown: (mail: MailDetails) => boolean])[] = [
  ['Unread', ({ direction, isRead }) => direction === 'inbound' && !isRead],
  ['Sent', ({ direction }) => direction === 'outbound'],
  ['Starred', ({ isStarred }) => isStarred],
  ['Archived', ({ isArchived }) => isArchived],
  ['Bounced', ({ bouncedAt }) => bouncedAt !== null],
  ['In the trash', ({ deletedAt }) => deletedAt !== null],
];

function Head({ mail }: { readonly mail: MailDetails }) {
  const people = [
    ['From', mail.from],
    ['To', mail.to.join(', ')],
    ['Cc', mail.cc.join(', ')],
    ['Bcc', mail.bcc.join(', ')],
    ['Reply to', mail.replyTo ?? ''],
    ['Inbox', mail.inbox],
  ].filter(([, text]) => text);
  return (
    <header>
      <h1>{mail.subject || '(no subject)'}</h1>
      <dl class="keys">
        {people.map(([label, text]) => (
          <div key={label}>
            <dt class="soft">{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <p>
        <Time at={mail.receivedAt} />{' '}
        {MARKS.filter(([, isShown]) => isShown(mail)).map(([text]) => (
          <span key={text} class="mark">
            {text}
          </span>
        ))}
      </p>
    </header>
  );
}

/** The other messages of the thread. */
function Thread({ mail: { id, thread }, route }: { readonly mail: MailDetails; readonly route: Route }) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // Not `scrollIntoView`, which would scroll the mail, too.
    const line = list.current?.querySelector('li:has([aria-current])') as HTMLElement | null | undefined;
    list.current?.scrollTo(0, (line?.offsetTop ?? 0) - list.current.clientHeight / 2);
  }, [id]);
  if (thread.length < 2) return null;
  return (
    <details open>
      <summary>{thread.length} messages in this thread</summary>
      <ol class="thread" ref={list}>
        {thread.map((line) => (
          <li key={line.id}>
            <a href={mailLink(route, line.id)} aria-current={line.id === id ? 'true' : undefined}>
              {line.from}
            </a>{' '}
            <Time at={line.receivedAt} /> <span class="soft">{line.snippet}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** A mail that somebody outside could write now; the button for it says its title. */
interface Answer extends NewMail {
  readonly title: string;
}

/** Returns the mails that the people outside could answer: as a recipient of sent mail, or as the sender once more. */
function answersTo(mail: MailDetails): Answer[] {
  const { direction, from, inbox, subject, messageIdHeader: inReplyTo, references, tenantId: tenant } = mail;
  const isSent = direction === 'outbound';
  const people = isSent ? [...mail.to, ...mail.cc, ...mail.bcc] : [from];
  const shared = {
    to: isSent ? (mail.replyTo ?? from) : inbox,
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    ...(isSent && { text: `\n\n${from} wrote:\n${quote(mail.plainBody)}` }),
    ...{ inReplyTo, references, tenant },
  };
  // A mail may have no sender.
  return people
    .filter(Boolean)
    .map((person) => ({
      ...shared,
      from: person,
      title: `${isSent ? 'Answer' : 'Write again'} as ${bareAddress(person)}`,
    }));
}

function quote(text: string): string {
  return text.trimEnd().replace(/^/gm, '> ');
}
