import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../../parts.tsx';
import { formatClock, timeOfDay } from '../../text.tsx';
import { LANES, type Row } from './run-log.ts';
import { isBadRow, type SampleByMail } from './timeline.ts';

/** A part of the time, in milliseconds since 1970. */
interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

interface StripProps {
  readonly rows: readonly Row[];
  readonly samples: SampleByMail;
  /** The real times of the range that is chosen, as the address has them. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Chooses a range of real times; `undefined` chooses everything. */
  readonly choose: (range: { readonly from: string; readonly to: string } | undefined) => void;
}

/** The height of a lane, in pixels. Five lanes and the gaps below and above them are 64 pixels high. */
const LANE_HEIGHT = 12;
const TOP = 2;

/** The width of a bar with the gap beside it, in pixels. However many rows there are, no more bars than this fits are drawn. */
const BAR_WIDTH = 3;

const STRIP_LANES = Object.entries(LANES).filter(([lane]) => lane !== 'other');

/** Where the strip names the time, as parts of its width. */
const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** How far a pointer has to move to choose a range, in pixels. */
const LEAST_DRAG = 4;

/** The time from the first to the last row, with a lane for each kind of row. A range of it can be chosen. */
export function Strip({ rows, samples, from, to, choose }: StripProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const all = spanOf(rows);
  const chosen = chosenSpan(all, from, to);
  const bars = useMemo(() => drawBars(rows, samples, all, width), [rows, rows.length, samples, width]);
  const [drag, setDrag] = useState<Span>();
  const [pointedMs, setPointedMs] = useState<number>();
  const shown = drag ?? chosen ?? all;
  const isPart = drag !== undefined || chosen !== undefined;
  const lengthMs = Math.max(1, all.toMs - all.fromMs);
  const percentAt = (timeMs: number) => `${(100 * (timeMs - all.fromMs)) / lengthMs}%`;
  const chooseSpan = ({ fromMs, toMs }: Span) =>
    choose({ from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() });

  const timeAt = (x: number) => {
    const { left = 0, width = 1 } = box.current?.getBoundingClientRect() ?? {};
    return all.fromMs + Math.min(1, Math.max(0, (x - left) / width)) * lengthMs;
  };

  const startDrag = (event: PointerEvent) => {
    const element = box.current;
    if (!element || event.button !== 0) return;
    event.preventDefault();
    // A drag of an end moves this end; any other drag chooses a new range.
    const end = (event.target as HTMLElement).dataset.end;
    const fixedMs = end === 'from' ? shown.toMs : end === 'to' ? shown.fromMs : timeAt(event.clientX);
    const spanTo = ({ clientX }: PointerEvent) => {
      const movedMs = timeAt(clientX);
      return { fromMs: Math.floor(Math.min(fixedMs, movedMs)), toMs: Math.ceil(Math.max(fixedMs, movedMs)) };
    };
    const move = (next: PointerEvent) => setDrag(spanTo(next));
    const stop = (next: PointerEvent) => {
      element.removeEventListener('pointermove', move);
      setDrag(undefined);
      if (next.type === 'pointerup' && Math.abs(next.clientX - event.clientX) >= LEAST_DRAG) chooseSpan(spanTo(next));
    };
    element.setPointerCapture(event.pointerId);
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', stop, { once: true });
    element.addEventListener('pointercancel', stop, { once: true });
  };

  const moveEnd = (event: KeyboardEvent, end: 'from' | 'to') => {
    if (event.key === 'Escape') return choose(undefined);
    const key = `${end}Ms` as const;
    const limits = end === 'from' ? [all.fromMs, shown.toMs] : [shown.fromMs, all.toMs];
    const [least = 0, most = 0] = limits;
    const stepMs = Math.max(1, lengthMs / 100);
    const timeMs = {
      ArrowLeft: shown[key] - stepMs,
      ArrowRight: shown[key] + stepMs,
      PageDown: shown[key] - 10 * stepMs,
      PageUp: shown[key] + 10 * stepMs,
      Home: least,
      End: most,
    }[event.key];
    if (timeMs === undefined) return;
    event.preventDefault();
    chooseSpan({ ...shown, [key]: Math.round(Math.min(most, Math.max(least, timeMs))) });
  };

  return (
    <section class="strip" aria-label="Time of the run">
      <ul class="lanes" aria-hidden="true">
        {STRIP_LANES.map(([lane, name]) => (
          <li key={lane}>{name}</li>
        ))}
      </ul>
      <div
        class="bars"
        ref={box}
        onPointerDown={startDrag}
        onPointerMove={({ clientX }) => setPointedMs(timeAt(clientX))}
        onPointerLeave={() => setPointedMs(undefined)}
      >
        <svg viewBox={`0 0 ${Math.max(1, width)} 64`} preserveAspectRatio="none" aria-hidden="true">
          {bars.map(({ key, path }) => (
            <path key={key} class={key} d={path} />
          ))}
        </svg>
        {isPart && (
          <>
            <div class="outside" style={{ left: 0, width: percentAt(shown.fromMs) }} />
            <div class="outside" style={{ left: percentAt(shown.toMs), right: 0 }} />
          </>
        )}
        {pointedMs !== undefined && (
          <div class="pointed" style={{ left: percentAt(pointedMs) }}>
            <span>{timeOfDay(pointedMs)}</span>
          </div>
        )}
        {(['from', 'to'] as const).map((end) => {
          const timeMs = end === 'from' ? shown.fromMs : shown.toMs;
          return (
            <div
              key={end}
              class={`end ${end}`}
              data-end={end}
              role="slider"
              tabIndex={0}
              aria-label={end === 'from' ? 'From' : 'To'}
              aria-valuemin={0}
              aria-valuemax={Math.round(lengthMs)}
              aria-valuenow={Math.round(timeMs - all.fromMs)}
              aria-valuetext={timeOfDay(timeMs)}
              style={{ left: percentAt(timeMs) }}
              onKeyDown={(event) => moveEnd(event, end)}
            />
          );
        })}
      </div>
      <p class="ticks" aria-hidden="true">
        {TICKS.map((part) => (
          <span key={part}>{formatClock(all.fromMs + part * lengthMs, all.toMs)}</span>
        ))}
      </p>
      {isPart && (
        <p class="range small">
          <span>
            {timeOfDay(shown.fromMs)} to {timeOfDay(shown.toMs)}
          </span>
          <Button text="Show all" class="quiet" onClick={() => choose(undefined)} />
        </p>
      )}
    </section>
  );
}

