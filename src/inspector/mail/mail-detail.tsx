import { useEffect, useRef, useState } from 'preact/hooks';
import { useInspector } from '../inspector.ts';
import { replyOf } from '../inspector-client.ts';
import type { Route } from '../page-route.ts';
import { Failure, Time } from '../parts.tsx';
import { useLoaded } from '../use-loaded.ts';
import { answersTo } from './answers.ts';
import { ComposeForm, type NewMail } from './compose-form.tsx';
import { mailLink } from './mail-link.ts';
import { MAIL_TABS } from './mail-tabs.tsx';
import type { MailDetails } from './mail-types.ts';

/** One mail with everything that is known about it. */
export function MailDetail({ id, route }: { readonly id: string; readonly route: Route }) {
  const { client } = useInspector();
  const load = () => replyOf(client.GET('/__mock/messages/{id}', { params: { path: { id } } }));
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
