import * as icons from 'lucide';
import type { ComponentChildren, ComponentType, RefObject } from 'preact';
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ControlClient } from '../control/table/client.ts';
import { AskContext, useAskDialog } from './ask.tsx';
import { useCommandPalette } from './command-palette.tsx';
import { ConnectionState, OutageBar, useConnection } from './connection.tsx';
import { hasToken, keepToken, type Trial, useInspector } from './inspector.ts';
import { createLivePart } from './live-view.tsx';
import { linkTo, open, type Route, useRoute } from './page-route.ts';
import { Button, ButtonLink, CheckBox, Chip, Facts, Failure, Form, Icon, Select, textIn } from './parts.tsx';
import { loadTenants, type Scope, ScopeContext } from './scope.ts';
import { areShortcutsOn, namePaletteKey, switchShortcuts, useShortcuts } from './shortcuts.ts';
import { formatFullTime, formatSpan, NowContext, useNow } from './text.tsx';
import { type Undo, UndoBar, UndoContext } from './undo.tsx';
import { type EventFilter, noEvent, useLoaded } from './use-loaded.ts';
import { MailView } from './views/mail/mail-view.tsx';
import { SamplesContext, useSamplesDialog } from './views/mail/samples-dialog.tsx';
import { RequestsView } from './views/requests/requests-view.tsx';
import { RunView } from './views/run/run-view.tsx';
import { WebhooksView } from './views/webhooks/webhooks-view.tsx';

/** A part of the page, with a link in the navigation. */
interface View {
  /** The first part of the path in the URLs of the view. */
  readonly path: string;
  readonly title: string;
  readonly icon: icons.IconNode;
  /** Whether a trace has what the view shows. */
  readonly isInTrace?: true;
  readonly Component: ComponentType<{ readonly route: Route }>;
}

/** The views, in the order of the navigation. */
const VIEWS: readonly View[] = [
  { path: 'run', title: 'Run', icon: icons.MessagesSquare, isInTrace: true, Component: RunView },
  { path: 'mail', title: 'Mail', icon: icons.Mail, isInTrace: true, Component: MailView },
  { path: 'webhooks', title: 'Webhooks', icon: icons.Webhook, isInTrace: true, Component: WebhooksView },
  { path: 'requests', title: 'Requests', icon: icons.ArrowLeftRight, isInTrace: true, Component: RequestsView },
  {
    path: 'keys',
    title: 'Keys',
    icon: icons.KeyRound,
    Component: createLivePart(async () => (await import('./views/live-views.ts')).KeysView),
  },
  {
    path: 'time',
    title: 'Time and faults',
    icon: icons.Clock,
    Component: createLivePart(async () => (await import('./views/live-views.ts')).TimeView),
  },
  {
    path: 'choices',
    title: 'Behaviours',
    icon: icons.SlidersHorizontal,
    Component: createLivePart(async () => (await import('./views/live-views.ts')).BehavioursView),
  },
  {
    path: 'state',
    title: 'State',
    icon: icons.Database,
    Component: createLivePart(async () => (await import('./views/live-views.ts')).StateView),
  },
];

/**
 * The whole page: the header, the navigation, and the view that the URL names. `refusals` gets an event `refused` when
 * the server refuses the token.
 */
export function Shell({ refusals }: { readonly refusals: EventTarget }) {
  const { isTrace, trial } = useInspector();
  const route = useRoute();
  const help = useRef<HTMLDialogElement>(null);
  const main = useRef<HTMLElement>(null);
  const isRefused = useRefusal(refusals);
  const [undo, setUndo] = useUndo();
  const scope = useChosenScope(route);
  const view = useView(route, help);
  const { state, outage } = useConnection();
  const [showPalette, palette] = useCommandPalette(useViews());
  const showHelp = () => help.current?.showModal();
  return (
    <ScopeContext.Provider value={scope}>
      <Clock scope={scope}>
        <header class="bar">
          <Button text="Skip to the content" class="skip" onClick={() => main.current?.focus()} />
          <Brand />
          <TenantFilter scope={scope} route={route} />
          <PaletteButton show={showPalette} />
          {isTrace ? (
            <>
              <Chip icon={icons.FileClock} text="Trace, read only" />
              {trial && <ButtonLink text="All trials" href={trial.reportUrl} />}
            </>
          ) : (
            <>
              <ClockState />
              <ConnectionState state={state} />
            </>
          )}
          <Button icon={icons.CircleHelp} text="" class="quiet" aria-label="Help" onClick={showHelp} />
        </header>
        <Navigation current={view?.path} />
        <UndoContext.Provider value={setUndo}>
          <DialogProvider>
            <main class={state} ref={main} tabIndex={-1}>
              {trial && <TrialHead head={trial.head} />}
              {isRefused ? (
                <TokenForm />
              ) : view ? (
                <SafeView key={view.path} view={view} route={route} />
              ) : (
                <UnknownView path={route.view} />
              )}
            </main>
            {palette}
          </DialogProvider>
        </UndoContext.Provider>
        <div class="bottom">
          {outage && !isRefused && <OutageBar outage={outage} />}
          {undo && <UndoBar undo={undo} close={() => setUndo(undefined)} />}
        </div>
        <Help dialog={help} />
      </Clock>
    </ScopeContext.Provider>
  );
}

