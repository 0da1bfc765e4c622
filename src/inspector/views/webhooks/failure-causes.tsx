import { RotateCw, Square } from 'lucide';
import { useMemo, useRef, useState } from 'preact/hooks';
import { plural } from '../../../basics/text.ts';
import { useInspector } from '../../inspector.ts';
import { deliveryLink, type Route } from '../../page-route.ts';
import { Button, Chip, Failure } from '../../parts.tsx';
import { formatClock, useNow } from '../../text.tsx';
import { useAction } from '../../use-loaded.ts';
import { causesOf, type Delivery, shortenUrl } from './explain-delivery.ts';

/** How many causes are shown. */
const MAX_CAUSES = 20;

type FailuresProps = { readonly deliveries: readonly Delivery[]; readonly route: Route };

/** Why attempts failed, each cause in one line that leads to its deliveries; nothing if none failed. */
export function FailureCauses({ deliveries, route }: FailuresProps) {
  const causes = useMemo(() => causesOf(deliveries), [deliveries]);
  const { realMs, offsetMs } = useNow();
  if (causes.length === 0) return null;
  const count = causes.reduce((sum, { attempts }) => sum + attempts, 0);
  const show = (at: string) => formatClock(Date.parse(at), realMs + offsetMs);
  return (
    <details class="causes" open={causes.length > 1 && matchMedia('(min-width: 1001px)').matches}>
      <summary>
        <strong>Failures by cause</strong>{' '}
        <span class="soft">
          {plural(count, 'attempt', 'attempts')}, {plural(causes.length, 'cause', 'causes')}
        </span>
      </summary>
      <ul class="rows">
        {causes.slice(0, MAX_CAUSES).map(({ webhookId, url, status, error, attempts, first, last }) => (
          <li key={`${webhookId} ${url} ${error}`}>
            <Chip tone="bad" text={status ?? 'no answer'} />
            <a class="quiet-link" href={deliveryLink(route, undefined, { webhook: webhookId, search: `"${error}"` })}>
              from <bdi>{shortenUrl(url)}</bdi>
            </a>
            <span class="soft small">
              {status === null && `${error} · `}
              {plural(attempts, 'attempt', 'attempts')} · {attempts === 1 ? 'at' : 'first'} {show(first)}
              {attempts > 1 && `, last ${show(last)}`}
            </span>
          </li>
        ))}
      </ul>
      {causes.length > MAX_CAUSES && (
        <p class="hint small">and {causes.length - MAX_CAUSES} more: choose a webhook to see its causes</p>
      )}
    </details>
  );
}

/** A button that sends the given deliveries again, one after the other, until somebody stops it. */
export function SendAgainButton({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  const { client } = useInspector();
  const { run, error } = useAction();
  const [sent, setSent] = useState<number>();
  const [total, setTotal] = useState(0);
  const isStopped = useRef(false);
  const sendAll = async () => {
    isStopped.current = false;
    setTotal(deliveries.length);
    for (const [index, { id }] of deliveries.entries()) {
      if (isStopped.current) return;
      setSent(index);
      await client.redeliver({ id });
    }
  };
  const start = async () => {
    await run(sendAll);
    setSent(undefined);
  };
  const stop = () => {
    isStopped.current = true;
  };
  if (sent !== undefined) {
    return (
      <span class="buttons" role="status">
        {sent} of {total} sent again <Button icon={Square} text="Stop" onClick={stop} />
      </span>
    );
  }
  return (
    <>
      {deliveries.length > 0 && (
        <Button icon={RotateCw} text={`Send ${deliveries.length.toLocaleString('en')} failed again`} onClick={start} />
      )}
      <Failure error={error} />
    </>
  );
}
