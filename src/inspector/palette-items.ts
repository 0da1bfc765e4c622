import * as icons from 'lucide';
import { useContext, useEffect, useState } from 'preact/hooks';
import { actionOf, resultOf } from '../control/journal/from-entries/call-of.ts';
import type { RequestSummary } from '../control/journal/request-entry.ts';
import { AskContext } from './ask.tsx';
import type { Findable } from './find-items.ts';
import { useInspector } from './inspector.ts';
import { linkTo, open } from './page-route.ts';
import { isInScope, type Scope, useScope } from './scope.ts';
import { shortenIds, useNow } from './text.tsx';
import { UndoContext } from './undo.tsx';
import { useReset } from './use-reset.ts';
import { type MailSummary, nameOf } from './views/mail/mail-types.ts';
import { SamplesContext, type ShowSamples } from './views/mail/samples-dialog.tsx';
import { nameOfRequest } from './views/requests/request-detail.tsx';

/** What the command palette can go to or do. */
export interface PaletteItem extends Findable {
  readonly id: string;
  readonly icon: icons.IconNode;
  /** What it is, such as `Mail`. */
  readonly kind: string;
  /** Goes there or does it. `close` closes the palette; it stays open if it is not closed. */
  run(close: () => void): unknown;
}

/** A view of the page. */
export interface PaletteView {
  readonly path: string;
  readonly title: string;
  readonly icon: icons.IconNode;
}

/** How many mails are found at most. */
const MAX_FOUND = 10;

/** The emulator searches its mail when nothing was typed for this time. */
const PAUSE_MS = 120;

/** The items of the palette. */
interface PaletteItems {
  readonly items: readonly PaletteItem[];
  /** Whether some of what matches may still be missing. */
  readonly isLoading: boolean;
  /** Why some of it could not be loaded. */
  readonly error: string | undefined;
}

/**
 * Returns what the palette can go to or do. Without a search, there are only the views: Enter changes nothing before
 * somebody has typed what to do.
 */
export function usePaletteItems(views: readonly PaletteView[], search: string): PaletteItems {
  const scope = useScope();
  const actions = useActions();
  const hasSearch = search.trim() !== '';
  const mail = useFoundMail(search.trim(), scope.tenant);
  const log = useLoggedItems(hasSearch);
  const places = views.map(createViewItem);
  return {
    items: hasSearch ? [...places, ...actions, ...listOwners(scope), ...mail.items, ...log.items] : places,
    isLoading: hasSearch && (mail.isLoading || log.isLoading),
    error: mail.error ?? log.error,
  };
}

/** Returns the function of an item that opens a link. */
const goTo = (link: string) => (close: () => void) => {
  close();
  open(link);
  // What had the focus may be gone with the former view.
  document.querySelector('main')?.focus();
};

function createViewItem({ path, title, icon }: PaletteView): PaletteItem {
  return { id: `view ${path}`, icon, kind: 'View', title, details: '', run: goTo(linkTo(path)) };
}

/** Returns what can be done. A trace cannot be changed. */
function useActions(): PaletteItem[] {
  const { client, isTrace } = useInspector();
  const { tenant } = useScope();
  const { isFrozen } = useNow();
  const ask = useContext(AskContext);
  const offerUndo = useContext(UndoContext);
  const showSamples = useContext(SamplesContext);
  const { label, question, change } = useReset();
  if (isTrace) return [];
  const clockChange = isFrozen ? ({ resume: true } as const) : ({ freeze: true } as const);
  const actions: Omit<PaletteItem, 'id' | 'kind'>[] = [
    {
      icon: icons.FastForward,
      title: 'Advance the clock by an hour',
      details: '1h time forward',
      async run(close) {
        await client.changeClock({ advance: '1h', tenant });
        close();
      },
    },
    {
      icon: isFrozen ? icons.Play : icons.Pause,
      title: isFrozen ? 'Let the clock run' : 'Freeze the clock',
      details: isFrozen ? 'time resume unfreeze' : 'time pause stop',
      async run(close) {
        await client.changeClock({ ...clockChange, tenant });
        close();
      },
    },
    {
      icon: icons.FlaskConical,
      title: 'Deliver a sample',
      details: 'injection mail test',
      run(close) {
        close();
        showSamples();
      },
    },
    {
      icon: icons.RotateCcw,
      title: label,
      details: 'start again clear',
      async run(close) {
        if (!(await ask(question, label))) return;
        const undo = await change();
        if (undo) offerUndo(undo);
        close();
      },
    },
  ];
  return actions.map((action) => ({ ...action, id: `do ${action.title}`, kind: 'Do' }));
}