/** Shows what the report says of a trial above its run. */
function TrialHead({ head }: Pick<Trial, 'head'>) {
  const slot = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => slot.current?.append(head), [head]);
  return <div class="trial-slot" ref={slot} />;
}

/** Goes to the next or the previous trial that did not pass, if there is one. */
function openTrial({ head }: Trial, rel: 'prev' | 'next') {
  head.querySelector<HTMLElement>(`[rel=${rel}]`)?.click();
}

/** Lets its children ask a person and open the samples, and shows the dialog in which this happens. */
function DialogProvider({ children }: { readonly children: ComponentChildren }) {
  const [ask, question] = useAskDialog();
  const [showSamples, samples] = useSamplesDialog();
  return (
    <AskContext.Provider value={ask}>
      <SamplesContext.Provider value={showSamples}>
        {children}
        {question}
        {samples}
      </SamplesContext.Provider>
    </AskContext.Provider>
  );
}

/** A button that opens the command palette, with the keys that do so. */
function PaletteButton({ show }: { show(): void }) {
  const text = (
    <>
      <span>Go to…</span> <kbd>{namePaletteKey()}</kbd>
    </>
  );
  return <Button icon={icons.Search} text={text} class="palette-button" onClick={show} />;
}

/** Returns the offered undo, and a function that offers another one or none. */
function useUndo() {
  const { feed } = useInspector();
  const [undo, setUndo] = useState<Undo>();
  useEffect(
    () =>
      feed.subscribe({
        onEvent(event) {
          // The emulator was started again. It has no checkpoint of before, unless it keeps its data in a file.
          if (event.kind === 'gap' && event.missed === null) setUndo(undefined);
        },
      }),
    [feed],
  );
  return [undo, setUndo] as const;
}

type HelpDialog = RefObject<HTMLDialogElement | null>;

/**
 * Returns the view that the URL names, sets the title of the tab, and adds the shortcuts of the page. If the URL names
 * no view, opens the first one.
 */
function useView(route: Route, help: HelpDialog): View | undefined {
  const views = useViews();
  const { trial } = useInspector();
  const view = views.find(({ path }) => path === route.view);
  useEffect(() => {
    if (route.view === '') open(linkTo('run'), { replace: true });
  }, [route.view]);
  // It is a layout effect, because it must run before `useTitle` adds the name of the open item.
  useLayoutEffect(() => {
    document.title = [view?.title, 'Inspector'].filter(Boolean).join(' · ');
  }, [view]);
  useShortcuts({
    '?': () => help.current?.showModal(),
    ...(trial && {
      '0': () => location.assign(trial.reportUrl),
      p: () => openTrial(trial, 'prev'),
      n: () => openTrial(trial, 'next'),
    }),
    '/': () => document.querySelector<HTMLElement>('input[type=search]')?.focus(),
    ...Object.fromEntries(views.map(({ path }, index) => [String(index + 1), () => open(linkTo(path))])),
  });
  return view;
}

/** Returns the views of what the page shows: an emulator or a trace. */
function useViews(): readonly View[] {
  const { isTrace } = useInspector();
  return isTrace ? VIEWS.filter(({ isInTrace }) => isInTrace) : VIEWS;
}

