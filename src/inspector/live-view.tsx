import type { Route } from './page-route.ts';
import { Loading } from './parts.tsx';
import { noEvent, useLoaded } from './use-loaded.ts';

/**
 * Creates a view whose code the browser loads when the view is opened. The page of a trace in one file has no such view,
 * because it can load nothing.
 */
export function createLiveView(name: Exclude<keyof typeof import('./views/live-views.ts'), 'writeOwnPage'>) {
  return function LiveView({ route }: { readonly route: Route }) {
    const { value: views, error } = useLoaded(() => import('./views/live-views.ts'), 'live views', noEvent);
    const View = views?.[name];
    return View ? <View route={route} /> : <Loading error={error} />;
  };
}
