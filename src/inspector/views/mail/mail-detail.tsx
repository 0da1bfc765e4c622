import * as icons from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { plural } from '../../../basics/text.ts';
import { type ControlClient, undefinedIfRefused } from '../../../control/table/client.ts';
import { LiveOnly, useInspector } from '../../inspector.ts';
import { linkTo, mailLink, type Route, useTitle } from '../../page-route.ts';
import { Button, Chip, Facts, Loading, type Tone } from '../../parts.tsx';
import { NextBreach, SampleCard, sampleOf, useSamples } from '../../samples.tsx';
import { useScope } from '../../scope.ts';
import { People, Person, Time, UserText } from '../../text.tsx';
import { useFormer, useLoaded } from '../../use-loaded.ts';
import { type Delivery, markOf } from '../webhooks/explain-delivery.ts';
import { HiddenTextChip } from './compare/compare-tab.tsx';
import type { SeenText } from './compare/seen-text.ts';
import { useSeenText } from './compare/use-seen-text.tsx';
import { ComposeForm, type NewMail } from './compose-form.tsx';
import { SaveButton, tabsOf } from './mail-tabs.tsx';
import { bareAddress, type MailDetails, nameOf } from './mail-types.ts';
import { DeleteButton } from './removal.tsx';

type PartProps = { readonly mail: MailDetails; readonly words: readonly string[]; readonly route: Route };

/** One mail with everything that is known about it. */
export function MailDetail({ id, words, route }: Omit<PartProps, 'mail'> & { readonly id: string }) {
  const { value: mail, error, isLoading } = useFormer(useLoaded((client) => client.getMail({ id }), id));
  useTitle(mail && (mail.subject || '(no subject)'));
  if (!mail) return <Loading error={error} />;
  return <OpenMail key={mail.id} mail={mail} words={words} route={route} isLoading={isLoading} />;
}

/** A mail. `isLoading` tells that the next one is being loaded. */
function OpenMail({ mail, words, route, isLoading }: PartProps & { readonly isLoading: boolean }) {
  const [followUp, setFollowUp] = useState<NewMail>();
  const [seen, judgedFrame] = useSeenText(mail);
  const told = useStory(mail.id);
  if (followUp) return <ComposeForm initial={followUp} route={route} cancel={() => setFollowUp(undefined)} />;
  return (
    <article aria-busy={isLoading}>
      <Head mail={mail} words={words} seen={seen} route={route} />
      <Why mail={mail} told={told} />
      <div class="buttons mail-tools">
        <LiveOnly>
          {createFollowUps(mail).map((initial, index) => (
            <Button
              icon={initial.isReply ? icons.Reply : icons.Send}
              text={initial.title}
              key={initial.title}
              class={initial.isReply && index === 0 ? 'primary' : ''}
              onClick={() => setFollowUp(initial)}
            />
          ))}
          <SaveButton mail={mail} />
          <DeleteButton mail={mail} route={route} />
        </LiveOnly>
        <Related mail={mail} />
      </div>
      <SampleOf mail={mail} />
      <Thread mail={mail} route={route} />
      <Tabs mail={mail} words={words} route={route} seen={seen} />
      {judgedFrame}
      <RelatedWebhooks told={told} />
    </article>
  );
}

/** The card of the sample to which the mail belongs, as the run shows it; nothing if it belongs to none. */
function SampleOf({ mail }: { readonly mail: MailDetails }) {
  const { sandbox } = useScope();
  const samples = useSamples(sandbox).value ?? [];
  const sample = sampleOf(samples, mail.id);
  if (!sample) return null;
  return (
    <>
      <SampleCard sample={sample} />
      <NextBreach samples={samples} after={sample} />
    </>
  );
}