/** The logo, the name and the version. */
function Brand() {
  const { value } = useLoaded((client) => client.getControlHealth(), 'health', noEvent);
  return (
    <a class="brand" href={linkTo('run')} aria-label={`Agent Mailbox ${value?.version ?? ''}`}>
      <img src={document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href} alt="" width="22" height="22" />
      <span>
        Agent Mailbox <small>{value?.version}</small>
      </span>
    </a>
  );
}

function Navigation({ current }: { readonly current: string | undefined }) {
  return (
    <nav class="views" aria-label="Views">
      {useViews().map(({ path, title, icon }) => (
        <a key={path} href={linkTo(path)} aria-current={current === path ? 'page' : undefined} title={title}>
          <Icon icon={icon} />
          <span>{title}</span>
        </a>
      ))}
    </nav>
  );
}

/** Lets a person choose the tenant or the sandbox whose data every view shows. */
function TenantFilter({ scope: { tenants, tenant = '' }, route }: { readonly scope: Scope; readonly route: Route }) {
  const isKnown = tenant === '' || tenants.some(({ id }) => id === tenant);
  const options = tenants.map(({ id, name, isSandbox }) => [id, isSandbox ? `Sandbox ${name}` : name] as const);
  return (
    <Select
      label="Tenant"
      value={tenant}
      options={[['', 'All tenants'], ...options, ...(isKnown ? [] : [[tenant, 'A tenant that is gone'] as const])]}
      // The link names no item, because the open item may belong to another tenant.
      choose={(tenant) => open(linkTo(route.view, undefined, { tenant }))}
    />
  );
}

/** Loads the tenants. The URL contains the id of the chosen tenant or sandbox. */
function useChosenScope({ options: { tenant } }: Route): Scope {
  const { value: tenants = [] } = useLoaded(loadTenants, 'tenants');
  const isSandbox = tenants.some(({ id, isSandbox }) => isSandbox && id === tenant);
  return { tenants, tenant, sandbox: isSandbox ? tenant : undefined };
}

