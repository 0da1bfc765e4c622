import type { ComponentType, RefObject } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasToken, keepToken, useInspector } from './inspector.ts';
import type { FeedState } from './live-feed.ts';
import type { Route } from './page-route.ts';
import { linkTo, open, useRoute } from './page-route.ts';
import { Failure, Time } from './parts.tsx';
import { areShortcutsOn, switchShortcuts, useShortcuts } from './shortcuts.ts';
import { type Test, useLoaded } from './use-loaded.ts';
import { KeysView } from './views/keys/keys-view.tsx';
import { MailView } from './views/mail/mail-view.tsx';
import { RequestsView } from './views/requests/requests-view.tsx';
import { RunView } from './views/run/run-view.tsx';
import { ChoicesView } from './views/settings/choices-view.tsx';
import { StateView } from './views/settings/state-view.tsx';
import { TimeView } from './views/settings/time-view.tsx';
import { type Undo, UndoBar, UndoContext } from './views/settings/undo.tsx';
import { WebhooksView } from './views/webhooks/webhooks-view.tsx';

/** A part of the page, with a link in the navigation. */
interface View {
  /** The first part of its URLs. */
  readonly path: string;
  readonly title: string;
  readonly Component: ComponentType<{ readonly route: Route }>;
}

/** The views, in the order of the navigation. */
const VIEWS: readonly View[] = [
  { path: 'run', title: 'Run', Component: RunView },
  { path: 'mail', title: 'Mail', Component: MailView },
  { path: 'webhooks', title: 'Webhooks', Component: WebhooksView },
  { path: 'requests', title: 'Requests', Component: RequestsView },
  { path: 'keys', title: 'Keys', Component: KeysView },
  { path: 'time', title: 'Time and faults', Component: TimeView },
  { path: 'choices', title: 'Behaviours', Component: ChoicesView },
  { path: 'state', title: 'State', Component: StateView },
];

/** The whole page: the navigation, and the view that the URL names. */
export function Shell({ refusals }: { readonly refusals: EventTarget }) {
  const route = useRoute();
  const help = useRef<HTMLDialogElement>(null);
  const isRefused = useRefusal(refusals);
  const [undo, setUndo] = useState<Undo>();
  const view = VIEWS.find(({ path }) => path === route.view);
  useEffect(() => {
    if (!view) open(linkTo(VIEWS[0]?.path ?? ''), { replace: true });
    document.title = [route.id, view?.title, 'Inspector'].filter(Boolean).join(' · ');
  }, [view, route.id]);
  useShortcuts({
    '?': () => help.current?.showModal(),
    '/': () => document.querySelector<HTMLElement>('input[type=search]')?.focus(),
    ...Object.fromEntries(VIEWS.map(({ path }, index) => [String(index + 1), () => open(linkTo(path))])),
  });
  return (
    <>
      <header class="bar">
        <Brand />
        <nav aria-label="Views">
          {VIEWS.map(({ path, title }) => (
            <a key={path} href={linkTo(path)} aria-current={view?.path === path ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <FrozenClock />
        <Connection />
        <button type="button" class="quiet" onClick={() => help.current?.showModal()}>
          Help
        </button>
      </header>
      <UndoContext.Provider value={setUndo}>
        <main>{isRefused ? <TokenForm /> : view && <Guarded key={view.path} view={view} route={route} />}</main>
      </UndoContext.Provider>
      {undo && <UndoBar undo={undo} close={() => setUndo(undefined)} />}
      <Help dialog={help} />
    </>
  );
}

/** The mark, the name and the version. */
function Brand() {
  const { client } = useInspector();
  const { value } = useLoaded(
    () => client.getControlHealth(),
    'health',
    () => false,
  );
  return (
    <span class="brand">
      <img src="/favicon.ico" alt="" width="18" height="18" /> Agent Mailbox <span class="soft">{value?.version}</span>
    </span>
  );
}

/** Shows a view, or the failure that it had, so that the other views can still be used. */
function Guarded({ view: { Component }, route }: { view: (typeof VIEWS)[number]; route: ReturnType<typeof useRoute> }) {
  const [error, restart] = useErrorBoundary();
  if (!error) return <Component route={route} />;
  return (
    <div class="notice" role="alert">
      <p>This view has failed: {String(error.message)}</p>
      <button type="button" onClick={restart}>
        Try again
      </button>
    </div>
  );
}

const STATES: Readonly<Record<FeedState, string>> = { connecting: 'Connecting', live: 'Live', lost: 'Not connected' };

/** Shows whether the page is up to date. */
function Connection() {
  const { feed } = useInspector();
  const [state, setState] = useState(feed.state);
  useEffect(() => {
    setState(feed.state);
    return feed.subscribe({ state: setState });
  }, [feed]);
  return (
    <span class={`connection ${state}`} role="status">
      {STATES[state]}
    </span>
  );
}

/** Shows the time at which the clock is frozen, because that changes what every view shows. */
function FrozenClock() {
  const { client } = useInspector();
  const { value: clock } = useLoaded(() => client.getClock(), 'clock', changesClock);
  if (!clock?.frozen) return null;
  return (
    <a class="frozen" href={linkTo('time')}>
      Frozen <Time at={clock.now} />
    </a>
  );
}

/** Returns whether an event may change the time. */
const changesClock: Test = ({ kind }) => kind === 'clock' || kind === 'reset' || kind === 'gap';

function useRefusal(refusals: EventTarget): boolean {
  const [isRefused, setRefused] = useState(false);
  // The feed may be refused before other effects run.
  useLayoutEffect(() => {
    const refuse = () => setRefused(true);
    refusals.addEventListener('refused', refuse);
    return () => refusals.removeEventListener('refused', refuse);
  }, [refusals]);
  return isRefused;
}

/** Asks for the token that the control plane needs. */
function TokenForm() {
  const [token, setToken] = useState('');
  return (
    <form
      class="notice"
      onSubmit={(event) => {
        event.preventDefault();
        keepToken(token);
        location.reload();
      }}
    >
      <h1>This emulator needs a token</h1>
      <Failure error={hasToken() ? 'The token that you gave is not the token of this emulator.' : undefined} />
      <p>It was printed at the start, behind “Token”, or was set with --token. It is kept until you close this tab.</p>
      <label>
        Token
        <input
          type="password"
          autocomplete="off"
          required
          value={token}
          onInput={(e) => setToken(e.currentTarget.value)}
        />
      </label>
      <button type="submit">Open</button>
    </form>
  );
}

const KEYS: readonly (readonly [key: string, action: string])[] = [
  ['j', 'Open the next item of the list'],
  ['k', 'Open the previous item of the list'],
  ['/', 'Go to the search'],
  ['?', 'Show this help'],
  ['Esc', 'Close what is open'],
  [`1 to ${VIEWS.length}`, 'Go to a view'],
];

/** The keys that the page knows. */
function Help({ dialog }: { readonly dialog: RefObject<HTMLDialogElement | null> }) {
  return (
    <dialog ref={dialog} aria-labelledby="help-title">
      <form method="dialog">
        <h1 id="help-title">Keys</h1>
        <dl class="keys">
          {KEYS.map(([key, action]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{action}</dd>
            </div>
          ))}
        </dl>
        <label>
          <input
            type="checkbox"
            defaultChecked={areShortcutsOn()}
            onChange={(event) => switchShortcuts(event.currentTarget.checked)}
          />{' '}
          Use these keys
        </label>
        <p>
          <button type="submit">Close</button>
        </p>
      </form>
    </dialog>
  );
}
