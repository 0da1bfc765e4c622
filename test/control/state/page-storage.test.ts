import { createMailbox } from 'agent-mailbox-mock';
import { afterEach, expect, test, vi } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { senderTo } from '../../support/send.ts';

afterEach(() => void vi.unstubAllGlobals());

type StorageListener = (event: Pick<StorageEvent, 'key' | 'newValue'>) => void;

/** Opens two tabs that share a storage. `deliverEvents` notifies each tab of what the other wrote. */
function openTabs() {
  const shared = new Map<string, string>();
  const listeners: StorageListener[] = [];
  const events: (() => void)[] = [];
  const openTab = (tab: number) => {
    const setItem = (key: string, newValue: string) => {
      shared.set(key, newValue);
      for (const [other, listen] of listeners.entries()) {
        if (other !== tab) events.push(() => listen({ key, newValue }));
      }
    };
    vi.stubGlobal('document', {});
    vi.stubGlobal('localStorage', { getItem: (key: string) => shared.get(key) ?? null, setItem });
    vi.stubGlobal('addEventListener', (kind: string, listener: StorageListener) => {
      if (kind === 'storage') listeners[tab] = listener;
    });
    const mailbox = createMailbox({ persist: 'local' });
    const createWorkspace = (name: string) =>
      senderTo(mailbox)('POST', '/v1/workspaces', { key: mailbox.keys.acme.tenant, json: { name } });
    return { mailbox, createWorkspace, names: () => mailbox.snapshot().tenants[0]?.workspaces.map(({ name }) => name) };
  };
  const deliverEvents = () => {
    for (const deliver of events.splice(0)) deliver();
  };
  return { tabs: [openTab(0), openTab(1)] as const, events, deliverEvents };
}

test('tabs that change at the same moment both end with the latest change', async () => {
  const { tabs, events, deliverEvents } = openTabs();
  const [first, second] = tabs;
  await Promise.all([first.createWorkspace('One'), second.createWorkspace('Two')]);
  await eventually(() => expect(events).toHaveLength(2));
  deliverEvents();
  expect(first.names()).toEqual(second.names());
  expect(first.names()).toEqual(['Support', 'Sales', 'Two']);
  // The tab whose change won was not restored, which would end its streams and deliveries.
  expect([first.mailbox.requests(), second.mailbox.requests().length]).toEqual([[], 1]);
});

test('a change that a tab has not yet kept is later than one that it is notified of', async () => {
  const { tabs, events, deliverEvents } = openTabs();
  const [first, second] = tabs;
  await first.createWorkspace('One');
  await eventually(() => expect(events).toHaveLength(1));
  await second.createWorkspace('Two');
  deliverEvents();
  deliverEvents();
  expect([first.names(), second.names()]).toEqual([
    ['Support', 'Sales', 'Two'],
    ['Support', 'Sales', 'Two'],
  ]);
});

test('a page whose storage is full warns once, and keeps the state as soon as there is room', async () => {
  const kept = new Map<string, string>();
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const setItem = vi.fn((_key: string, _text: string): void => {
    throw new Error('The quota has been exceeded.');
  });
  const listeners = new Map<string, () => void>();
  vi.stubGlobal('document', {});
  vi.stubGlobal('sessionStorage', { getItem: () => null, setItem });
  vi.stubGlobal('addEventListener', (kind: string, listener: () => void) => void listeners.set(kind, listener));
  const mailbox = createMailbox({ persist: 'session' });
  const key = mailbox.keys.acme.tenant;
  await senderTo(mailbox)('POST', '/v1/workspaces', { key, json: { name: 'Not lost' } });
  await eventually(() => expect(setItem.mock.calls.length).toBeGreaterThan(1));
  listeners.get('pagehide')?.();
  expect(warn.mock.calls).toEqual([
    [
      expect.stringMatching(
        /^agent-mailbox-mock: The state of the mailbox cannot be saved; .+ The quota has been exceeded\.$/,
      ),
    ],
  ]);
  setItem.mockImplementation((name, text) => void kept.set(name, text));
  await eventually(() => expect([...kept.values()].join()).toContain('Not lost'));
  warn.mockRestore();
});