/** Provides the time of the emulator to its children. Each second, only those that use it are rendered again. */
function Clock({ scope, children }: { readonly scope: Scope; readonly children: ComponentChildren }) {
  const { tenant, tenants } = scope;
  const load = async (client: ControlClient) => {
    const startedMs = Date.now();
    const { now, frozen } = await client.getClock({ tenant });
    return { nowMs: Date.parse(now), frozen, readAtMs: (startedMs + Date.now()) / 2 };
  };
  const { value: clock } = useLoaded(load, `clock ${tenant}`, changesClock);
  const ids = tenant === undefined && tenants.length > 1 ? tenants.slice(0, MAX_CLOCKS).map(({ id }) => id) : [];
  const loadClocks = (client: ControlClient) => Promise.all(ids.map((tenant) => client.getClock({ tenant })));
  const { value: clocks = [] } = useLoaded(loadClocks, `clocks ${ids}`, changesClock);
  const clocksDiffer = clocks.some(
    ({ now, frozen }) => frozen !== clocks[0]?.frozen || !isSmall(Date.parse(now) - Date.parse(clocks[0].now)),
  );
  const [realMs, setRealMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setRealMs(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const { isTrace } = useInspector();
  const { value: start } = useLoaded((client) => loadStart(client, isTrace), 'start', noEvent);
  const aheadMs = clock ? clock.nowMs - (clock.frozen ? realMs : clock.readAtMs) : 0;
  const now = {
    offsetMs: isSmall(aheadMs) ? 0 : aheadMs,
    isFrozen: clock?.frozen ?? false,
    clocksDiffer,
    realMs,
    start,
  };
  return <NowContext.Provider value={now}>{children}</NowContext.Provider>;
}

/** Returns when the run of a trace began; undefined for an emulator. */
async function loadStart(client: ControlClient, isTrace: boolean) {
  if (!isTrace) return undefined;
  for await (const event of await client.readFeed({ lastEventId: '0', follow: false })) {
    if ('at' in event) return { atMs: Date.parse(event.at), realMs: Date.parse(event.realTime) };
  }
  return undefined;
}

/** The clocks of at most this many tenants are compared. */
const MAX_CLOCKS = 50;

/** Returns whether the difference of two clocks may come only from the time that the calls take. */
const isSmall = (differenceMs: number) => Math.abs(differenceMs) < 2_000;

/** Returns whether an event may change the time. */
const changesClock: EventFilter = ({ kind }) => ['clock', 'sandbox', 'reset', 'gap'].includes(kind);

/** Shows the time of the emulator, and by how much it differs from the real time. */
function ClockState() {
  const { offsetMs, isFrozen, clocksDiffer, realMs } = useNow();
  const at = formatFullTime(new Date(realMs + offsetMs).toISOString());
  const isReal = offsetMs === 0 && !isFrozen;
  const offset = `${offsetMs < 0 ? '−' : '+'}${formatSpan(Math.round(Math.abs(offsetMs) / 5_000) * 5_000)}`;
  const warning = clocksDiffer ? 'Clocks differ' : isReal || isFrozen ? undefined : offset;
  return (
    <a class="clock" href={linkTo('time')} title={`The time of the emulator: ${at}`}>
      {isFrozen && <Chip tone="warn" text="Frozen" />} <time>{isReal ? at.slice(11) : at}</time>
      {warning !== undefined && <Chip tone="warn" text={warning} />}
    </a>
  );
}

/** Shows a view. If it throws, shows the error instead, so that the other views can still be used. */
function SafeView({ view: { Component }, route }: { readonly view: View; readonly route: Route }) {
  const [error, restart] = useErrorBoundary();
  if (!error) return <Component route={route} />;
  return (
    <div class="notice" role="alert">
      <p>This view has failed: {String(error.message)}</p>
      <Button text="Try again" onClick={restart} />
    </div>
  );
}

function UnknownView({ path }: { readonly path: string }) {
  return (
    <div class="notice">
      <h1>There is no view “{path}”</h1>
      <p>
        The address may be of another version. <a href={linkTo('run')}>Open the run</a>, or choose a view.
      </p>
    </div>
  );
}

/** Returns whether the server refuses the token. A later server may take it, or need none. */
function useRefusal(refusals: EventTarget): boolean {
  const { feed } = useInspector();
  const [isRefused, setRefused] = useState(false);
  // It is a layout effect, because the server may refuse the feed before other effects run.
  useLayoutEffect(() => {
    const refuse = () => setRefused(true);
    refusals.addEventListener('refused', refuse);
    const stop = feed.subscribe({ onState: (state) => state === 'live' && setRefused(false) });
    return () => {
      refusals.removeEventListener('refused', refuse);
      stop();
    };
  }, [refusals]);
  return isRefused;
}

/** Asks for the token that the control plane needs. */
function TokenForm() {
  const keep = (data: FormData) => {
    keepToken(textIn(data, 'token'));
    location.reload();
  };
  return (
    <Form className="notice" submit={keep}>
      <h1>This emulator needs a token</h1>
      <Failure error={hasToken() ? 'The token that you gave is not the token of this emulator.' : undefined} />
      <p>It was printed at the start, behind “Token”, or was set with --token. It is kept until you close this tab.</p>
      <label>
        Token
        <input name="token" type="password" autocomplete="off" required />
      </label>
      <Button text="Open" type="submit" class="primary" />
    </Form>
  );
}

const SHORTCUTS: readonly (readonly [key: string, action: string])[] = [
  ['j or ↓', 'Choose the next item of the list; while one is open, open it'],
  ['k or ↑', 'Choose the previous item of the list'],
  ['Enter', 'Open the chosen item, and go to it'],
  ['/', 'Go to the search'],
  ['?', 'Show this help'],
  ['Esc', 'Close what is open'],
  [`1 to ${VIEWS.length}`, 'Go to a view'],
];

/** The help: a dialog with the shortcuts of the page. */
function Help({ dialog }: { readonly dialog: HelpDialog }) {
  const { trial } = useInspector();
  const [isOn, setOn] = useState(areShortcutsOn);
  const change = (isOn: boolean) => {
    switchShortcuts(isOn);
    setOn(isOn);
  };
  return (
    <dialog ref={dialog} aria-labelledby="help-title">
      <form method="dialog">
        <h1 id="help-title">Keys</h1>
        <Facts
          facts={[
            [namePaletteKey(), 'Go to anything, or do something'],
            ...SHORTCUTS,
            ['0', trial && 'Go back to all trials'],
            ['n', trial && 'Go to the next trial that did not pass'],
            ['p', trial && 'Go to the previous trial that did not pass'],
          ]}
        />
        <CheckBox text="Use these keys" isOn={isOn} change={change} />
        <p>
          <button type="submit">Close</button>
        </p>
      </form>
    </dialog>
  );
}
