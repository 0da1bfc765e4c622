import { deliveryLink, type Route } from '../../page-route.ts';

const TABS = { endpoints: 'Endpoints', deliveries: 'Deliveries' } as const;

interface TabsProps {
  readonly route: Route;
  readonly current: keyof typeof TABS;
}

/** The tabs of the view of webhooks. The option `tab` of the URL names the tab; without it, deliveries are shown. */
export function WebhookTabs({ route, current }: TabsProps) {
  return (
    <nav class="tabs" aria-label="Webhooks">
      {Object.entries(TABS).map(([tab, title]) => (
        <a
          key={tab}
          href={deliveryLink(route, undefined, { tab: tab === 'deliveries' ? undefined : tab })}
          aria-current={tab === current ? 'true' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}
