import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { open } from './page-route.ts';
import { useShortcuts } from './shortcuts.ts';

/** Moves the focus to what is open beside a list, so that the keys scroll it and the Tab key goes on from there. */
export function focusDetail(list: Element | null): void {
  list?.closest('.columns')?.querySelector<HTMLElement>('.detail')?.focus();
}

/**
 * Makes the links of a tree one Tab stop, from which the arrows go on. With `isMainList`, the tree is the list of its
 * view, so `j` and `k` go through it, too, and Enter moves the focus to what it opens. Returns the ref of the tree.
 */
export function useLinkKeys({ isMainList = false } = {}): RefObject<HTMLElement | null> {
  const tree = useRef<HTMLElement>(null);
  const latest = useRef<HTMLElement | undefined>(undefined);
  const findLinks = () =>
    [...(tree.current?.querySelectorAll<HTMLElement>('a, summary') ?? [])].filter((link) => link.checkVisibility());
  const findStop = (links: readonly HTMLElement[]) =>
    links.find((link) => link === latest.current) ?? links.find((link) => link.ariaCurrent === 'true') ?? links[0];
  const move = (step: number) => {
    const links = findLinks();
    const stop = findStop(links);
    const isChosen = stop !== undefined && (stop === latest.current || stop.ariaCurrent === 'true');
    const index = stop ? links.indexOf(stop) + (isChosen ? step : 0) : 0;
    const next = links[Math.max(0, Math.min(links.length - 1, index))];
    if (!next) return;
    next.focus();
    const isSomethingOpen = links.some((link) => link.ariaCurrent === 'true');
    if (isMainList && isSomethingOpen) open(next.getAttribute('href') ?? '', { replace: true });
  };
  useShortcuts(isMainList ? { j: () => move(1), k: () => move(-1) } : {});
  useLayoutEffect(() => {
    const element = tree.current;
    if (!element) return;
    const mark = () => {
      const links = findLinks();
      const stop = findStop(links);
      for (const link of links) link.tabIndex = link === stop ? 0 : -1;
    };
    const handleFocus = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement) latest.current = target;
      mark();
    };
    const handleKey = (event: KeyboardEvent) => {
      const link = event.target;
      if (!(link instanceof HTMLElement) || !link.matches('a, summary') || event.ctrlKey || event.metaKey) return;
      const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        move(step);
      } else if (event.key === 'Enter' && isMainList) {
        if (link.ariaCurrent === 'true') focusDetail(element);
        // The page renders what the link opens when the address changes.
        else addEventListener('hashchange', () => setTimeout(() => focusDetail(element)), { once: true });
      }
    };
    const observer = new MutationObserver(mark);
    observer.observe(element, { childList: true, subtree: true, attributeFilter: ['aria-current', 'open'] });
    element.addEventListener('focusin', handleFocus);
    element.addEventListener('keydown', handleKey);
    mark();
    return () => {
      observer.disconnect();
      element.removeEventListener('focusin', handleFocus);
      element.removeEventListener('keydown', handleKey);
    };
  }, []);
  return tree;
}