function Tabs({ mail, words, route, seen }: PartProps & SeenProps) {
  const tabs = tabsOf(mail, useInspector());
  const tab = tabs.find(({ name }) => name === route.options.tab) ?? tabs[0];
  return (
    <>
      <nav class="tabs" aria-label="Parts of the mail">
        {tabs.map(({ name, title }) => (
          <a
            key={name}
            href={mailLink(route, mail.id, { tab: name })}
            aria-current={name === tab?.name ? 'true' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {tab && <tab.Component mail={mail} words={words} seen={seen} />}
    </>
  );
}

type SeenProps = { readonly seen: SeenText | undefined };

function Head({ mail, words, seen, route }: PartProps & SeenProps) {
  const shownAddresses = [mail.from, ...mail.to, ...mail.cc].map(bareAddress);
  return (
    <header>
      <UserText inside="h1" text={mail.subject || '(no subject)'} find={words} />
      <p class="buttons chips">
        <span>
          <Person person={mail.from || '(no sender)'} inside="strong" /> <span class="soft">→</span>{' '}
          <People people={mail.to} inside="strong" /> <Time at={mail.receivedAt} />
        </span>
        <Marks mail={mail} />
        <LiveOnly>
          <HiddenTextChip seen={seen} link={mailLink(route, mail.id, { tab: 'compare' })} />
          <AuthChips mail={mail} />
        </LiveOnly>
      </p>
      <Facts
        facts={[
          ['Cc', mail.cc.length > 0 && <People people={mail.cc} />],
          ['Bcc', mail.bcc.length > 0 && <People people={mail.bcc} />],
          ['Reply to', mail.replyTo && <Person person={mail.replyTo} />],
          ['Inbox', !shownAddresses.includes(mail.inbox) && mail.inbox],
        ]}
      />
    </header>
  );
}

function Marks({ mail }: { readonly mail: MailDetails }) {
  const { direction, isRead, isStarred, isArchived, bouncedAt, deletedAt } = mail;
  return (
    <>
      {direction === 'inbound' && !isRead && <Chip icon={icons.MailOpen} text="Unread" />}
      {direction === 'outbound' && <Chip icon={icons.Send} text="Sent" />}
      {isStarred && <Chip icon={icons.Star} text="Starred" />}
      {isArchived && <Chip icon={icons.Archive} text="Archived" />}
      {bouncedAt !== null && <Chip tone="bad" text="Bounced" />}
      {deletedAt !== null && <Chip tone="warn" icon={icons.Trash} text="In the trash" />}
    </>
  );
}

/** The colour of a step of a story, by its result. */
const STEP_TONES = { good: 'good', bad: 'bad', unknown: 'warn' } as const;

/**
 * Why a received mail was answered or not: the steps of its story, which a failed test prints, too. Its line is there
 * before the story is loaded, so that nothing below it moves.
 */
function Why({ mail: { id, direction, from }, told }: StoryProps & { readonly mail: MailDetails }) {
  const story = told?.story;
  if (direction !== 'inbound') return null;
  const linkOf = (step: string, [first, second]: readonly string[]) => {
    if (step === 'arrival') return linkTo('run', undefined, { counterpart: bareAddress(from) });
    if (step === 'webhooks') return linkTo('webhooks', second === undefined ? first : undefined, { search: id });
    if (step === 'answer' && story?.sent.includes(first ?? '')) return linkTo('mail', first);
    return linkTo('requests', first, first === undefined ? { search: id } : {});
  };
  return (
    <ol class="why" aria-label="What became of it">
      {(story?.steps ?? []).map(({ step, text, result, ids }) => (
        <li key={step}>
          <a href={linkOf(step, ids)} class={STEP_TONES[result]}>
            {text}
          </a>
        </li>
      ))}
    </ol>
  );
}

/** Links to the request that created the mail, to its deliveries, and to other requests and mail that concern it. */
function Related({ mail }: { readonly mail: MailDetails }) {
  const { id, direction, from, to, request, deliveries } = mail;
  const counterpart = bareAddress(direction === 'inbound' ? from : (to[0] ?? ''));
  const deliveriesLink = linkTo('webhooks', deliveries.length === 1 ? deliveries[0] : undefined, { search: id });
  const deliveriesText = plural(deliveries.length, 'delivery', 'deliveries');
  const requestsLink = linkTo('requests', undefined, { search: id });
  const runLink = linkTo('run', undefined, { counterpart });
  return (
    <nav class="small" aria-label="Related">
      {request !== null && <a href={linkTo('requests', request)}>The request that made it</a>}
      <a href={requestsLink}>Requests that name it</a>
      {deliveries.length > 0 && <a href={deliveriesLink}>{deliveriesText}</a>}
      <a href={runLink}>Run with {counterpart}</a>
    </nav>
  );
}

/** Loads the story of a mail, and the deliveries that it names. The journal may no longer have the mail. */
function useStory(id: string) {
  const load = async (client: ControlClient) => {
    const story = await client.explainMail({ id }).catch(undefinedIfRefused);
    const ids = story?.webhooks.flatMap(({ deliveries }) => deliveries) ?? [];
    const deliveries = await Promise.all(ids.map((id) => client.getDelivery({ id }).catch(undefinedIfRefused)));
    return { story, deliveries: deliveries.filter((one) => one !== undefined) };
  };
  return useLoaded(load, `story of ${id}`).value;
}

type StoryProps = { readonly told: ReturnType<typeof useStory> };

/** Every webhook of the tenant: what became of its delivery of the mail, or why it was not called. */
function RelatedWebhooks({ told }: StoryProps) {
  if (!told?.story || told.story.webhooks.length === 0) return null;
  return (
    <ul class="rows wrapped" aria-label="Webhooks of the tenant">
      {told.story.webhooks.map(({ webhookId, url, skipped }) => (
        <li key={webhookId}>
          {skipped !== null && <Chip icon={icons.CircleSlash} text="not called" />}
          {told.deliveries
            .filter((delivery) => delivery.webhookId === webhookId)
            .map((delivery) => (
              <a key={delivery.id} href={linkTo('webhooks', delivery.id)}>
                <Chip tone={markOf(delivery).tone} text={describeDelivery(delivery)} />
              </a>
            ))}
          <UserText text={url} />
          {skipped !== null && <span class="soft">{skipped}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Returns the state of a delivery, with the status of the latest answer. */
function describeDelivery(delivery: Delivery): string {
  return [markOf(delivery).text, delivery.attempts.at(-1)?.status].filter(Boolean).join(' ');
}

/** A thread with more messages than this is closed at first, so that the text of the mail is seen. */
const OPEN_THREAD = 4;

/** All messages of the thread, the open one in bold. */
function Thread({ mail: { id, thread }, route }: { readonly mail: MailDetails; readonly route: Route }) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // `scrollIntoView` is not used, because it would scroll the mail, too.
    const line = list.current?.querySelector('li:has([aria-current])') as HTMLElement | null | undefined;
    list.current?.scrollTo(0, (line?.offsetTop ?? 0) - list.current.clientHeight / 2);
  }, [id]);
  if (thread.length < 2) return null;
  return (
    <details open={thread.length <= OPEN_THREAD}>
      <summary>{thread.length} messages in this thread</summary>
      <ol class="thread" ref={list}>
        {thread.map((message) => (
          <li key={message.id}>
            <a href={mailLink(route, message.id)} aria-current={message.id === id ? 'true' : undefined}>
              <UserText inside={message.id === id ? 'strong' : undefined} text={nameOf(message.from)} />
            </a>{' '}
            <UserText inside="span" class="soft" text={message.snippet} /> <Time at={message.receivedAt} />
          </li>
        ))}
      </ol>
    </details>
  );
}

/**
 * Returns what the form contains at first, for each mail that may follow: for a sent mail, an answer from each
 * recipient; for a received mail, another mail from the sender. `title` is the text of the button.
 */
function createFollowUps(mail: MailDetails) {
  const { direction, from, inbox, subject, messageIdHeader: inReplyTo, references, tenantId: tenant } = mail;
  const isReply = direction === 'outbound';
  const people = isReply ? [...mail.to, ...mail.cc, ...mail.bcc] : [from];
  const shared = {
    to: isReply ? (mail.replyTo ?? from) : inbox,
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    ...(isReply && { text: `\n\n${from} wrote:\n${quote(mail.plainBody)}` }),
    inReplyTo,
    references,
    tenant,
    isReply,
  };
  const title = isReply ? 'Answer as' : 'New mail from';
  // A mail may have no sender, or one without a domain.
  const writers = people.filter((person) => bareAddress(person).includes('@'));
  return writers.map((from) => ({ ...shared, from, title: `${title} ${bareAddress(from)}` }));
}

const quote = (text: string) => text.trimEnd().replace(/^/gm, '> ');

/** How a result of SPF, DKIM or DMARC is shown. Other results, such as `softfail`, are shown as a warning. */
const RESULTS: Readonly<Record<string, readonly [tone: Tone, icon: icons.IconNode]>> = {
  pass: ['good', icons.ShieldCheck],
  fail: ['bad', icons.ShieldX],
};

/** The results of SPF, DKIM and DMARC, and a warning about links that do not lead where their text says. */
function AuthChips({ mail }: { readonly mail: MailDetails }) {
  const { direction, misleadingLinks } = mail;
  const results = direction === 'inbound' ? readAuthResults(mail) : [];
  const unchecked = results.filter(({ result }) => result === undefined).map(({ method }) => method);
  const misleading = plural(misleadingLinks.length, 'link shows', 'links show');
  return (
    <>
      {results.map(({ method, result }) => {
        if (result === undefined) return null;
        const [tone, icon] = RESULTS[result] ?? ['warn', icons.ShieldAlert];
        return <Chip key={method} tone={tone} icon={icon} text={`${method} ${result}`} />;
      })}
      {unchecked.length > 0 && <Chip icon={icons.Shield} text={`${unchecked.join(', ')} not checked`} />}
      {misleadingLinks.length > 0 && (
        <Chip tone="bad" icon={icons.TriangleAlert} text={`${misleading} another address`} />
      )}
    </>
  );
}

/** The pattern of the result of each method in the value of `Authentication-Results`. */
const RESULT_PATTERNS = { SPF: /; spf=(\w+)/i, DKIM: /; dkim=(\w+)/i, DMARC: /; dmarc=(\w+)/i };

/**
 * Returns the results in the field `Authentication-Results` that the emulator added. The sender of the mail may have
 * written such a field, too, but its results cannot be trusted.
 */
function readAuthResults({ headers }: MailDetails) {
  const field = headers.find(({ name, isTrace }) => isTrace && name === 'Authentication-Results')?.value ?? '';
  return Object.entries(RESULT_PATTERNS).map(([method, pattern]) => ({ method, result: pattern.exec(field)?.[1] }));
}