/** Returns the sandboxes and tenants, and the inboxes of the chosen one or of all. */
function listOwners(scope: Scope): PaletteItem[] {
  const tenants = scope.tenants.map(({ id, name, isSandbox }): PaletteItem => {
    const kind = isSandbox ? 'Sandbox' : 'Tenant';
    const run = goTo(linkTo('run', undefined, { tenant: id }));
    return { id, icon: isSandbox ? icons.Box : icons.Building2, kind, title: name, details: `${kind} ${id}`, run };
  });
  const all: PaletteItem = {
    id: 'all tenants',
    icon: icons.Building2,
    kind: 'Tenant',
    title: 'All tenants',
    details: 'sandboxes',
    run: goTo(linkTo('run', undefined, { tenant: undefined })),
  };
  const inboxes = scope.tenants
    .filter(({ id }) => (scope.tenant ?? id) === id)
    .flatMap(({ name, workspaces }) =>
      workspaces.flatMap((workspace) =>
        workspace.inboxes.map(
          ({ id, address }): PaletteItem => ({
            id,
            icon: icons.Inbox,
            kind: 'Inbox',
            title: address,
            details: `inbox ${workspace.name} ${name} ${id}`,
            run: goTo(linkTo('mail', undefined, { inbox: id })),
          }),
        ),
      ),
    );
  return [...tenants, ...(scope.tenant === undefined ? [] : [all]), ...inboxes];
}

/** What was found by a search. */
interface FoundMail {
  readonly search: string;
  readonly mails: readonly MailSummary[];
  readonly error?: string;
}

/** Lets the emulator search its mail. While it searches, the mail of the search before is returned. */
function useFoundMail(search: string, tenant: string | undefined) {
  const { client } = useInspector();
  const [found, setFound] = useState<FoundMail>({ search: '', mails: [] });
  useEffect(() => {
    if (search === '') return;
    let isLatest = true;
    const find = async () => {
      const next = await client.searchMail({ search, tenant, limit: MAX_FOUND }).then(
        ({ messages }) => ({ search, mails: messages }),
        (error: Error) => ({ search, mails: [], error: error.message }),
      );
      if (isLatest) setFound(next);
    };
    const timer = setTimeout(find, PAUSE_MS);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [search, tenant]);
  const isLoading = found.search !== search;
  const items = found.mails.map(
    ({ id, direction, subject, from, to, snippet }): PaletteItem => ({
      id,
      icon: direction === 'inbound' ? icons.ArrowDownLeft : icons.ArrowUpRight,
      kind: 'Mail',
      title: subject || '(no subject)',
      details: [direction === 'inbound' ? nameOf(from) : `To ${to.map(nameOf).join(', ')}`, snippet].join(' · '),
      isFound: !isLoading,
      run: goTo(linkTo('mail', id)),
    }),
  );
  // The palette shows only some of them.
  if (items.length === MAX_FOUND) {
    const run = goTo(linkTo('mail', undefined, { search }));
    items.unshift({
      id: 'all in mail',
      icon: icons.Search,
      kind: 'Search',
      title: 'All in Mail',
      details: search,
      run,
    });
  }
  return { items, isLoading, error: found.error };
}

/** The requests of the journal and the samples. */
interface Logged {
  readonly items: readonly PaletteItem[];
  readonly error?: string;
}

/** Loads the requests and the samples as soon as something is searched for. The newest request comes first. */
function useLoggedItems(hasSearch: boolean) {
  const { client, isTrace } = useInspector();
  const scope = useScope();
  const showSamples = useContext(SamplesContext);
  const [logged, setLogged] = useState<Logged>();
  useEffect(() => {
    if (!hasSearch || logged) return;
    const load = async (): Promise<Logged> => {
      const [{ requests }, { samples }] = await Promise.all([
        client.listRequests({ format: 'summary' }) as Promise<{ requests: RequestSummary[] }>,
        isTrace ? { samples: [] } : client.listKnownSamples(),
      ]);
      const shown = requests.filter(({ principal }) => isInScope(scope, principal)).reverse();
      return {
        items: [...samples.map((sample) => createSampleItem(sample, showSamples)), ...shown.map(createRequestItem)],
      };
    };
    void load()
      .catch((error: Error) => ({ items: [], error: error.message }))
      .then(setLogged);
  }, [hasSearch]);
  return { items: logged?.items ?? [], isLoading: !logged, error: logged?.error };
}

function createSampleItem(
  { name, family }: { readonly name: string; readonly family: string },
  showSamples: ShowSamples,
): PaletteItem {
  return {
    id: `sample ${name}`,
    icon: icons.FlaskConical,
    kind: 'Do',
    title: `Deliver the sample ${name}`,
    details: family,
    run(close) {
      close();
      showSamples(name);
    },
  };
}

function createRequestItem(request: RequestSummary): PaletteItem {
  const { id, path, code, key, reason } = request;
  const result = [resultOf(request), code].filter(Boolean).join(' ');
  return {
    id,
    icon: icons.ArrowLeftRight,
    kind: 'Request',
    title: `${nameOfRequest(request)} ${result}`,
    details: [id, `${actionOf(request)} ${shortenIds(path)}`, key ?? 'no key', reason].filter(Boolean).join(' · '),
    run: goTo(linkTo('requests', id)),
  };
}
