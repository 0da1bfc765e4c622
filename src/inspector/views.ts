import type { ComponentType } from 'preact';
import type { Route } from './page-route.ts';
import { KeysView } from './views/keys/keys-view.tsx';
import { MailView } from './views/mail/mail-view.tsx';
import { RequestsView } from './views/requests/requests-view.tsx';
import { ChoicesView } from './views/settings/choices-view.tsx';
import { StateView } from './views/settings/state-view.tsx';
import { TimeView } from './views/settings/time-view.tsx';
import { WebhooksView } from './views/webhooks/webhooks-view.tsx';

/** A part of the page, with a link in the navigation. */
export interface View {
  /** The first part of its URLs. */
  readonly path: string;
  readonly title: string;
  readonly Component: ComponentType<{ readonly route: Route }>;
}

/** The views, in the order of the navigation. */
export const VIEWS: readonly View[] = [
  { path: 'mail', title: 'Mail', Component: MailView },
  { path: 'webhooks', title: 'Webhooks', Component: WebhooksView },
  { path: 'requests', title: 'Requests', Component: RequestsView },
  { path: 'keys', title: 'Keys', Component: KeysView },
  { path: 'time', title: 'Time and faults', Component: TimeView },
  { path: 'choices', title: 'Choices', Component: ChoicesView },
  { path: 'state', title: 'State', Component: StateView },
];