/** Returns the time from the first to the last row. Rows are almost in the order of their times. */
function spanOf(rows: readonly Row[]): Span {
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, 0];
  for (const { timeMs } of rows) {
    if (timeMs < fromMs) fromMs = timeMs;
    if (timeMs > toMs) toMs = timeMs;
  }
  return { fromMs: Math.min(fromMs, toMs), toMs };
}

/** Returns the range that the address names, as far as it is within the run; undefined if it names none. */
function chosenSpan(all: Span, from: string | undefined, to: string | undefined): Span | undefined {
  if (!from && !to) return undefined;
  const limit = (text: string | undefined, missingMs: number) => {
    const timeMs = Date.parse(text ?? '');
    return Number.isNaN(timeMs) ? missingMs : Math.min(all.toMs, Math.max(all.fromMs, timeMs));
  };
  const fromMs = limit(from, all.fromMs);
  return { fromMs, toMs: Math.max(fromMs, limit(to, all.toMs)) };
}

/**
 * Returns a path for each lane, and one for its failures. A bar stands for all rows of a lane in its part of the time,
 * and is higher if there are more.
 */
function drawBars(rows: readonly Row[], samples: SampleByMail, all: Span, width: number) {
  const barCount = Math.max(1, Math.floor(width / BAR_WIDTH));
  const scale = (barCount - 1) / Math.max(1, all.toMs - all.fromMs);
  const counts = new Map(
    STRIP_LANES.flatMap(([lane]) => [lane, `${lane} failed`]).map((key) => [key, new Uint32Array(barCount)]),
  );
  for (const row of rows) {
    const bar = Math.floor((row.timeMs - all.fromMs) * scale);
    const count = counts.get(isBadRow(row, samples) ? `${row.lane} failed` : row.lane);
    if (count) count[bar] = (count[bar] ?? 0) + 1;
  }
  return [...counts].map(([key, count], index) => {
    const bottom = TOP + (Math.floor(index / 2) + 1) * LANE_HEIGHT;
    // A single failure has to be seen beside many successes.
    const least = index % 2 === 1 ? 6 : 4;
    let path = '';
    for (const [bar, each] of count.entries()) {
      if (each === 0) continue;
      const height = Math.min(LANE_HEIGHT - 2, least + Math.log2(each));
      path += `M${bar * BAR_WIDTH} ${bottom}v${-Math.round(height)}h${BAR_WIDTH - 1}V${bottom}z`;
    }
    return { key, path };
  });
}

/** Returns the width of an element, in pixels. */
function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return width;
}
